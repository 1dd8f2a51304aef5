"""Keeps API keys, by digest."""

from __future__ import annotations

from typing import Protocol

from plastic_memories.model.key import ApiKey


class KeyStore(Protocol):
    """One transaction's view of the keys made at run time."""

    def add(self, key: ApiKey) -> ApiKey: ...

    def find_by_digest(self, digest: str) -> ApiKey | None:
        """Return the key with this digest, revoked or not."""
        ...

    def all(self) -> list[ApiKey]: ...

    def revoke(self, key_id: int, now: float) -> bool: ...
