"""Models of health, limits, settings, audit and events."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from .record import Record, Result


class Health(Result):
    """`components` and the backlogs are included only for a caller with a key."""

    status: str = ""
    components: dict[str, Any] = Field(default_factory=dict)
    embedding_backlog: int | None = None
    message_index_backlog: int | None = None


class Capabilities(Result):
    """The installed parts and the limits of this hub; the rest is in `raw`."""

    version: str = ""
    types: list[str] = Field(default_factory=list)
    statuses: list[str] = Field(default_factory=list)
    scopes: list[str] = Field(default_factory=list)
    limits: dict[str, Any] = Field(default_factory=dict)


class Rebuilt(Result):
    status: str = ""
    counts: dict[str, Any] = Field(default_factory=dict)
    seconds: float = 0.0


class UserSettings(Record):
    time_zone: str = ""
    language: str = ""


class AuditEntry(Record):
    """Who changed what, when, by which key."""

    id: int | None = None
    event: str = ""
    ts: float | None = None
    persona_id: str = ""
    memory_id: int | None = None
    request_id: str = ""
    key_label: str = ""
    data: dict[str, Any] = Field(default_factory=dict)


class HubEvent(Record):
    """A change: ids and numbers, never the text of a memory."""

    id: int = 0
    event: str
    ts: float = 0.0
    request_id: str = ""
    persona_id: str = ""
    data: dict[str, Any] = Field(default_factory=dict)
