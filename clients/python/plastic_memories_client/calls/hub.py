"""The hub itself: health, settings, jobs, audit, export and import"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ..models import (
    AuditEntry,
    Capabilities,
    ExportedFile,
    Health,
    Imported,
    Job,
    MemoryItem,
    Result,
    UserSettings,
)
from ..options import ExportFormat
from ..protocol import Call, file, get, given, post, record, records, result, text
from .origin import CallsFrom

Lines = bytes | str | os.PathLike[str] | Iterable[bytes | str]


def lines_of(source: Lines) -> bytes:
    r"""Return the JSON lines of a text, a file (named by a path) or an iterable of lines.

    >>> lines_of(['{"a": 1}', b'{"a": 2}'])
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


class HubCalls(CallsFrom):
    """Everything that is not about one memory."""

    __slots__ = ()

    def health(self) -> Call[Health]:
        return get("/health", result(Health))

    def capabilities(self) -> Call[Capabilities]:
        return get("/capabilities", result(Capabilities))

    def metrics(self) -> Call[str]:
        return get("/metrics", text)

    def user_settings(self) -> Call[UserSettings]:
        return get("/user/settings", record(UserSettings, "settings"))

    def user_settings_update(
        self, time_zone: str | None, language: str | None
    ) -> Call[UserSettings]:
        body = given(time_zone=time_zone, language=language)
        return post("/user/settings", record(UserSettings, "settings"), body)

    def upcoming_events(self, days: int, persona_id: str | None) -> Call[list[MemoryItem]]:
        return get("/events/upcoming", records(MemoryItem), self.about(persona_id, days=days))

    def jobs(self, status: str | None) -> Call[list[Job]]:
        return get("/jobs", records(Job), given(status=status))

    def jobs_run(self, session_id: str | None, wait: bool, persona_id: str | None) -> Call[Job]:
        body = self.about(persona_id, session_id=session_id, wait=wait)
        return post("/jobs/run", record(Job, "job"), body)

    def jobs_replay(self, job_id: int | str | None, status: str | None) -> Call[Result]:
        return post("/jobs/replay", result(Result), given(job_id=job_id, status=status))

    def audit(self, since: float | None, memory_id: int | None) -> Call[list[AuditEntry]]:
        return get("/audit", records(AuditEntry), given(since=since, memory_id=memory_id))

    def export(self, file_format: ExportFormat) -> Call[bytes]:
        return get("/export", file, {"format": file_format})

    def export_file(self) -> Call[ExportedFile]:
        return post("/export/file", record(ExportedFile), {})

    def export_files(self) -> Call[list[ExportedFile]]:
        return get("/export/files", records(ExportedFile))

    def import_lines(self, source: Lines, dry_run: bool, trust: bool) -> Call[Imported]:
        return Call(
            method="POST",
            path="/import",
            read=result(Imported),
            # A hub of an older release knows no `trust`.
            params={"dry_run": dry_run, **({"trust": True} if trust else {})},
            content=lines_of(source),
            content_type="application/x-ndjson",
        )
