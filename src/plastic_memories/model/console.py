"""The web console: who is signed in, and the people an app key may look at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from plastic_memories.model.owner import User


class SessionKind(StrEnum):
    SESSION = "session"
    LINK = "link"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleSession:
    """A signed-in browser, or a link that signs in once; stored by the digest of its secret."""

    digest: str
    kind: SessionKind
    user: User  # of the key
    key_digest: str
    is_admin: bool = False
    created_at: float = 0.0
    expires_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One user of a tenant, as a list shows them."""

    user_id: str
    name: str = ""
    apps: tuple[str, ...] = ()
    memories: int = 0
    last_seen_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TombstoneMark:
    """A mark of what is never to be learned again; its text is nowhere."""

    digest: str
    created_at: float
