"""Keeps memories and their text index."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from plastic_memories.model.memory import Draft, Memory, MemoryType, Scope, Status
from plastic_memories.model.owner import Owner, Realm


class MemoryOrder(StrEnum):
    """The order of rows; rows of the same importance are ordered newest first."""

    NEWEST = "newest"
    OLDEST = "oldest"
    IMPORTANCE = "importance"


@dataclass(frozen=True, slots=True)
class MemoryPosition:
    """The place of a row in any order."""

    id: int
    importance: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """Which rows of one owner: None means "any". Ordered by id, newest first, if not told."""

    statuses: Collection[Status] | None = None
    types: Collection[MemoryType] | None = None
    key: str | None = None
    key_prefix: str | None = None
    scope: Scope | None = None
    scopes: Collection[Scope] | None = None
    scope_ref: str | None = None
    realm: Realm | None = None
    bot_id: str | None = None
    ids: Collection[int] | None = None
    root_ids: Collection[int] | None = None
    idempotency_key: str | None = None
    source_message_ids: Collection[int] | None = None
    containing: str | None = None
    event_type: str | None = None
    min_importance: float | None = None
    created_since: float | None = None
    created_before: float | None = None
    for_app: str | None = None  # leave out what belongs to another app
    only_app: str | None = None  # likewise for a key of one app: another's sessions go, too
    for_session: str | None = None  # leave out what belongs to another session
    session_id: str | None = None
    source_app: str | None = None
    learned_in: str | None = None  # leave out what was said in other sessions only
    before_id: int | None = None
    not_expired_at: float | None = None
    unchanged_since: float | None = None
    is_superseded: bool | None = None
    order: MemoryOrder | None = None
    after: MemoryPosition | None = None  # leave out what comes before it in the order, and itself
    limit: int | None = None


class MemoryStore(Protocol):
    """One transaction's view of the memories. No method reads or changes another owner's row.

    What is added, saved or erased here is in the text index too, in the same transaction.
    It has eleven methods: four to find a row before it is changed, and one for each way to change
    it, which differ in what else they must bring up to date. Readers use `MemorySearch`.
    The promises below are executable: `plastic_memories.testing.StorageContract`.
    """

    def get(self, owner: Owner, memory_id: int) -> Memory | None:
        """Return one row of this owner, whatever its status."""
        ...

    def find(self, owner: Owner, wanted: MemoryFilter) -> list[Memory]:
        """Return the rows of the owner and of `owner.for_all_personas` that match, in its order."""
        ...

    def find_same_key(self, owner: Owner, memory: Memory | Draft) -> list[Memory]:
        """Return the active and waiting rows of the same key, scope, bot and realm."""
        ...

    def find_live_keys(
        self, owner: Owner, keys: Collection[tuple[MemoryType, str]]
    ) -> set[tuple[MemoryType, str]]:
        """Return those of the types and keys that some active or waiting row has, in any place.

        Of many keys this is asked once where `find_same_key` would be asked for each.
        """
        ...

    def add(self, memory: Memory) -> Memory:
        """Store a new row; return it with its id (and its root, if it starts a chain)."""
        ...

    def add_all(self, memories: Sequence[Memory]) -> list[Memory]:
        """Store new rows together, which costs a fraction of one by one; the same in order."""
        ...

    def save(self, memory: Memory) -> None:
        """Store the new state of a row of the same owner."""
        ...

    def move(self, memory: Memory) -> None:
        """Store a row's new bot, session and status; everything else of it stays."""
        ...

    def set_sources(self, memory: Memory, message_ids: Collection[int]) -> Memory:
        """Store from which messages a row is known; return it as it then is."""
        ...

    def redact(self, memory: Memory) -> Memory:
        """Remove every word from a row that has ended, and from the index; return what is left.

        Its id, type, times and place in the chain of versions stay.
        """
        ...

    def erase(self, owner: Owner, memory_ids: Collection[int], now: float) -> None:
        """Remove rows with their index entries, source links and goal links."""
        ...
