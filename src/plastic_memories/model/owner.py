"""Whose memories these are, and from where they are looked at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Realm(StrEnum):
    """Whether something is about the real user or about a story."""

    REAL = "real"
    STORY = "story"
    HYPOTHETICAL = "hypothetical"
    OOC = "ooc"


@dataclass(frozen=True, slots=True)
class User:
    """The human who is remembered, inside a tenant."""

    tenant_id: str
    user_id: str


@dataclass(frozen=True, slots=True)
class Owner:
    """One persona's memory of one user: part of every statement."""

    tenant_id: str
    user_id: str
    persona_id: str

    @property
    def user(self) -> User:
        return User(self.tenant_id, self.user_id)


@dataclass(frozen=True, slots=True)
class Viewpoint:
    """Where a reader stands; it decides which of the user's rows exist for it.

    An empty `bot_id` means "no bot": such a reader sees only rows without one.
    """

    owner: Owner
    bot_id: str = ""
    all_bots: bool = False
    session_id: str = ""
    source_app: str = ""
    realm: Realm = Realm.REAL
    branch_id: str = ""
    only_app: str = ""  # a key bound to one app does not see what belongs to another
    only_session: bool = False  # nothing of what was learned in other sessions
