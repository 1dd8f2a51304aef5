"""API keys, their limits, and the caller of a request."""

from __future__ import annotations

from dataclasses import dataclass, field

from plastic_memories.errors import NotAllowed
from plastic_memories.model.owner import Owner, User

ANY_USER = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLimits:
    """Restrictions of a key; the defaults restrict nothing."""

    read_only: bool = False
    persona_id: str = ""
    source_app: str = ""
    allow_reset: bool = False
    expires_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """An API key, stored by its digest, never by its text."""

    id: int  # 0 for a key from the environment
    digest: str
    tenant_id: str
    user_id: str  # ANY_USER for an app key
    label: str = ""
    limits: KeyLimits = field(default_factory=KeyLimits)
    created_at: float = 0.0
    revoked_at: float | None = None
    last_used_at: float | None = None  # to the hour; never for a key from the environment

    @property
    def is_app_key(self) -> bool:
        return self.user_id == ANY_USER


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The user and the key of the request that is being served."""

    user: User
    key: ApiKey
    request_id: str = ""

    def owner(self, persona_id: str) -> Owner:
        """Return one persona of this user; raise `NotAllowed` if the key is bound to another."""
        if self.key.limits.persona_id not in ("", persona_id):
            raise NotAllowed("This key is bound to another persona.")
        return Owner(self.user.tenant_id, self.user.user_id, persona_id)
