# Generated from async_methods/formation.py (`make docs`); do not edit.
"""Methods for the jobs that form memories from conversations, and for finished ones."""

from __future__ import annotations

from typing import Unpack

from ..models import ArchivedConversation, ArchivePage, Job, Result
from ..options import ArchiveFilter, ArchivePlace
from .sender import Sender


class Formation(Sender):
    def jobs(self, status: str | None = None) -> list[Job]:
        """Return the jobs of the user's conversations."""
        return self._send(self._calls.jobs(status))

    def jobs_run(
        self,
        session_id: str | None = None,
        *,
        wait: bool = False,
        persona_id: str | None = None,
    ) -> Job:
        """Digest pending messages now; with `wait`, return when it is done."""
        return self._send(self._calls.jobs_run(session_id, wait, persona_id))

    def jobs_replay(self, job_id: int | str | None = None, *, status: str | None = None) -> Result:
        """Retry a job, or all with a status (`dead`)."""
        return self._send(self._calls.jobs_replay(job_id, status))

    def archive_list(self, **wanted: Unpack[ArchiveFilter]) -> ArchivePage:
        """Return one page of finished conversations, the last begun first."""
        return self._send(self._calls.archive_list(**wanted))

    def archive_get(self, session_id: str, **place: Unpack[ArchivePlace]) -> ArchivedConversation:
        """Return one finished conversation, without what was forgotten since."""
        return self._send(self._calls.archive_get(session_id, **place))
