"""Authenticate API keys and sessions of the console; create and revoke keys."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from plastic_memories.errors import NotAuthenticated, NotFound, Unavailable
from plastic_memories.language.text.digests import api_key_digest
from plastic_memories.model.console import SessionKind
from plastic_memories.model.key import ApiKey, KeyLimits
from plastic_memories.ports.clock import Clock
from plastic_memories.ports.storage import StorageBackend, Stores

# A cached key is looked up again after this long, so that a revoked key fails almost at once.
_CACHE_TTL_S = 1.0
# While the database is unavailable, a key seen this recently is still accepted.
_STALE_TTL_S = 600.0
_LOOKUP_TIMEOUT_S = 0.5
_CACHE_SIZE = 10_000
# Open connections check their key this often, with a cached record no older than this.
_WATCH_S = 0.4
# How exactly it is known when a key was last used: each time it is stored is a write.
_LAST_USED_S = 3600.0
# The secret of a session of the console; no key starts like this.
SESSION_PREFIX = "pmc_"
# In the audit, a change made in the console is not one by the program the key was made for.
_CONSOLE_LABEL = "console"
# The key that an installation makes for its own machine.
FIRST_KEY_LABEL = "first start"


def new_key() -> str:
    return f"pm_{secrets.token_urlsafe(32)}"


@dataclass(slots=True)
class ApiKeys:
    storage: StorageBackend
    clock: Clock
    configured: Sequence[ApiKey] = ()
    _cache: dict[str, tuple[float, ApiKey]] = field(default_factory=dict)

    async def authenticate(self, key: str, fresh_s: float = _CACHE_TTL_S) -> ApiKey:
        """Return the key's record, at most `fresh_s` old; raise `NotAuthenticated` if invalid.

        The secret of a session of the console stands for the key it was signed in with.
        """
        digest = api_key_digest(key)
        # Every configured key is compared in constant time: the timing reveals nothing.
        found = self._find_configured(digest)
        if found is None:
            is_session = key.startswith(SESSION_PREFIX)
            find = self._key_of_session if is_session else _key_by_digest
            found = await self._find_stored(digest, fresh_s, find)
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

    def clear_cache(self) -> None:
        """Look up every key again at its next use."""
        self._cache.clear()

    def _find_configured(self, digest: str) -> ApiKey | None:
        matches = [own for own in self.configured if hmac.compare_digest(own.digest, digest)]
        return matches[0] if matches else None

    def _key_of_session(self, stores: Stores, digest: str) -> ApiKey | None:
        session = stores.console_sessions.find(digest, SessionKind.SESSION, self.clock.now())
        if session is None:
            return None
        key = self.find_by_digest(stores, session.key_digest)
        return None if key is None else replace(key, label=_CONSOLE_LABEL)

    def find_by_digest(self, stores: Stores, digest: str) -> ApiKey | None:
        """Return the valid key with this digest, from the environment or stored."""
        key = self._find_configured(digest) or stores.keys.find_by_digest(digest)
        return key if key is not None and _is_valid(key, self.clock.now()) else None

    async def _find_stored(
        self, digest: str, fresh_s: float, find: Callable[[Stores, str], ApiKey | None]
    ) -> ApiKey | None:
        now = self.clock.now()
        seen_at, seen = self._cache.get(digest, (0.0, None))
        if seen is not None and now - seen_at < fresh_s:
            return seen
        try:
            # A cached key does not wait for a database that hangs.
            async with asyncio.timeout(None if seen is None else _LOOKUP_TIMEOUT_S):
                found = await self.storage.read(lambda stores: find(stores, digest))
        except (Unavailable, TimeoutError):
            if seen is not None and now - seen_at < _STALE_TTL_S:
                return seen
            raise Unavailable("The key cannot be looked up now.") from None
        if found is not None:
            if len(self._cache) >= _CACHE_SIZE:
                self._cache.clear()
            self._cache[digest] = (now, found)
            if find is _key_by_digest:
                await self._note_use(found, now)
        return found

    async def _note_use(self, key: ApiKey, now: float) -> None:
        """Store that a key is used: at its first call, then at most once an hour."""
        if not _is_valid(key, now) or (key.last_used_at and now - key.last_used_at < _LAST_USED_S):
            return
        # Who has a right key is let in, even if nothing can be written now.
        with suppress(Unavailable, TimeoutError):
            async with asyncio.timeout(_LOOKUP_TIMEOUT_S):
                await self.storage.write(lambda stores: stores.keys.mark_used(key.digest, now))


def _key_by_digest(stores: Stores, digest: str) -> ApiKey | None:
    return stores.keys.find_by_digest(digest)


def _is_valid(key: ApiKey, now: float) -> bool:
    expires_at = key.limits.expires_at
    return key.revoked_at is None and (expires_at is None or expires_at > now)
