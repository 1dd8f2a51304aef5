"""Models of jobs and of finished conversations."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from .record import Record, Result


class Job(Record):
    task_id: int | str | None = None
    task_type: str = ""
    status: str = ""
    trigger: str = ""
    retry_count: int = 0
    max_retries: int = 0
    error_message: str = ""
    created_at: float | None = None
    started_at: float | None = None
    completed_at: float | None = None


class ArchiveSummary(Record):
    text: str = ""
    topics: list[str] = Field(default_factory=list)
    emotion: str = ""


class ArchivedMessage(Record):
    msg_id: int | None = None
    role: str = ""
    content: str = ""
    timestamp: str = ""
    speaker: str | None = None


class ArchivedTalk(Record):
    """What a list tells of a finished conversation; times are ISO 8601, UTC."""

    session_id: str = ""
    persona_id: str = ""
    bot_id: str | None = None
    source_app: str | None = None
    branch_id: str | None = None
    start_time: str = ""
    end_time: str = ""
    message_count: int = 0
    summary: ArchiveSummary = Field(default_factory=ArchiveSummary)
    archive_path: str = ""


class ArchivePage(Result):
    """One page of finished conversations; `next_cursor` requests the next page."""

    items: list[ArchivedTalk] = Field(default_factory=list)
    next_cursor: str | int | None = None


class ArchivedConversation(Result, ArchivedTalk):
    """A finished conversation with its messages and what was learned from them."""

    messages: list[ArchivedMessage] = Field(default_factory=list)
    extracted_profiles: list[dict[str, Any]] = Field(default_factory=list)
    extracted_events: list[dict[str, Any]] = Field(default_factory=list)
