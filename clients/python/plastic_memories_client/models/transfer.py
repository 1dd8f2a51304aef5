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
    import_id: int | None = None  # for `import_undo`
    counts: dict[str, Any] = Field(default_factory=dict)
    conflicts: list[Any] = Field(default_factory=list)


class ImportUndone(Result):
    """What was taken back, and the ids of what stays because it was changed or used since."""

    import_id: int | None = None
    counts: dict[str, int] = Field(default_factory=dict)
    kept: dict[str, list[int]] = Field(default_factory=dict)
