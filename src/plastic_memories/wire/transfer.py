"""Request and response bodies of export and import."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from plastic_memories.wire.fields import Id, IdParam, Name, RequestBody, ResponseBody


class ImportResponse(ResponseBody):
    status: str
    dry_run: bool
    trusted: bool  # our own export, or trusted by the caller: statuses were kept
    import_id: int | None  # for /import/undo; a dry run has none
    counts: dict[str, int]
    conflicts: list[dict[str, Any]]
    skipped: list[dict[str, Any]]


class ExportQuery(RequestBody):
    format: Literal["jsonl", "markdown", "bundle"] = "jsonl"
    persona_id: Name | None = None


class ExportFileRow(ResponseBody):
    path: str  # in the archive
    exported_at: str  # ISO 8601, UTC


class WriteExportResponse(ExportFileRow):
    status: str


class ExportFilesResponse(ResponseBody):
    items: list[ExportFileRow]


class ImportQuery(RequestBody):
    dry_run: bool = False
    trust: bool = False
    import_id: IdParam | None = Field(
        default=None, description="Continue this import: both are undone together."
    )


class UndoImportRequest(RequestBody):
    import_id: Id


class UndoImportResponse(ResponseBody):
    status: str
    import_id: int
    counts: dict[str, int]
    kept: dict[str, list[int]]  # ids of rows that were changed or used since, and stay
