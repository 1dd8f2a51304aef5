"""Bodies of health, capabilities, import, audit."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from plastic_memories.wire.fields import Body, IdParam, Name, Out, Page
from plastic_memories.wire.memories import Change


class Health(Out):
    status: str


class Capabilities(Out):
    version: str
    plugged_in: dict[str, str]
    types: list[str]
    slot_types: list[str]
    statuses: list[str]
    scopes: list[str]
    realms: list[str]
    limits: dict[str, Any]
    features: list[str]
    templates: list[str]
    embedder: dict[str, Any]


class Metrics(Out):
    samples: list[dict[str, Any]]


class Imported(Out):
    status: str
    dry_run: bool
    trusted: bool  # our own export, or vouched for: statuses were kept
    counts: dict[str, int]
    conflicts: list[dict[str, Any]]
    skipped: list[dict[str, Any]]


class ExportQuery(Body):
    format: Literal["jsonl", "markdown", "bundle"] = "jsonl"
    persona_id: Name | None = None


class ExportedFile(Out):
    path: str  # in the archive
    exported_at: str  # ISO 8601, UTC


class WrittenExport(ExportedFile):
    status: str


class ExportedFiles(Out):
    items: list[ExportedFile]


class ImportQuery(Body):
    dry_run: bool = False
    trust: bool = False


class AuditQuery(Body):
    since: Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)] = 0
    memory_id: IdParam | None = None
    after_id: Annotated[int, Field(ge=0, le=2**62)] = 0
    limit: Page = 50


class AuditLine(Change):
    persona_id: str
    memory_id: int | None


class Audit(Out):
    items: list[AuditLine]
    next_after_id: int | None
