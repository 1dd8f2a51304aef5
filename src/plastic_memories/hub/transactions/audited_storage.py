"""Storage with an audit trail: events are recorded in the transaction and published after it."""

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
# Event ids logged per line for a batch.
_MAX_LOGGED_IDS = 20


class _Undo(Exception):
    """Rolls back a transaction, and carries the result of its reads."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result


@dataclass(frozen=True, slots=True)
class AuditedStorage:
    backend: StorageBackend
    sink: EventSink
    clock: Clock
    # Called after a commit that changed something.
    on_commit: Callable[[], None] = lambda: None
    # Background work waits here while a write runs.
    write_throttle: WriteBurstThrottle = field(default_factory=WriteBurstThrottle)

    async def write(self, work: Callable[[Stores], T]) -> T:
        """Run work in one transaction; publish its events once it is durable.

        Expired memories are ended first, in the same transaction: no work sees an expired row as
        active.
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
        """Run work on a snapshot as stored; an expired row may still be active in it."""
        return await self.backend.read(work)

    async def read_after_expiry(self, work: Callable[[Stores], T]) -> T:
        """Run work on a snapshot in which every expired row has status `expired`."""
        now = self.clock.now()
        due, result = await self.backend.read(
            lambda stores: (stores.upkeep.expired_memories(now, 1), work(stores))
        )
        if not due:
            return result
        try:
            await self.write(lambda stores: None)
        except Unavailable:  # the disk may be full; reading must still work
            return await self._read_as_if_swept(work, now)
        return await self.backend.read(work)

    async def _read_as_if_swept(self, work: Callable[[Stores], T], now: float) -> T:
        """Run work after an expiry that is rolled back: uncommitted changes need no disk space."""

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
    """Log each event; consecutive events of the same kind share one line."""
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
