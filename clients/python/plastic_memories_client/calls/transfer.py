"""Calls to /export and /import."""

from __future__ import annotations

import os
from pathlib import Path

from ..models import ExportedFile, Imported, ImportUndone
from ..options import ExportFormat, Lines
from ..protocol import Call, file, get, post, record, records, result, without_none
from .context import CallContext


def json_lines(source: Lines) -> bytes:
    r"""Return the JSON lines of a text, a file (named by a path) or an iterable of lines.

    >>> json_lines(['{"a": 1}', b'{"a": 2}'])
    b'{"a": 1}\n{"a": 2}\n'
    """
    if isinstance(source, bytes):
        return source
    if isinstance(source, str):
        return source.encode()
    if isinstance(source, os.PathLike):
        return Path(source).read_bytes()
    lines = (line.encode() if isinstance(line, str) else line for line in source)
    return b"".join(line.rstrip(b"\r\n") + b"\n" for line in lines)


class TransferCalls(CallContext):
    __slots__ = ()

    def export(self, file_format: ExportFormat) -> Call[bytes]:
        return get("/export", file, {"format": file_format})

    def export_file(self) -> Call[ExportedFile]:
        return post("/export/file", record(ExportedFile), {})

    def export_files(self) -> Call[list[ExportedFile]]:
        return get("/export/files", records(ExportedFile))

    def import_lines(
        self, source: Lines, dry_run: bool, trust: bool, import_id: int | None
    ) -> Call[Imported]:
        # A hub of an older release knows neither `trust` nor `import_id`.
        more = without_none(trust=trust or None, import_id=import_id)
        return Call(
            method="POST",
            path="/import",
            read=result(Imported),
            params={"dry_run": dry_run, **more},
            content=json_lines(source),
            content_type="application/x-ndjson",
        )

    def import_undo(self, import_id: int) -> Call[ImportUndone]:
        return post("/import/undo", result(ImportUndone), {"import_id": import_id})
