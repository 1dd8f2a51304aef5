# Generated from async_methods/formation.py (`make docs`); do not edit.
"""Methods for the jobs that form memories from conversations."""

from __future__ import annotations

from ..models import Job, Result
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
