"""Authenticate API keys, and create and revoke them."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from plastic_memories.errors import NotAuthenticated, NotFound, Unavailable
from plastic_memories.language.text.digests import api_key_digest
from plastic_memories.model.key import ApiKey, KeyLimits
from plastic_memories.ports.clock import Clock
from plastic_memories.ports.storage import StorageBackend

# A cached key is looked up again after this long, so that a revoked key fails almost at once.
_CACHE_TTL_S = 1.0
# While the database is unavailable, a key seen this recently is still accepted.
_STALE_TTL_S = 600.0
_LOOKUP_TIMEOUT_S = 0.5
_CACHE_SIZE = 10_000
# Open connections check their key this often, with a cached record no older than this.
_WATCH_S = 0.4


def new_key() -> str:
    return f"pm_{secrets.token_urlsafe(32)}"


@dataclass(slots=True)
class ApiKeys:
    storage: StorageBackend
    clock: Clock
    configured: Sequence[ApiKey] = ()
    _cache: dict[str, tuple[float, ApiKey]] = field(default_factory=dict)

    async def authenticate(self, key: str, fresh_s: float = _CACHE_TTL_S) -> ApiKey:
        """Return the key's record, at most `fresh_s` old; raise `NotAuthenticated` if invalid."""
        digest = api_key_digest(key)
        # Every configured key is compared in constant time: the timing reveals nothing.
        matches = [own for own in self.configured if hmac.compare_digest(own.digest, digest)]
        found = matches[0] if matches else await self._find_stored(digest, fresh_s)
        now = self.clock.now()
        if found is None or not _is_valid(found, now):
            self._cache.pop(digest, None)
            raise NotAuthenticated("The API key is missing or not valid.")
        return found

    async def until_invalid(self, key: str) -> None:
        """Raise `NotAuthenticated` within a second after a key expires or is revoked anywhere."""
        while True:
            await asyncio.sleep(_WATCH_S)
            # Watchers of the same key share one lookup. A failed lookup is retried.
            with suppress(Unavailable):
                await self.authenticate(key, _WATCH_S)

    async def create(
        self, tenant_id: str, user_id: str, label: str, limits: KeyLimits, key: str = ""
    ) -> tuple[str, ApiKey]:
        """Create a key; its text is returned only here and never stored."""
        text = key or new_key()
        record = ApiKey(
            id=0,
            digest=api_key_digest(text),
            tenant_id=tenant_id,
            user_id=user_id,
            label=label,
            limits=limits,
            created_at=self.clock.now(),
        )
        return text, await self.storage.write(lambda stores: stores.keys.add(record))

    async def list_keys(self) -> list[ApiKey]:
        return await self.storage.read(lambda stores: stores.keys.all())

    async def revoke(self, key_id: int) -> None:
        now = self.clock.now()
        if not await self.storage.write(lambda stores: stores.keys.revoke(key_id, now)):
            raise NotFound(f"There is no active key {key_id}.")
        self._cache.clear()

    async def _find_stored(self, digest: str, fresh_s: float) -> ApiKey | None:
        now = self.clock.now()
        seen_at, seen = self._cache.get(digest, (0.0, None))
        if seen is not None and now - seen_at < fresh_s:
            return seen
        try:
            # A cached key does not wait for a database that hangs.
            async with asyncio.timeout(None if seen is None else _LOOKUP_TIMEOUT_S):
                found = await self.storage.read(lambda stores: stores.keys.find_by_digest(digest))
        except (Unavailable, TimeoutError):
            if seen is not None and now - seen_at < _STALE_TTL_S:
                return seen
            raise Unavailable("The key cannot be looked up now.") from None
        if found is not None:
            if len(self._cache) >= _CACHE_SIZE:
                self._cache.clear()
            self._cache[digest] = (now, found)
        return found


def _is_valid(key: ApiKey, now: float) -> bool:
    expires_at = key.limits.expires_at
    return key.revoked_at is None and (expires_at is None or expires_at > now)
