# Generated from the hub's wire models (`make docs`); do not edit.
"""Fields of requests about memories, as the hub names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

Realm = Literal["real", "story", "hypothetical", "ooc"]
Scope = Literal["session", "app", "persona", "global"]
SourceType = Literal["user_explicit", "model_inferred", "imported", "tool"]


class MemoryFields(TypedDict, total=False):
    """Optional fields of a memory."""

    session_id: str | None
    platform: str | None
    message_type: str | None
    tags: Sequence[str]
    ttl_seconds: float | None
    expires_at: float | None
    temporary: bool
    scope: Scope
    realm: Realm
    source_type: SourceType
    source_ref: str | None
    source_app: str | None
    bot_id: str | None
    speaker: str | None
    quote: str | None
    source_message_ids: Sequence[int]
    occurred_at: float | None
    confidence: float | None
    importance: float | None
    pinned: bool
    metadata: Mapping[str, Any]
    attributes: Mapping[str, Any]
    supersedes_id: int | None
    idempotency_key: str | None


class MemoryChange(TypedDict, total=False):
    """Given fields are sent, None too: `expires_at=None` removes the expiry."""

    content: str | None
    tags: Sequence[str] | None
    importance: float | None
    pinned: bool | None
    scope: Scope | None
    expires_at: float | None


class ListFields(TypedDict, total=False):
    """Filters of a memory list."""

    session_id: str | None
    platform: str | None
    message_type: str | None
    status: Literal["active", "candidate", "revoked", "expired", "all"]
    type: str | None
    scope: Scope | None
    realm: Realm | None
    key_prefix: str | None
    event_type: str | None
    min_importance: float | None
    since: float | None
    until: float | None
    q: str | None
    sort: str
    limit: int


class ForgetFields(TypedDict, total=False):
    """What to forget, and how."""

    memory_id: int | None
    memory_ids: Sequence[int] | None
    query: str | None
    dry_run: bool
    never_again: bool
    include_messages: bool


class RecallFields(TypedDict, total=False):
    """Optional fields of a recall."""

    platform: str | None
    message_type: str | None
    limit: int
    only_session: bool
    budget_tokens: int | None
    also: Sequence[str]
    realm: Realm | None
    types: Sequence[str] | None
    exclude_message_ids: Sequence[int]
    now: float | None
    explain: bool
    deadline_ms: int | None
