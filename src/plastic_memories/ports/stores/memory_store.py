"""Keeps memories, their text index, slots and tombstones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from plastic_memories.model.memory import Draft, Memory, MemoryOutline, MemoryType, Scope, Status
from plastic_memories.model.owner import Owner, Realm, Viewpoint
from plastic_memories.model.persona import Slot
from plastic_memories.model.recall import TextMatches
from plastic_memories.rules.lifecycle.tombstones import TombstoneDigests


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """Which rows of one owner: None means "any". Ordered by id, newest first."""

    statuses: Collection[Status] | None = None
    types: Collection[MemoryType] | None = None
    key: str | None = None
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
    limit: int | None = None


class MemoryStore(Protocol):
    """One transaction's view of the memories. No method reads or changes another owner's row.

    What is added, saved or erased here is in the text index too, in the same transaction.
    The promises below are executable: `plastic_memories.testing.StorageContract`.
    """

    def get(self, owner: Owner, memory_id: int) -> Memory | None:
        """Return one row of this owner, whatever its status."""
        ...

    def find(self, owner: Owner, wanted: MemoryFilter) -> list[Memory]:
        """Return the owner's rows that match, newest first."""
        ...

    def outlines(self, owner: Owner, wanted: MemoryFilter) -> list[MemoryOutline]:
        """Return what a filter can ask of the owner's rows that match, newest first."""
        ...

    def find_global(self, owner: Owner, wanted: MemoryFilter) -> list[Memory]:
        """Return the user's rows of scope `global` as this persona sees them, newest first.

        A story of another persona is not among them: only what is real crosses.
        """
        ...

    def find_same_key(self, owner: Owner, memory: Memory | Draft) -> list[Memory]:
        """Return the active and waiting rows of the same key, scope, bot and realm."""
        ...

    def prefetch_same_key(self, owner: Owner, drafts: Sequence[Draft]) -> None:
        """Be told what this work will ask `same_place` about, so that one look can do for all."""
        ...

    def core(self, view: Viewpoint, now: float) -> list[Memory]:
        """Return what is recalled whatever the query is, oldest first.

        Persona, rules, slots, profile and pinned rows of this persona, and from every other
        persona of the user their real constraints and the user's name. Waiting candidates of
        type `constraints` are among them.
        """
        ...

    def search(self, view: Viewpoint, terms: Sequence[str], limit: int, now: float) -> TextMatches:
        """Return active rows this viewpoint may see that hold one of the terms, best first."""
        ...

    def visible(self, view: Viewpoint, memory_ids: Collection[int], now: float) -> list[Memory]:
        """Return those of these active rows that this viewpoint may see, in any order."""
        ...

    def ids_in_session(self, view: Viewpoint) -> list[int]:
        """Return the user's active rows that were learned in the viewpoint's session, or in none.

        What was said in two sessions belongs to both. Who may see a row is not asked here.
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
        """Say from which messages a row is known; return it as it then is."""
        ...

    def erase(self, owner: Owner, memory_ids: Collection[int], now: float) -> None:
        """Remove rows with their index entries, source links and goal links."""
        ...

    def touch(self, recalled: Sequence[tuple[Owner, int]], now: float) -> None:
        """Note that rows were recalled; changes nothing else about them."""
        ...


class SlotStore(Protocol):
    """The slots of one persona, by bot and realm."""

    def all(self, view: Viewpoint) -> list[Slot]: ...

    def put(self, slot: Slot) -> None: ...

    def clear(self, owner: Owner, bot_id: str, realm: Realm, slot_name: str) -> bool:
        """Remove one slot; say whether there was one."""
        ...


class TombstoneStore(Protocol):
    """Marks of what must never be learned again: keyed digests, never text."""

    def has_any(self, owner: Owner) -> bool:
        """Say whether the owner has any mark at all; most have none."""
        ...

    def add(self, owner: Owner, marks: TombstoneDigests, now: float) -> None:
        """Set `marks.digests`."""
        ...

    def covers(self, owner: Owner, marks: TombstoneDigests) -> bool:
        """Say whether any of `marks.sought` is set."""
        ...

    def lift(self, owner: Owner, marks: TombstoneDigests) -> int:
        """Remove `marks.sought` and, where a key holds one value, all others of the key."""
        ...

    def secret(self) -> bytes:
        """Return the installation's secret for these digests, made on first use."""
        ...
