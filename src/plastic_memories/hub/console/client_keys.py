"""Create, list and revoke keys for client programs, within the rights of the signed-in key."""

from __future__ import annotations

from dataclasses import dataclass, replace

from plastic_memories.errors import NotAllowed, NotFound
from plastic_memories.hub.api_keys import FIRST_KEY_LABEL, ApiKeys
from plastic_memories.model.key import ANY_USER, ApiKey, Caller, KeyLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyWish:
    """What somebody wants a new key to be."""

    label: str
    read_only: bool = False
    for_all_users: bool = False


@dataclass(frozen=True, slots=True)
class ClientKeys:
    keys: ApiKeys

    async def create(self, caller: Caller, wish: KeyWish, *, is_admin: bool) -> tuple[str, ApiKey]:
        """Create a key that may do no more than the caller's; return its text, shown only now.

        A key for every user of the tenant takes an app key, or the operator of the hub.
        """
        own = caller.key
        if own.limits.read_only and not wish.read_only:
            raise NotAllowed("A key that may only read makes keys that may only read.")
        if wish.for_all_users and not (own.is_app_key or is_admin):
            raise NotAllowed("Only an app key or the operator makes a key for every user.")
        limits = replace(own.limits, read_only=wish.read_only, allow_reset=False)
        user_id = ANY_USER if wish.for_all_users else caller.user.user_id
        label = wish.label if wish.label != FIRST_KEY_LABEL else ""
        return await self.keys.create(own.tenant_id, user_id, label, limits)

    async def list_keys(self, caller: Caller, *, is_admin: bool) -> list[ApiKey]:
        """Return the keys the caller may see and revoke, the newest first."""
        stored = await self.keys.list_keys()
        seen = [key for key in stored if _may_see(caller, key, is_admin=is_admin)]
        return sorted(seen, key=lambda key: -key.id)

    async def revoke(self, caller: Caller, key_id: int, *, is_admin: bool) -> None:
        """Revoke a key of the list; the key in use revokes itself by signing out everywhere."""
        seen = await self.list_keys(caller, is_admin=is_admin)
        if not any(key.id == key_id for key in seen):
            raise NotFound(f"There is no active key {key_id}.")
        await self.keys.revoke(key_id)


def _may_see(caller: Caller, key: ApiKey, *, is_admin: bool) -> bool:
    if key.revoked_at is not None or key.tenant_id != caller.key.tenant_id:
        return False
    if is_admin or caller.key.is_app_key:
        return True
    # A key that is bound to a part of what the user owns shows no key that is not.
    own, other = caller.key.limits, key.limits
    is_within = own == KeyLimits() or replace(own, read_only=False) == replace(
        other, read_only=False
    )
    return key.user_id == caller.user.user_id and is_within
