# Generated from the hub's wire/memory.py (`make docs`); do not edit.
"""What a memory may say about itself, and what can be changed later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

Realm = Literal["real", "story", "hypothetical", "ooc"]
Scope = Literal["session", "app", "persona", "global"]
SourceType = Literal["user_explicit", "model_inferred", "imported", "tool"]


class MemoryFields(TypedDict, total=False):
    """What a memory may say about itself."""

    tags: Sequence[str]
    ttl_seconds: float | None
    expires_at: float | None
    temporary: bool
    scope: Scope
    realm: Realm
    source_type: SourceType
    source_ref: str | None
    source_app: str | None
    session_id: str | None
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
    """What is given is sent, None too: `expires_at=None` takes the expiry away."""

    content: str | None
    tags: Sequence[str] | None
    importance: float | None
    pinned: bool | None
    scope: Scope | None
    expires_at: float | None
