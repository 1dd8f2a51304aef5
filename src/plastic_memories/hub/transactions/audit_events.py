"""Audit events, recorded in the transaction that makes the change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plastic_memories.model.event import Event
from plastic_memories.model.key import ApiKey, Caller
from plastic_memories.model.memory import Memory, Scope
from plastic_memories.model.owner import User
from plastic_memories.ports.storage import Stores


def record_event(
    stores: Stores,
    caller: Caller,
    event: str,
    persona_id: str,
    now: float,
    **data: Any,
) -> None:
    """Record one audit event in the current transaction."""
    stores.audit.record([_new_event(caller, event, persona_id, now, data)])


def record_memory(stores: Stores, caller: Caller, event: str, memory: Memory, now: float) -> None:
    record_memories(stores, caller, event, [memory], now)


def record_memories(
    stores: Stores, caller: Caller, event: str, memories: Sequence[Memory], now: float
) -> None:
    """Record the same event for each memory."""
    stores.audit.record(
        [_new_event(caller, event, row.owner.persona_id, now, _event_data(row)) for row in memories]
    )


def _event_data(memory: Memory) -> dict[str, Any]:
    return {
        "memory_id": memory.id,
        "type": memory.type.value,
        "status": memory.status.value,
        **app_of(memory),
    }


def app_of(memory: Memory) -> dict[str, str]:
    """Return the only app that sees this row, as event data; empty for a row all apps share."""
    is_narrow = memory.scope in (Scope.APP, Scope.SESSION)
    return {"source_app": memory.source_app} if is_narrow else {}


def _new_event(
    caller: Caller, event: str, persona_id: str, now: float, data: dict[str, Any]
) -> Event:
    return Event(
        user=caller.user,
        persona_id=persona_id,
        event=event,
        ts=now,
        request_id=caller.request_id,
        key_label=caller.key.label,
        memory_id=data.get("memory_id"),
        data=data,
    )


def hub_caller(user: User) -> Caller:
    """Return the hub itself as a caller, so that the audit log names it."""
    key = ApiKey(id=0, digest="", tenant_id=user.tenant_id, user_id=user.user_id, label="(the hub)")
    return Caller(user=user, key=key)
