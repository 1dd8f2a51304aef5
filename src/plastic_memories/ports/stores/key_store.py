"""Keeps API keys and the sessions of the console, by digest."""

from __future__ import annotations

from typing import Protocol

from plastic_memories.model.console import ConsoleSession, Person, SessionKind
from plastic_memories.model.key import ApiKey


class KeyStore(Protocol):
    """One transaction's view of the keys made at run time."""

    def add(self, key: ApiKey) -> ApiKey: ...

    def find_by_digest(self, digest: str) -> ApiKey | None:
        """Return the key with this digest, revoked or not."""
        ...

    def all(self) -> list[ApiKey]: ...

    def revoke(self, key_id: int, now: float) -> bool: ...

    def mark_used(self, digest: str, now: float) -> None:
        """Store when the key with this digest was used."""
        ...


class ConsoleSessionStore(Protocol):
    """One transaction's view of who is signed in to the console, and whom they may look at."""

    def add(self, session: ConsoleSession) -> None: ...

    def find(self, digest: str, kind: SessionKind, now: float) -> ConsoleSession | None:
        """Return the session or link with this digest, unless it has expired."""
        ...

    def remove(self, digest: str) -> bool:
        """Remove one; return whether it was there."""
        ...

    def remove_of_key(self, key_digest: str) -> int:
        """Remove all sessions and links that stand for a key; return how many."""
        ...

    def remove_expired(self, now: float) -> int: ...

    def find_people(
        self, tenant_id: str, user_id: str | None, text: str, limit: int
    ) -> list[Person]:
        """Return users of a tenant (or one of them), last seen first; `text` in id or name."""
        ...
