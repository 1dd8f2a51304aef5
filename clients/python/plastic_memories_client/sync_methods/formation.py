# Generated from async_methods/formation.py (`make docs`); do not edit.
"""Jobs that form memories out of conversations."""

from __future__ import annotations

from ..models import Job, Result
from .sender import Sender


class Formation(Sender):
    def jobs(self, status: str | None = None) -> list[Job]:
        """Return the hub's work on the user's conversations."""
        return self._send(self._calls.jobs(status))

    def jobs_run(
        self,
        session_id: str | None = None,
        *,
        wait: bool = False,
        persona_id: str | None = None,
    ) -> Job:
        """Digest now; with `wait`, answer when it is done."""
        return self._send(self._calls.jobs_run(session_id, wait, persona_id))

    def jobs_replay(self, job_id: int | str | None = None, *, status: str | None = None) -> Result:
        """Try a job again, or all of a status (`dead`)."""
        return self._send(self._calls.jobs_replay(job_id, status))
