"""Writes with a trace: what a transaction changed is recorded in it, and told after it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeVar

from plastic_memories.errors import Unavailable
from plastic_memories.hub.transactions.expiry import end_expired
from plastic_memories.model.event import Event
from plastic_memories.ports.clock import Clock
from plastic_memories.ports.event_sink import EventSink
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.runtime.write_burst import WriteBurstThrottle

T = TypeVar("T")
logger = logging.getLogger(__name__)
_event_kind = attrgetter("event", "user", "persona_id")
# A line of a batch names this many of its memories.
_MAX_LOGGED_IDS = 20


class _Undo(Exception):
    """Ends a transaction without a trace, and carries out what was read in it."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result


@dataclass(frozen=True, slots=True)
class AuditedStorage:
    backend: StorageBackend
    sink: EventSink
    clock: Clock
    on_commit: Callable[[], None] = lambda: None  # called after a commit that changed something
    write_throttle: WriteBurstThrottle = field(
        default_factory=WriteBurstThrottle
    )  # what stands back while we write waits here

    async def write(self, work: Callable[[Stores], T]) -> T:
        """Run work in one transaction; tell the listeners once it is durable.

        What has expired is ended first, in the same transaction: no work meets a row that is
        called active and is not.
        """
        now = self.clock.now()

        def run(stores: Stores) -> tuple[T, Sequence[Event]]:
            end_expired(stores, now)
            return work(stores), stores.audit.recorded_events

        with self.write_throttle:
            result, events = await self.backend.write(run)
        if events:
            _log_events(events)
            self.sink.publish(events)
            self.on_commit()
        return result

    async def read(self, work: Callable[[Stores], T]) -> T:
        """Run work on a snapshot as it is; an expired row may still be called active there."""
        return await self.backend.read(work)

    async def read_after_expiry(self, work: Callable[[Stores], T]) -> T:
        """Run work on a snapshot in which everything that has expired says so."""
        now = self.clock.now()
        due, result = await self.backend.read(
            lambda stores: (stores.upkeep.expired_memories(now, 1), work(stores))
        )
        if not due:
            return result
        try:
            await self.write(lambda stores: None)
        except Unavailable:  # no room to write it down; that is no reason not to be read
            return await self._read_as_if_swept(work, now)
        return await self.backend.read(work)

    async def _read_as_if_swept(self, work: Callable[[Stores], T], now: float) -> T:
        """Run work after a sweep that is undone again: what is not committed needs no room."""

        def run(stores: Stores) -> None:
            end_expired(stores, now)
            raise _Undo(work(stores))

        try:
            await self.backend.write(run)
        except _Undo as undone:
            result: T = undone.result
            return result
        raise AssertionError("a sweep without room is always undone")


def _log_events(events: Sequence[Event]) -> None:
    """Write a line for each event; a batch of the same kind is one."""
    for (name, user, persona_id), group in groupby(events, _event_kind):
        ids = [event.memory_id for event in group]
        fields: dict[str, Any] = {
            "user_id": user.user_id,
            "persona_id": persona_id,
            "memory_id": ids[0],
        }
        if len(ids) > 1:
            fields |= {"number": len(ids), "memory_ids": ids[:_MAX_LOGGED_IDS]}
        logger.info(name, extra={"fields": fields})
