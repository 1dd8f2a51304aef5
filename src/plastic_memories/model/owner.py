"""Tenant, user and persona of a memory, and the viewpoint of a reader."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Realm(StrEnum):
    """What a memory is about: the real user, a story, a supposition, or the chat itself."""

    REAL = "real"
    STORY = "story"
    HYPOTHETICAL = "hypothetical"
    OOC = "ooc"


@dataclass(frozen=True, slots=True)
class User:
    """The remembered human, inside a tenant."""

    tenant_id: str
    user_id: str


@dataclass(frozen=True, slots=True)
class Owner:
    """One persona's memory of one user; every SQL statement filters by it."""

    tenant_id: str
    user_id: str
    persona_id: str

    @property
    def user(self) -> User:
        return User(self.tenant_id, self.user_id)

    @property
    def for_all_personas(self) -> Owner:
        """Return the owner of what is true of the user whichever persona they talk to."""
        return Owner(self.tenant_id, self.user_id, "")


@dataclass(frozen=True, slots=True)
class Viewpoint:
    """The position of a reader; it decides which of the user's rows the reader sees.

    An empty `bot_id` means "no bot": such a reader sees only rows without one.
    """

    owner: Owner
    bot_id: str = ""
    all_bots: bool = False
    session_id: str = ""
    source_app: str = ""
    realm: Realm = Realm.REAL
    branch_id: str = ""
    only_app: str = ""  # a key bound to one app sees no rows of other apps
    only_session: bool = False  # exclude what was learned in other sessions
