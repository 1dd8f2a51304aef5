"""Do jobs: hold the lease, take the step, settle what came of it."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from plastic_memories.errors import Conflict, PlasticMemoriesError, Unavailable
from plastic_memories.hub.formation.archiving import ArchiveTalk
from plastic_memories.hub.formation.digest import Digest
from plastic_memories.hub.formation.export_files import ExportFiles
from plastic_memories.hub.formation.jobs import Jobs, complete
from plastic_memories.model.job import Job, JobStatus, TaskType
from plastic_memories.ports.meter import Meter
from plastic_memories.runtime.metered_storage import working_for
from plastic_memories.runtime.pacing import rest_since
from plastic_memories.runtime.wakeup import Bell

logger = logging.getLogger(__name__)
# A lease is renewed this many times before it would run out.
_BEATS = 3
_LOOK_AGAIN_S = 0.05
# How long a scrub that was held up waits for its next try.
_SCRUB_AGAIN_S = 5.0


@dataclass(frozen=True, slots=True)
class Work:
    jobs: Jobs
    digest: Digest
    archive: ArchiveTalk
    exports: ExportFiles
    meter: Meter
    bell: Bell

    async def next(self, worker: str) -> bool:
        """Do the job that waits longest; say whether there was one."""
        job = await self.jobs.lease(worker)
        if job is None:
            return False
        await self._do(job)
        return True

    async def finish(self, job: Job, timeout_s: float) -> Job:
        """Do a certain job now, or wait for whoever does it; return how it stands at the end."""
        worker = f"caller-{token_hex(8)}"
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            leased = await self.jobs.lease_this(worker, job)
            if leased is not None:
                await self._do(leased)
                break
            job = await self.jobs.get(job.owner.user, job.id)
            if not job.is_open:
                return job
            await asyncio.sleep(_LOOK_AGAIN_S)
        return await self.jobs.get(job.owner.user, job.id)

    async def through(self, job: Job, timeout_s: float) -> Job:
        """Do a job and those that follow from it; return the last digest as it stands."""
        done = await self.finish(job, timeout_s)
        last = done
        while not last.is_open and (following := await self.jobs.open_beside(last)):
            last = await self.finish(following, timeout_s)
            done = done if last.task_type is TaskType.ARCHIVE else last
        return done

    async def all_due(self, worker: str, rest: float = 0.0) -> int:
        """Do jobs until none is due; return how many were done.

        After each it rests `rest` times as long as that took, and never long.
        """
        done = 0
        started = time.monotonic()
        while await self.next(worker):
            done += 1
            await rest_since(started, rest)
            started = time.monotonic()
        return done

    async def measure(self, tenant_id: str | None) -> None:
        """Show how much waits: of one tenant, or of all for None."""
        try:
            depth = await self.jobs.depth()
        except Unavailable:  # the other numbers are needed all the more
            return
        mine = [one for one in depth if tenant_id in (None, one.tenant_id)]
        oldest = min((one.oldest for one in mine if one.oldest is not None), default=None)
        age = 0.0 if oldest is None else max(0.0, self.jobs.ledger.clock.now() - oldest)
        self.meter.show(tenant_id, "memory_jobs_waiting", sum(one.waiting for one in mine))
        self.meter.show(tenant_id, "memory_jobs_oldest_seconds", age)
        self.meter.show(tenant_id, "memory_jobs_dead", sum(one.dead for one in mine))

    async def _do(self, job: Job) -> None:
        started = time.perf_counter()
        asked_by = working_for.set(job.owner.tenant_id)
        beat = asyncio.create_task(self._hold(job), name=f"lease of job {job.id}")
        try:
            status = await self._attempt(job)
        finally:
            beat.cancel()
            with suppress(asyncio.CancelledError):
                await beat
            working_for.reset(asked_by)
        tenant = job.owner.tenant_id
        seconds = time.perf_counter() - started
        self.meter.count(tenant, "memory_generation_tasks", status=status)
        self.meter.observe(tenant, "memory_generation_latency_seconds", seconds)
        logger.info("job.done", extra={"fields": _fields(job, status)})
        self.bell.ring()  # what comes next may be due at once

    async def _attempt(self, job: Job) -> str:
        """Return the status a try led to; whatever goes wrong is settled here, and only here."""
        try:
            return (await self._step(job)).status.value
        except asyncio.CancelledError:  # we are told to stop: another may go on at once
            with suppress(Conflict, Unavailable):
                await asyncio.shield(self.jobs.release(job))
            raise
        except Conflict as error:
            return await self._failed(job, error.message)
        except Unavailable as error:
            return await self._wait_for(job, error)
        except PlasticMemoriesError as error:
            return await self._failed(job, error.message)
        except Exception as error:  # the boundary: one bad job must not stop all others
            logger.exception("job.error", extra={"fields": _fields(job, "error")})
            return await self._failed(job, f"A bug: {type(error).__name__}.")

    async def _step(self, job: Job) -> Job:
        if job.task_type is TaskType.ARCHIVE:
            return await self.archive(job)
        if job.task_type is TaskType.EXPORTS:
            return await self.exports(job)
        if job.task_type is TaskType.SCRUB:
            return await self._scrub(job)
        return await self.digest(job)

    async def _scrub(self, job: Job) -> Job:
        ledger = self.jobs.ledger
        if (await ledger.storage.scrub()).pending:
            # A reader may take its time: that is no failure, and is never given up.
            return await self.jobs.release(job, _SCRUB_AGAIN_S)
        now = ledger.clock.now()
        return await ledger.write(lambda stores: complete(stores, job, (), now))

    async def _wait_for(self, job: Job, error: Unavailable) -> str:
        detail = error.detail if isinstance(error.detail, dict) else {}
        # What was forgotten must leave the archive, however long its disk is full.
        is_outage = job.task_type is not TaskType.FULL
        return await self._failed(
            job, error.message, detail.get("retry_after_s"), is_outage=is_outage
        )

    async def _failed(
        self, job: Job, reason: str, retry_after_s: float | None = None, *, is_outage: bool = False
    ) -> str:
        try:
            return (
                await self.jobs.fail(job, reason, retry_after_s, is_outage=is_outage)
            ).status.value
        except Conflict:  # somebody else has it now, and settles it
            return JobStatus.FAILED.value

    async def _hold(self, job: Job) -> None:
        while True:
            await asyncio.sleep(self.jobs.options.lease_s / _BEATS)
            try:
                await self.jobs.extend(job)
            except (Conflict, Unavailable) as error:
                logger.warning("job.lease", extra={"fields": {"err": error.message}})


def _fields(job: Job, status: str) -> dict[str, Any]:
    return {
        "job_id": job.id,
        "user_id": job.owner.user_id,
        "persona_id": job.owner.persona_id,
        "task_type": job.task_type.value,
        "trigger": job.trigger.value,
        "status": status,
    }
