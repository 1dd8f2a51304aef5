"""Finds memories for a reader: what a viewpoint may see, and what the personas share."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from plastic_memories.model.memory import Memory, MemoryOutline, MemoryType
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.model.recall import TextMatches
from plastic_memories.ports.stores.memory_store import MemoryFilter


class MemorySearch(Protocol):
    """One transaction's view of the memories, as recall and listings read them.

    The promises below are executable: `plastic_memories.testing.StorageContract`.
    """

    def outlines(self, owner: Owner, wanted: MemoryFilter) -> list[MemoryOutline]:
        """Return what a filter can ask of the owner's rows that match, newest first."""
        ...

    def find_global(self, owner: Owner, wanted: MemoryFilter) -> list[Memory]:
        """Return the user's rows of scope `global` as this persona sees them, in their order.

        A story of another persona is not among them: only what is real crosses.
        """
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

    def ids_of_types(self, owner: Owner, types: Collection[MemoryType]) -> list[int]:
        """Return the active rows of these types that this persona or all personas know.

        Who may see a row is not asked here.
        """
        ...

    def touch(self, recalled: Sequence[tuple[Owner, int]], now: float) -> None:
        """Note that rows were recalled; changes nothing else about them."""
        ...
