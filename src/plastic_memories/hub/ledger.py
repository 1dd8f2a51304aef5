"""Writes with a trace: what a transaction changed is recorded in it, and told after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from plastic_memories.model.event import Event
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Memory
from plastic_memories.ports.clock import Clock
from plastic_memories.ports.event_sink import EventSink
from plastic_memories.ports.storage import StorageBackend, Stores

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ledger:
    storage: StorageBackend
    sink: EventSink
    clock: Clock

    async def write(self, work: Callable[[Stores], T]) -> T:
        """Run work in one transaction; tell the listeners once it is durable."""
        result, events = await self.storage.write(
            lambda stores: (work(stores), stores.audit.recorded)
        )
        self.sink.publish(events)
        return result

    async def read(self, work: Callable[[Stores], T]) -> T:
        return await self.storage.read(work)


def record(
    stores: Stores,
    caller: Caller,
    event: str,
    persona_id: str,
    now: float,
    **data: Any,
) -> None:
    """Note a change in the transaction that makes it."""
    stores.audit.record(
        Event(
            user=caller.user,
            persona_id=persona_id,
            event=event,
            ts=now,
            request_id=caller.request_id,
            key_label=caller.key.label,
            memory_id=data.get("memory_id"),
            data=data,
        )
    )


def record_memory(stores: Stores, caller: Caller, event: str, memory: Memory, now: float) -> None:
    record(
        stores,
        caller,
        event,
        memory.owner.persona_id,
        now,
        memory_id=memory.id,
        type=memory.type.value,
        status=memory.status.value,
    )
