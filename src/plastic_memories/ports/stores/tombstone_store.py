"""Keeps what is to be forgotten, and the marks of what must never be learned again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from plastic_memories.model.console import TombstoneMark
from plastic_memories.model.message import PendingForget
from plastic_memories.model.owner import Owner
from plastic_memories.rules.lifecycle.tombstones import TombstoneDigests


class TombstoneStore(Protocol):
    """Marks of what must never be learned again: keyed digests, never text."""

    def has_any(self, owner: Owner) -> bool:
        """Return whether the owner has any mark at all; most have none."""
        ...

    def add(self, owner: Owner, marks: TombstoneDigests, now: float) -> None:
        """Set `marks.digests`."""
        ...

    def covers(self, owner: Owner, marks: TombstoneDigests) -> bool:
        """Return whether any of `marks.lookup_digests` is set."""
        ...

    def lift(self, owner: Owner, marks: TombstoneDigests) -> int:
        """Remove `marks.lookup_digests` and, where a key holds one value, all others of the key."""
        ...

    def secret(self) -> bytes:
        """Return the installation's secret for these digests, made on first use."""
        ...

    def all(self, owner: Owner, limit: int) -> list[TombstoneMark]:
        """Return the marks of the owner, newest first."""
        ...

    def lift_mark(self, owner: Owner, digest: str) -> int:
        """Remove one mark, and that of its key; return how many rows there were."""
        ...


class PendingForgetStore(Protocol):
    """What users asked in the chat to forget, which is undone until it is final. Ids, no text."""

    def add(self, pending: PendingForget) -> PendingForget:
        """Store a new one; return it with its id."""
        ...

    def save(self, pending: PendingForget) -> None:
        """Store its new status and changes."""
        ...

    def get(self, owner: Owner, forget_id: int) -> PendingForget | None: ...

    def find(self, owner: Owner, *, message_id: int | None = None) -> list[PendingForget]:
        """Return the owner's, newest first; of one request, or of all."""
        ...

    def due_owners(self, now: float, limit: int) -> Sequence[Owner]:
        """Return owners of any user with something pending whose time has come."""
        ...
