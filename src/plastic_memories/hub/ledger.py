"""Writes with a trace: what a transaction changed is recorded in it, and told after it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from plastic_memories.hub.expiry import end_expired
from plastic_memories.model.event import Event
from plastic_memories.ports.clock import Clock
from plastic_memories.ports.event_sink import EventSink
from plastic_memories.ports.storage import StorageBackend, Stores

T = TypeVar("T")


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ledger:
    storage: StorageBackend
    sink: EventSink
    clock: Clock
    written: Callable[[], None] = lambda: None  # called after a commit that changed something

    async def write(self, work: Callable[[Stores], T]) -> T:
        """Run work in one transaction; tell the listeners once it is durable.

        What has expired is ended first, in the same transaction: no work meets a row that is
        called active and is not.
        """
        now = self.clock.now()

        def run(stores: Stores) -> tuple[T, Sequence[Event]]:
            end_expired(stores, now)
            return work(stores), stores.audit.recorded

        result, events = await self.storage.write(run)
        for event in events:
            logger.info(event.event, extra={"fields": _fields(event)})
        self.sink.publish(events)
        if events:
            self.written()
        return result

    async def read(self, work: Callable[[Stores], T]) -> T:
        """Run work on a snapshot as it is; an expired row may still be called active there."""
        return await self.storage.read(work)

    async def read_swept(self, work: Callable[[Stores], T]) -> T:
        """Run work on a snapshot in which everything that has expired says so."""
        now = self.clock.now()
        due, result = await self.storage.read(
            lambda stores: (stores.upkeep.due(now, 1), work(stores))
        )
        if not due:
            return result
        await self.write(lambda stores: None)
        return await self.storage.read(work)


def _fields(event: Event) -> dict[str, Any]:
    return {
        "user_id": event.user.user_id,
        "persona_id": event.persona_id,
        "memory_id": event.memory_id,
    }
