"""Memories and drafts, with their types, statuses and scopes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from operator import attrgetter
from typing import Any, get_type_hints

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


# The persona's confirmed identity: these always start as candidates.
SLOT_TYPES = frozenset(
    {MemoryType.IDENTITY, MemoryType.CONSTRAINTS, MemoryType.VALUES, MemoryType.PREFERENCES}
)
# How a persona calls the user; each may use another name.
ADDRESS_KEYS = frozenset({"basic_info.address", "basic_info.nickname"})
# What a row says whose words are gone with the message they came from.
RETRACTED_TEXT = "（已撤回 · retracted）"
# Slots that may hold several active rows at once (`coexist`).
LIST_SLOTS = frozenset({MemoryType.PREFERENCES, MemoryType.CONSTRAINTS})


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryBase:
    """What a draft says, and the memory made from it says unchanged. Empty text is "not given"."""

    type: MemoryType
    key: str
    content: str
    tags: tuple[str, ...] = ()
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
    pinned: bool = False
    expires_at: float | None = None
    occurred_at: float | None = None
    supersedes_id: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    idempotency_key: str = ""

    @property
    def scope_ref(self) -> str:
        """Return the session or app a narrow scope is bound to."""
        if self.scope is Scope.SESSION:
            return self.session_id
        return self.source_app if self.scope is Scope.APP else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft(MemoryBase):
    """What somebody would like remembered, before the rules have spoken."""

    confidence: float | None = None
    importance: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(MemoryBase):
    """One version of one remembered thing."""

    id: int
    owner: Owner
    status: Status
    confidence: float
    importance: float
    superseded_by: int | None
    # Id of the first version. Every version carries it, so that history and forget find the whole
    # chain with one query.
    root_id: int
    created_at: float
    updated_at: float
    last_recalled_at: float | None
    recall_count: int
    # All personas share a user fact: this one was told it, and its deletion erases it.
    told_to: str = ""

    @property
    def is_slot(self) -> bool:
        return self.type in SLOT_TYPES

    def is_expired_at(self, now: float) -> bool:
        """Return whether the memory's expiry has passed, even if the sweep has not run yet."""
        return self.expires_at is not None and self.expires_at <= now


BASE_FIELDS = tuple(item.name for item in fields(MemoryBase))
TEXT_FIELDS = tuple(name for name, kind in get_type_hints(MemoryBase).items() if kind is str)
_base_values = attrgetter(*BASE_FIELDS)


def base_fields(row: MemoryBase) -> dict[str, Any]:
    """Return what a draft and its memory share, by name."""
    return dict(zip(BASE_FIELDS, _base_values(row), strict=True))


@dataclass(frozen=True, slots=True)
class MemoryOutline:
    """A memory without what only its reader needs, and when its first version was made."""

    owner: Owner  # the persona that was asked
    id: int
    root_id: int
    type: MemoryType
    content: str
    tags: tuple[str, ...]
    session_id: str
    source_app: str
    speaker: str
    told_to: str
    occurred_at: float | None
    created_at: float
    updated_at: float
    made_at: float
    metadata: Mapping[str, Any]
    attributes: Mapping[str, Any]
