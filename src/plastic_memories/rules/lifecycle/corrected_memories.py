"""Memories that a message of their speaker has ended, and their return."""

from __future__ import annotations

from dataclasses import replace

from plastic_memories.model.memory import Memory, Status
from plastic_memories.rules.lifecycle.transitions import end_memory

_MESSAGE, _STATUS = "corrected_by", "status_before"


def corrected_memory(memory: Memory, message_id: int, now: float) -> Memory:
    """Return a memory after a message has corrected it."""
    marks = {_MESSAGE: message_id, _STATUS: memory.status.value}
    return replace(end_memory(memory, now), attributes={**memory.attributes, **marks})


def was_corrected(memory: Memory, message_id: int | None = None) -> bool:
    """Return whether a correction has ended a memory; `message_id` names one."""
    by = memory.attributes.get(_MESSAGE)
    return memory.status is Status.REVOKED and by is not None and message_id in (None, by)


def restored_memory(memory: Memory, now: float) -> Memory:
    """Return a memory as it was before a correction ended it."""
    status = Status(memory.attributes.get(_STATUS, Status.ACTIVE.value))
    marks = (_MESSAGE, _STATUS)
    rest = {name: value for name, value in memory.attributes.items() if name not in marks}
    return replace(memory, status=status, attributes=rest, updated_at=now)
