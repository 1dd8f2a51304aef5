"""Calls to /jobs and /archive."""

from __future__ import annotations

from typing import Unpack

from ..models import ArchivedConversation, ArchivePage, Job, Result
from ..options import ArchiveFilter, ArchivePlace
from ..protocol import Call, get, post, record, records, result, without_none
from .context import CallContext


class FormationCalls(CallContext):
    __slots__ = ()

    def jobs(self, status: str | None) -> Call[list[Job]]:
        return get("/jobs", records(Job), without_none(status=status))

    def jobs_run(self, session_id: str | None, wait: bool, persona_id: str | None) -> Call[Job]:
        body = self.persona_fields(persona_id, session_id=session_id, wait=wait)
        return post("/jobs/run", record(Job, "job"), body)

    def jobs_replay(self, job_id: int | str | None, status: str | None) -> Call[Result]:
        return post("/jobs/replay", result(Result), without_none(job_id=job_id, status=status))

    def archive_list(self, **wanted: Unpack[ArchiveFilter]) -> Call[ArchivePage]:
        params = self.persona_fields(None) | without_none(**wanted)
        return get("/archive/list", result(ArchivePage), params)

    def archive_get(
        self, session_id: str, **place: Unpack[ArchivePlace]
    ) -> Call[ArchivedConversation]:
        params = self.persona_fields(None, session_id=session_id) | without_none(**place)
        return get("/archive/get", result(ArchivedConversation), params)
