"""Run jobs: hold the lease, execute the task, record the outcome."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any

from plastic_memories.errors import Conflict, PlasticMemoriesError, Unavailable
from plastic_memories.hub.formation.archiving import ArchiveConversation
from plastic_memories.hub.formation.digest import Digest
from plastic_memories.hub.formation.export_files import ExportFiles
from plastic_memories.hub.formation.jobs import Jobs, complete_job
from plastic_memories.hub.formation.learn_at_once import LearnAtOnce
from plastic_memories.model.job import Job, JobStatus, TaskType
from plastic_memories.ports.meter import Meter
from plastic_memories.runtime.metered_storage import current_tenant
from plastic_memories.runtime.pacing import sleep_proportionally
from plastic_memories.runtime.wakeup import WakeUp

logger = logging.getLogger(__name__)
# A lease is renewed this many times before it would expire.
_HEARTBEATS_PER_LEASE = 3
_POLL_S = 0.05
# While jobs run and a place is free, jobs that became due are looked for this often.
_LOOK_AGAIN_S = 0.5
# Delay before a scrub that is still pending is retried.
_SCRUB_AGAIN_S = 5.0


@dataclass(frozen=True, slots=True)
class JobRunner:
    jobs: Jobs
    digest: Digest
    archive: ArchiveConversation
    exports: ExportFiles
    meter: Meter
    wakeup: WakeUp
    # What runs the jobs of other themes, set when those are assembled.
    handlers: dict[TaskType, Callable[[Job], Awaitable[Job]]] = field(default_factory=dict)

    async def run_or_await(self, job: Job, timeout_s: float) -> Job:
        """Run a given job now, or wait for the worker that runs it; return its latest state."""
        worker = f"caller-{token_hex(8)}"
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            leased = await self.jobs.lease_job(worker, job)
            if leased is not None:
                await self._run(leased)
                break
            job = await self.jobs.get(job.owner.user, job.id)
            if not job.is_open:
                return job
            await asyncio.sleep(_POLL_S)
        return await self.jobs.get(job.owner.user, job.id)

    async def run_with_followups(self, job: Job, timeout_s: float) -> Job:
        """Run a job and its follow-up jobs; return the last digest job in its latest state."""
        done = await self.run_or_await(job, timeout_s)
        last = done
        while not last.is_open and (followup := await self.jobs.find_open_sibling(last)):
            last = await self.run_or_await(followup, timeout_s)
            done = done if last.task_type is TaskType.ARCHIVE else last
        return done

    async def run_all_due(self, worker: str, rest: float = 0.0) -> int:
        """Run jobs until none is due; return how many were run.

        Where jobs wait for a model, several run at the same time. After each job its place stays
        empty for `rest` times as long as the job took, up to a limit.
        """
        done = 0
        running: set[asyncio.Task[None]] = set()
        try:
            while True:
                while job := await self._lease_next(worker, len(running)):
                    running.add(asyncio.create_task(self._run_and_rest(job, rest)))
                if not running:
                    return done
                ended, running = await asyncio.wait(
                    running, timeout=_LOOK_AGAIN_S, return_when=asyncio.FIRST_COMPLETED
                )
                for task in ended:
                    task.result()
                done += len(ended)
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _lease_next(self, worker: str, running: int) -> Job | None:
        """Lease a due job; while every place is taken, one more light job may run beside them."""
        if running < self._places:
            return await self.jobs.lease(worker)
        if running == self._places > 1:
            return await self.jobs.lease(worker, TaskType.PROFILE)
        return None

    @property
    def _places(self) -> int:
        """How many jobs run at once: without a model they only compete for the processor."""
        return 1 if self.digest.extractor is None else self.jobs.options.concurrency

    async def _run_and_rest(self, job: Job, rest: float) -> None:
        started = time.monotonic()
        await self._run(job)
        await sleep_proportionally(started, rest)

    async def record_queue_depth(self, tenant_id: str | None) -> None:
        """Set the queue gauges of one tenant, or of all tenants for None."""
        try:
            depth = await self.jobs.depth()
        except Unavailable:  # the other metrics matter all the more now
            return
        rows = [row for row in depth if tenant_id in (None, row.tenant_id)]
        oldest = min((row.oldest for row in rows if row.oldest is not None), default=None)
        age = 0.0 if oldest is None else max(0.0, self.jobs.storage.clock.now() - oldest)
        self.meter.set_gauge(tenant_id, "memory_jobs_waiting", sum(row.waiting for row in rows))
        self.meter.set_gauge(tenant_id, "memory_jobs_oldest_seconds", age)
        self.meter.set_gauge(tenant_id, "memory_jobs_dead", sum(row.dead for row in rows))

    async def _run(self, job: Job) -> None:
        started = time.perf_counter()
        token = current_tenant.set(job.owner.tenant_id)
        heartbeat = asyncio.create_task(self._extend_lease(job), name=f"lease of job {job.id}")
        try:
            status = await self._attempt(job)
        finally:
            heartbeat.cancel()
            with suppress(asyncio.CancelledError):
                await heartbeat
            current_tenant.reset(token)
        tenant = job.owner.tenant_id
        seconds = time.perf_counter() - started
        self.meter.count(tenant, "memory_generation_tasks", status=status)
        self.meter.observe(tenant, "memory_generation_latency_seconds", seconds)
        logger.info("job.done", extra={"fields": _log_fields(job, status)})
        self.wakeup.notify()  # a follow-up job may be due at once

    async def _attempt(self, job: Job) -> str:
        """Return the status after an attempt; every failure is handled here, and only here."""
        try:
            return (await self._step(job)).status.value
        except asyncio.CancelledError:  # shutdown: another worker may lease the job at once
            with suppress(Conflict, Unavailable):
                await asyncio.shield(self.jobs.release(job))
            raise
        except Conflict as error:
            return await self._record_failure(job, error.message)
        except Unavailable as error:
            return await self._postpone(job, error)
        except PlasticMemoriesError as error:
            return await self._record_failure(job, error.message)
        except Exception as error:  # the boundary: one bad job must not stop the others
            logger.exception("job.error", extra={"fields": _log_fields(job, "error")})
            return await self._record_failure(job, f"A bug: {type(error).__name__}.")

    async def _step(self, job: Job) -> Job:
        if job.task_type in self.handlers:
            return await self.handlers[job.task_type](job)
        if job.task_type is TaskType.ARCHIVE:
            return await self.archive(job)
        if job.task_type is TaskType.EXPORTS:
            return await self.exports(job)
        if job.task_type is TaskType.SCRUB:
            return await self._scrub(job)
        if job.task_type is TaskType.PROFILE:
            return await LearnAtOnce(self.digest)(job)
        return await self.digest(job)

    async def _scrub(self, job: Job) -> Job:
        storage = self.jobs.storage
        if (await storage.backend.scrub()).pending:
            # A reader may hold the old pages for long: that is no failure, and is never given up.
            return await self.jobs.release(job, _SCRUB_AGAIN_S)
        now = storage.clock.now()
        return await storage.write(lambda stores: complete_job(stores, job, (), now))

    async def _postpone(self, job: Job, error: Unavailable) -> str:
        """Let a job wait for a part that is down; what the part refuses is a failed attempt."""
        detail = error.detail if isinstance(error.detail, dict) else {}
        retry_after_s = detail.get("retry_after_s")
        if detail.get("refused"):
            return await self._record_failure(job, error.message, retry_after_s)
        return await self._record(self.jobs.postpone(job, error.message, retry_after_s))

    async def _record_failure(
        self, job: Job, reason: str, retry_after_s: float | None = None
    ) -> str:
        return await self._record(self.jobs.fail(job, reason, retry_after_s))

    @staticmethod
    async def _record(outcome: Awaitable[Job]) -> str:
        try:
            return (await outcome).status.value
        except Conflict:  # another worker has the lease now, and records the outcome
            return JobStatus.FAILED.value

    async def _extend_lease(self, job: Job) -> None:
        while True:
            await asyncio.sleep(self.jobs.options.lease_s / _HEARTBEATS_PER_LEASE)
            try:
                await self.jobs.extend(job)
            except (Conflict, Unavailable) as error:
                logger.warning("job.lease", extra={"fields": {"err": error.message}})


def _log_fields(job: Job, status: str) -> dict[str, Any]:
    return {
        "job_id": job.id,
        "user_id": job.owner.user_id,
        "persona_id": job.owner.persona_id,
        "task_type": job.task_type.value,
        "trigger": job.trigger.value,
        "status": status,
    }
