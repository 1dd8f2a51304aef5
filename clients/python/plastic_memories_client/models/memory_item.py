# Generated from the hub's wire models (`make docs`); do not edit.
"""A memory as the hub returns it."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from .record import Record


class Replaced(Record):
    """An active memory that confirming the candidate would end."""

    memory_id: int = 0
    key: str = ""
    content: str = ""


class MemoryItem(Record):
    """One version of a memory. Times are epoch seconds, UTC."""

    id: int = 0
    persona_id: str = ""
    type: str = ""
    key: str = ""
    mkey: str = ""
    content: str = ""
    tags: list[str] = Field(default_factory=list)
    status: str = ""
    scope: str = ""
    realm: str = "real"
    source_type: str = ""
    source_ref: str = ""
    source_app: str = ""
    bot_id: str = ""
    session_id: str = ""
    branch_id: str = ""
    speaker: str = ""
    source_message_ids: list[int] = Field(default_factory=list)
    quote: str = ""
    confidence: float | None = None
    importance: float | None = None
    pinned: bool = False
    expires_at: int | None = None
    occurred_at: float | None = None
    supersedes_id: int | None = None
    superseded_by: int | None = None
    created_at: float | None = None
    updated_at: float | None = None
    last_recalled_at: float | None = None
    recall_count: int = 0
    metadata: dict[str, Any] = Field(default_factory=dict)
    attributes: dict[str, Any] = Field(default_factory=dict)
    replaces: list[Replaced] = Field(default_factory=list)
    score: float | None = None
    unconfirmed: bool | None = None
    changes: list[dict[str, Any]] = Field(default_factory=list)
