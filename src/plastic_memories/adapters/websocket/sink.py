"""Event sink that publishes committed events to the WebSocket listeners of this process."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from plastic_memories.errors import Unavailable
from plastic_memories.model.event import Event
from plastic_memories.model.owner import User
from plastic_memories.ports.event_sink import EventSink

# A listener this far behind is disconnected; it reconnects with `resume_from`.
_QUEUE_LENGTH = 1000


class WebSocketFanOut:
    """One bounded queue per listener; None in it ends a listener that was too slow."""

    def __init__(self, queue_length: int = _QUEUE_LENGTH) -> None:
        self._queue_length = queue_length
        self._listeners: defaultdict[User, set[asyncio.Queue[Event | None]]] = defaultdict(set)

    def publish(self, events: Sequence[Event]) -> None:
        for event in events:
            for queue in tuple(self._listeners.get(event.user, ())):
                self._enqueue(event, queue)

    @asynccontextmanager
    async def listen(self, user: User) -> AsyncIterator[AsyncIterator[Event]]:
        queue: asyncio.Queue[Event | None] = asyncio.Queue(self._queue_length)
        self._listeners[user].add(queue)
        try:
            yield _queued_events(queue)
        finally:
            self._listeners[user].discard(queue)
            if not self._listeners[user]:
                del self._listeners[user]

    def _enqueue(self, event: Event, queue: asyncio.Queue[Event | None]) -> None:
        try:
            queue.put_nowait(event)
        except asyncio.QueueFull:
            self._listeners[event.user].discard(queue)
            queue.get_nowait()
            queue.put_nowait(None)


class NoEvents:
    def publish(self, events: Sequence[Event]) -> None:
        """Drop the events: there are no listeners."""

    @asynccontextmanager
    async def listen(self, user: User) -> AsyncIterator[AsyncIterator[Event]]:
        raise Unavailable("Events are switched off (PLASTIC_MEMORIES_EVENTS=none).")
        yield  # makes this a generator, as the port requires


async def _queued_events(queue: asyncio.Queue[Event | None]) -> AsyncIterator[Event]:
    while (event := await queue.get()) is not None:
        yield event


def fan_out(_context: object) -> EventSink:
    return WebSocketFanOut()


def no_events(_context: object) -> EventSink:
    return NoEvents()
