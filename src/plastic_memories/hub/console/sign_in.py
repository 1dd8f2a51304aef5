"""Sign in to the web console: one-time links, sessions, and how they end."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from plastic_memories.errors import NotAuthenticated
from plastic_memories.hub.api_keys import FIRST_KEY_LABEL, SESSION_PREFIX, ApiKeys
from plastic_memories.language.text.digests import api_key_digest
from plastic_memories.model.console import ConsoleSession, SessionKind
from plastic_memories.model.key import ApiKey, KeyLimits
from plastic_memories.model.owner import User
from plastic_memories.ports.clock import Clock
from plastic_memories.ports.storage import StorageBackend, Stores

LINK_LIFETIME_S = 15 * 60.0
SESSION_LIFETIME_S = 30 * 86_400.0
_LINK_PREFIX = "pml_"
_SPENT_LINK = (
    "This link was used before or is too old: make another with `plastic-memories console`."
)


@dataclass(frozen=True, slots=True)
class SignIn:
    """Sessions lie in the database, by digest: every server process agrees on them."""

    storage: StorageBackend
    keys: ApiKeys
    clock: Clock

    async def create_link(self, key: ApiKey, *, is_admin: bool) -> str:
        """Return the secret of a link that signs in once, within minutes."""
        return await self._add(SessionKind.LINK, key, LINK_LIFETIME_S, is_admin=is_admin)

    async def with_link(self, link: str) -> tuple[str, ApiKey]:
        """Use up a link; return the secret of the new session and its key."""
        digest, now = api_key_digest(link), self.clock.now()

        def use_up(stores: Stores) -> tuple[ConsoleSession, ApiKey] | None:
            found = stores.console_sessions.find(digest, SessionKind.LINK, now)
            if found is None or not stores.console_sessions.remove(digest):
                return None
            key = self.keys.find_by_digest(stores, found.key_digest)
            return None if key is None else (found, key)

        used = await self.storage.write(use_up)
        if used is None:
            raise NotAuthenticated(_SPENT_LINK)
        session, key = used
        return await self._start(key, is_admin=session.is_admin), key

    async def with_key(self, key: ApiKey) -> str:
        """Return the secret of a new session for a key that was authenticated."""
        return await self._start(key, is_admin=is_first_key(key))

    async def find(self, secret: str) -> ConsoleSession:
        """Return the session with this secret; raise `NotAuthenticated` if there is none."""
        digest, now = api_key_digest(secret), self.clock.now()
        found = await self.storage.read(
            lambda stores: stores.console_sessions.find(digest, SessionKind.SESSION, now)
        )
        if found is None:
            raise NotAuthenticated("You are signed out.")
        return found

    async def sign_out(self, secret: str, *, everywhere: bool) -> int:
        """End this session, or all sessions of its key; return how many ended."""
        session = await self.find(secret)

        def end(stores: Stores) -> int:
            if everywhere:
                return stores.console_sessions.remove_of_key(session.key_digest)
            return int(stores.console_sessions.remove(session.digest))

        ended = await self.storage.write(end)
        self.keys.clear_cache()
        return ended

    async def _start(self, key: ApiKey, *, is_admin: bool) -> str:
        return await self._add(SessionKind.SESSION, key, SESSION_LIFETIME_S, is_admin=is_admin)

    async def _add(
        self, kind: SessionKind, key: ApiKey, lifetime_s: float, *, is_admin: bool
    ) -> str:
        prefix = SESSION_PREFIX if kind is SessionKind.SESSION else _LINK_PREFIX
        secret, now = prefix + secrets.token_urlsafe(32), self.clock.now()
        session = ConsoleSession(
            digest=api_key_digest(secret),
            kind=kind,
            user=User(key.tenant_id, key.user_id),
            key_digest=key.digest,
            is_admin=is_admin,
            created_at=now,
            expires_at=now + lifetime_s,
        )

        def add(stores: Stores) -> None:
            stores.console_sessions.remove_expired(now)
            stores.console_sessions.add(session)

        await self.storage.write(add)
        return secret


def is_first_key(key: ApiKey) -> bool:
    """Return whether a key is the one that the installation made for its own machine."""
    return key.id > 0 and key.label == FIRST_KEY_LABEL and key.limits == KeyLimits()
