"""What ranking needs of a memory, so that a recall reads nothing else of the many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plastic_memories.model.memory import Memory, Scope
from plastic_memories.model.owner import Owner, Realm, User, Viewpoint


@dataclass(frozen=True, slots=True)
class Partition:
    """What one persona knows of a user, or, with no persona, what all of them share."""

    user: User
    persona_id: str = ""


def is_shared(memory: Memory) -> bool:
    """Say whether every persona of the user may find a memory; a story never crosses personas."""
    return memory.scope is Scope.GLOBAL and memory.realm is Realm.REAL


def partition_of(memory: Memory) -> Partition:
    """Return where a memory is searched."""
    return Partition(memory.owner.user, "" if is_shared(memory) else memory.owner.persona_id)


def partitions_for(owner: Owner) -> tuple[Partition, Partition]:
    """Return everything a reader of this persona may find something in."""
    return Partition(owner.user, owner.persona_id), Partition(owner.user)


@dataclass(frozen=True, slots=True)
class EntryVisibility:
    """What decides who may see an entry of a partition."""

    bot_id: str
    branch_id: str
    realm: Realm
    scope: Scope
    scope_ref: str

    def is_visible_from(self, view: Viewpoint) -> bool:
        if self.realm is not view.realm or not (view.all_bots or self.bot_id == view.bot_id):
            return False
        if self.scope is Scope.SESSION:
            return bool(self.scope_ref) and self.scope_ref == view.session_id
        if self.scope is Scope.APP:
            return bool(self.scope_ref) and self.scope_ref == view.source_app
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    memory_id: int
    place: EntryVisibility
    session_id: str
    speaker: str
    happened_at: float
    expires_at: float | None
    importance: float
    ageless: bool
    terms: bytes  # codes of its terms in order (language/text/tokens.py)
    vector: bytes | None  # one signed byte for each dimension (rules/ranking/vector_codec.py)


@dataclass(frozen=True, slots=True)
class PartitionChanges:
    """What changed in a partition since a revision its reader knows."""

    revision: int
    entries: Sequence[IndexEntry] = ()  # new or changed
    remaining_ids: Sequence[int] | None = None  # all that are left, if some were taken away
