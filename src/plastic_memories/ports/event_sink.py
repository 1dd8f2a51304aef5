"""Port of the event sink: publishes committed changes to listeners."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from plastic_memories.model.event import Event
from plastic_memories.model.owner import User


class EventSink(Protocol):
    """Publishes committed events to listeners. Never blocks and never fails the write.

    The promises below are executable: `plastic_memories.testing.EventSinkContract`.
    """

    def publish(self, events: Sequence[Event]) -> None:
        """Publish committed events, in order; a slow listener is dropped, not waited for."""
        ...

    def listen(self, user: User) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """Yield one user's events from now on; raise `Unavailable` if events are switched off.

        The iterator ends if the listener is too slow for its bounded queue.
        """
        ...
