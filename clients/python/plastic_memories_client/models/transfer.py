"""Models of exports and imports."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from .record import Record, Result


class ExportedFile(Record):
    """One export in the hub's archive; the time is ISO 8601 in UTC."""

    path: str = ""
    exported_at: str = ""


class Imported(Result):
    counts: dict[str, Any] = Field(default_factory=dict)
    conflicts: list[Any] = Field(default_factory=list)
