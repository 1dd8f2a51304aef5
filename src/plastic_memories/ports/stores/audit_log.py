"""Keeps the line of changes: audit log and event stream are one thing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from plastic_memories.model.event import Event
from plastic_memories.model.owner import User


class AuditLog(Protocol):
    """One transaction's view of the log; ids grow in the order of commits."""

    def record(self, events: Sequence[Event]) -> list[Event]:
        """Add lines in this transaction; return them with their ids, in order."""
        ...

    @property
    def recorded_events(self) -> Sequence[Event]:
        """What this transaction has recorded so far."""
        ...

    def find(
        self,
        user: User,
        *,
        after_id: int = 0,
        since: float = 0.0,
        memory_id: int | None = None,
        only_app: str = "",
        limit: int = 200,
    ) -> list[Event]:
        """Return one user's events in order.

        With `only_app`, what happened in another app is left out (`Event.is_of`).
        """
        ...
