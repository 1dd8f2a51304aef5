"""Index entries and partitions: the columns of a memory that ranking reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plastic_memories.model.memory import Memory, Scope
from plastic_memories.model.owner import Owner, Realm, User, Viewpoint


@dataclass(frozen=True, slots=True)
class Partition:
    """One persona's memories of a user, or, with no persona, those that all personas share."""

    user: User
    persona_id: str = ""


def is_shared(memory: Memory) -> bool:
    """Return whether every persona of the user may see a memory; stories never cross personas."""
    return memory.scope is Scope.GLOBAL and memory.realm is Realm.REAL


def partition_of(memory: Memory) -> Partition:
    """Return the partition in which a memory is searched."""
    return Partition(memory.owner.user, "" if is_shared(memory) else memory.owner.persona_id)


def partitions_for(owner: Owner) -> tuple[Partition, Partition]:
    """Return the partitions that a reader of this persona searches: its own and the shared one."""
    return Partition(owner.user, owner.persona_id), Partition(owner.user)


@dataclass(frozen=True, slots=True)
class EntryVisibility:
    """The columns that decide which viewpoints see an entry of a partition."""

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
    terms: bytes  # term codes in text order (language/text/tokens.py)
    vector: bytes | None  # one signed byte per dimension (rules/ranking/vector_codec.py)


@dataclass(frozen=True, slots=True)
class PartitionChanges:
    """The changes of a partition since a revision that its reader knows."""

    revision: int
    entries: Sequence[IndexEntry] = ()  # new or changed
    remaining_ids: Sequence[int] | None = None  # all that are left, if some were taken away


@dataclass(frozen=True, slots=True)
class PendingEmbedding:
    """An entry without a vector, with the text to make one from."""

    partition: Partition
    memory_id: int
    text: str
    terms: bytes  # its words when it was read: a vector of other words is not stored


@dataclass(frozen=True, slots=True)
class EntryCursor:
    """A place in the order of all entries; the default stands before the first."""

    tenant_id: str = ""
    user_id: str = ""
    partition_id: str = ""
    memory_id: int = 0
