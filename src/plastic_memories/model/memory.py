"""One thing remembered, and the words around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from plastic_memories.model.owner import Owner, Realm


class MemoryType(StrEnum):
    PERSONA = "persona"
    RULE = "rule"
    GLOSSARY = "glossary"
    STABLE_FACT = "stable_fact"
    NOTE = "note"
    FACT = "fact"
    IDENTITY = "identity"
    CONSTRAINTS = "constraints"
    VALUES = "values"
    PREFERENCES = "preferences"
    PROFILE = "profile"
    EVENT = "event"
    SUMMARY = "summary"


class Status(StrEnum):
    CANDIDATE = "candidate"
    ACTIVE = "active"
    REVOKED = "revoked"
    EXPIRED = "expired"


class Scope(StrEnum):
    """How far a memory reaches: one session, one app, one persona, or all of them."""

    SESSION = "session"
    APP = "app"
    PERSONA = "persona"
    GLOBAL = "global"


class SourceType(StrEnum):
    USER_EXPLICIT = "user_explicit"
    MODEL_INFERRED = "model_inferred"
    IMPORTED = "imported"
    TOOL = "tool"


# The persona's confirmed identity: always a candidate first.
SLOT_TYPES = frozenset(
    {MemoryType.IDENTITY, MemoryType.CONSTRAINTS, MemoryType.VALUES, MemoryType.PREFERENCES}
)
# These may hold several active rows at once (`coexist`).
LIST_SLOTS = frozenset({MemoryType.PREFERENCES, MemoryType.CONSTRAINTS})


def _scope_ref(scope: Scope, session_id: str, source_app: str) -> str:
    """Return the session or app a narrow scope is bound to."""
    if scope is Scope.SESSION:
        return session_id
    return source_app if scope is Scope.APP else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What somebody would like remembered, before the rules have spoken."""

    type: MemoryType
    key: str
    content: str
    tags: tuple[str, ...] = ()
    expires_at: float | None = None
    scope: Scope = Scope.PERSONA
    realm: Realm = Realm.REAL
    source_type: SourceType = SourceType.USER_EXPLICIT
    source_ref: str = ""
    source_app: str = ""
    bot_id: str = ""
    session_id: str = ""
    branch_id: str = ""
    speaker: str = ""
    source_message_ids: tuple[int, ...] = ()
    quote: str = ""
    occurred_at: float | None = None
    confidence: float | None = None
    importance: float | None = None
    pinned: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    supersedes_id: int | None = None
    idempotency_key: str = ""

    @property
    def scope_ref(self) -> str:
        return _scope_ref(self.scope, self.session_id, self.source_app)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One version of one remembered thing. Empty text means "not given"."""

    id: int
    owner: Owner
    type: MemoryType
    key: str
    content: str
    tags: tuple[str, ...]
    status: Status
    scope: Scope
    realm: Realm
    source_type: SourceType
    source_ref: str
    source_app: str
    bot_id: str
    session_id: str
    branch_id: str
    speaker: str
    source_message_ids: tuple[int, ...]
    quote: str
    confidence: float
    importance: float
    pinned: bool
    expires_at: float | None
    occurred_at: float | None
    supersedes_id: int | None
    superseded_by: int | None
    # The first version of this thing: every version carries it, so that history and
    # forget find the whole chain with one look.
    root_id: int
    created_at: float
    updated_at: float
    last_recalled_at: float | None
    recall_count: int
    metadata: Mapping[str, Any]
    attributes: Mapping[str, Any]
    idempotency_key: str

    @property
    def is_slot(self) -> bool:
        return self.type in SLOT_TYPES

    @property
    def scope_ref(self) -> str:
        return _scope_ref(self.scope, self.session_id, self.source_app)

    def is_expired_at(self, now: float) -> bool:
        """Say whether the memory's own expiry has come, swept or not."""
        return self.expires_at is not None and self.expires_at <= now
