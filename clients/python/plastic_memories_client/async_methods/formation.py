"""Jobs that form memories out of conversations."""

from __future__ import annotations

from ..models import Job, Result
from .sender import AsyncSender


class AsyncFormation(AsyncSender):
    async def jobs(self, status: str | None = None) -> list[Job]:
        """Return the hub's work on the user's conversations."""
        return await self._send(self._calls.jobs(status))

    async def jobs_run(
        self,
        session_id: str | None = None,
        *,
        wait: bool = False,
        persona_id: str | None = None,
    ) -> Job:
        """Digest now; with `wait`, answer when it is done."""
        return await self._send(self._calls.jobs_run(session_id, wait, persona_id))

    async def jobs_replay(
        self, job_id: int | str | None = None, *, status: str | None = None
    ) -> Result:
        """Try a job again, or all of a status (`dead`)."""
        return await self._send(self._calls.jobs_replay(job_id, status))
