"""Index entries and partitions: the columns of a memory that ranking reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

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


class EntryKind(StrEnum):
    """What an entry stands for."""

    MEMORY = "memory"
    MESSAGE = "message"


class Audience(StrEnum):
    """Who could hear a message; unknown if the caller did not say."""

    UNKNOWN = ""
    PRIVATE = "private"
    GROUP = "group"


@dataclass(frozen=True, slots=True)
class Listener:
    """A reader of talk: where the answer will be heard, and by which member if in private."""

    view: Viewpoint
    audience: Audience = Audience.UNKNOWN
    member: str = ""
    is_known: bool = True  # whether anything was said in the session before

    def may_hear_private_words_of(self, member: str) -> bool:
        """Return whether words of another private session may be told in this one."""
        if self.audience is Audience.UNKNOWN and not self.is_known:
            return False  # it may be a group whose platform was left out
        return not member or member == self.member


@dataclass(frozen=True, slots=True)
class TalkVisibility:
    """The columns of a message that decide which listeners may be told it again."""

    bot_id: str
    realm: Realm
    source_app: str
    audience: Audience = Audience.UNKNOWN
    # Only of private messages: the others may be told again in any session.
    session_id: str = ""
    member: str = ""

    def is_visible_from(self, listener: Listener) -> bool:
        view = listener.view
        if self.realm is not view.realm or not (view.all_bots or self.bot_id == view.bot_id):
            return False
        if view.only_app and self.source_app != view.only_app:
            return False
        if not view.session_id or self.audience is Audience.GROUP:
            return True
        if listener.audience is Audience.GROUP:
            return False
        if self.audience is not Audience.PRIVATE or self.session_id == view.session_id:
            return True
        return listener.may_hear_private_words_of(self.member)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    memory_id: int  # of a message: its id
    place: EntryVisibility | TalkVisibility
    session_id: str
    speaker: str
    happened_at: float
    expires_at: float | None
    importance: float
    ageless: bool
    by_assistant: bool = False
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
    entry_id: int  # of the memory or message
    text: str
    terms: bytes  # its words when it was read: a vector of other words is not stored
    kind: EntryKind = EntryKind.MEMORY


@dataclass(frozen=True, slots=True)
class EntryCursor:
    """A place in the order of all entries; the default stands before the first."""

    tenant_id: str = ""
    user_id: str = ""
    partition_id: str = ""
    entry_id: int = 0
    kind: EntryKind = EntryKind.MEMORY
