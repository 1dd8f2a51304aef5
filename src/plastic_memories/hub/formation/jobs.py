"""Background jobs: stored, leased, retried with backoff, given up, replayed."""

from __future__ import annotations

import logging
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from plastic_memories.errors import Conflict, NotFound, Unavailable
from plastic_memories.hub.transactions.audit_events import hub_caller, record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.model.job import Job, JobStatus, QueueDepth, TaskType, Trigger
from plastic_memories.model.key import Caller
from plastic_memories.model.owner import Owner, User
from plastic_memories.model.session import Session
from plastic_memories.ports.storage import Residue, Stores

logger = logging.getLogger(__name__)
_IDLE_SESSION_BATCH = 100
_LEASE_BATCH = 20
# The end of a session and a person's request do not wait for the next retry.
_IMMEDIATE_TRIGGERS = frozenset({Trigger.SESSION_END, Trigger.EXPLICIT})
# Time for the caller to do the job itself, before a worker leases it.
_GRACE_S = 5.0
# However long a part is down, a job that waits for it looks again after this time.
_MAX_OUTAGE_WAIT_S = 300.0
_WORKER_LOST = "The worker that had it went away."


@dataclass(frozen=True, slots=True, kw_only=True)
class FormationOptions:
    """How conversations become memories in this installation."""

    enabled: bool = True
    threshold: int = 10  # rounds
    idle_s: float = 1800.0
    schedule_s: float = 21_600.0
    max_retries: int = 3
    backoff_s: float = 5.0
    lease_s: float = 60.0
    window: int = 200  # messages in one digest
    concurrency: int = 4  # jobs of one worker at the same time, where they wait for a model


def open_job(
    stores: Stores,
    session: Session,
    trigger: Trigger,
    now: float,
    options: FormationOptions,
    *,
    task_type: TaskType = TaskType.FULL,
) -> Job:
    """Store a job for a session in the caller's transaction, or return the open one."""
    wanted = Job(
        owner=session.owner,
        session_ref=session.id,
        task_type=task_type,
        trigger=trigger,
        created_at=now,
        next_try_at=now,
        max_retries=options.max_retries,
    )
    job = stores.jobs.open(wanted)
    if (
        trigger not in _IMMEDIATE_TRIGGERS
        or job.trigger is trigger
        or job.status is JobStatus.PROCESSING
    ):
        return job
    stronger = replace(job, trigger=trigger, next_try_at=min(job.next_try_at, now))
    stores.jobs.save(stronger)
    return stronger


def queue_refresh(
    stores: Stores, owner: Owner, task_type: TaskType, now: float, options: FormationOptions
) -> None:
    """Store a job that updates copies outside the database: it survives a crash.

    The caller does the same work at once; a worker takes over only if that is not done in time.
    """
    stores.jobs.open(
        Job(
            owner=owner,
            session_ref=0,
            task_type=task_type,
            trigger=Trigger.EXPLICIT,
            created_at=now,
            next_try_at=now + _GRACE_S,
            max_retries=options.max_retries,
        )
    )


async def scrub(storage: AuditedStorage, owner: Owner, options: FormationOptions) -> Residue:
    """Clear erased bytes from the storage files; queue a job for, and return, what is pending."""
    now = storage.clock.now()
    try:
        residue = await storage.backend.scrub()
        if residue.pending:
            await storage.write(
                lambda stores: queue_refresh(stores, owner, TaskType.SCRUB, now, options)
            )
    except Unavailable as error:
        # The rows are erased, and the caller learns so; the next start or scrub clears the files.
        logger.warning("storage.scrub", extra={"fields": {"err": error.message}})
        return Residue(pending=("storage files",))
    return residue


def pending_in(copies: Mapping[str, Mapping[str, Any]], residue: Residue) -> list[str]:
    """Return every place of a receipt that a job has still to clear."""
    return [*(place for place, counts in copies.items() if counts.get("waiting")), *residue.pending]


@dataclass(slots=True)
class _LeaseTurns:
    """Whose job was leased last: the next one is another user's, if anybody else has one."""

    last: User | None = None


@dataclass(frozen=True, slots=True)
class Jobs:
    storage: AuditedStorage
    options: FormationOptions
    _turns: _LeaseTurns = field(default_factory=_LeaseTurns)

    async def lease(self, worker: str, task_type: TaskType | None = None) -> Job | None:
        """Lease the longest waiting job of the user whose turn it is; None if none is due."""
        now = self.storage.clock.now()
        if not await self.storage.read(
            lambda stores: stores.jobs.due_by_turns(now, None, 1, task_type)
        ):
            return None
        last = self._turns.last
        leased = await self.storage.write(
            lambda stores: self._lease_in_transaction(
                stores, stores.jobs.due_by_turns(now, last, _LEASE_BATCH, task_type), worker, now
            )
        )
        if leased is not None:
            self._turns.last = leased.owner.user
        return leased

    async def lease_job(self, worker: str, job: Job) -> Job | None:
        """Lease a given job before it is due; None if it is done or its session is worked on."""
        now = self.storage.clock.now()

        def work(stores: Stores) -> Job | None:
            stored = stores.jobs.get(job.owner.user, job.id)
            if stored is None or not stored.is_open:
                return None
            if _is_session_busy(stores, stored, now):
                return None
            return self._lease_in_transaction(stores, [stored], worker, now)

        return await self.storage.write(work)

    def _lease_in_transaction(
        self, stores: Stores, free: Sequence[Job], worker: str, now: float
    ) -> Job | None:
        for due in free:
            was_held = due.status is JobStatus.PROCESSING
            job = _after_failure(due, _WORKER_LOST, now) if was_held else due
            if job.status is JobStatus.DEAD:
                self._settle_in_transaction(stores, job, now)
                continue
            leased = replace(
                job,
                status=JobStatus.PROCESSING,
                started_at=now,
                lease_owner=worker,
                next_try_at=now + self.options.lease_s,
                waited_s=_last_wait(due),
            )
            stores.jobs.save(leased)
            return leased
        return None

    async def extend(self, job: Job) -> None:
        """Extend the lease of a job."""
        until = self.storage.clock.now() + self.options.lease_s

        def work(stores: Stores) -> None:
            stores.jobs.save(replace(check_lease(stores, job), next_try_at=until))

        await self.storage.write(work)

    async def fail(self, job: Job, reason: str, retry_after_s: float | None = None) -> Job:
        """Record a failed attempt: the job is retried later, or is dead after its last retry."""
        now = self.storage.clock.now()
        wait = retry_after_s or _backoff(self.options.backoff_s, job.retry_count)

        def work(stores: Stores) -> Job:
            failed = replace(
                _after_failure(check_lease(stores, job), reason, now), next_try_at=now + wait
            )
            return self._settle_in_transaction(stores, failed, now)

        return await self.storage.write(work)

    async def postpone(self, job: Job, reason: str, retry_after_s: float | None = None) -> Job:
        """Let a job wait for a part that is down; that is no attempt, however often it happens."""
        now = self.storage.clock.now()
        wait = retry_after_s or _outage_wait(self.options.backoff_s, job.waited_s)

        def work(stores: Stores) -> Job:
            stored = check_lease(stores, job)
            postponed = replace(
                stored,
                status=JobStatus.FAILED,
                error_message=reason,
                next_try_at=now + wait,
                lease_owner="",
            )
            stores.jobs.save(postponed)
            if stored.error_message != reason:  # an outage of days is not recorded every time
                record_job(stores, postponed, now)
            return postponed

        return await self.storage.write(work)

    @staticmethod
    def _settle_in_transaction(stores: Stores, job: Job, now: float) -> Job:
        stores.jobs.save(job)
        record_job(stores, job, now)
        return job

    async def find(
        self, user: User, status: JobStatus | None, limit: int, only_app: str = ""
    ) -> list[Job]:
        return await self.storage.read(
            lambda stores: stores.jobs.find(user, status=status, only_app=only_app, limit=limit)
        )

    async def get(self, user: User, job_id: int) -> Job:
        job = await self.storage.read(lambda stores: stores.jobs.get(user, job_id))
        if job is None:
            raise NotFound(f"There is no job {job_id} here.")
        return job

    async def find_open_sibling(self, job: Job) -> Job | None:
        """Return an open job of the same session, if there is one."""

        def work(stores: Stores) -> Job | None:
            for task_type in (TaskType.FULL, TaskType.ARCHIVE):
                found = stores.jobs.find_open(job.owner, job.session_ref, task_type)
                if found is not None:
                    return found
            return None

        return await self.storage.read(work)

    async def replay(self, caller: Caller, job_id: int | None) -> int:
        """Requeue one dead job, or all of the user's; return how many."""
        now = self.storage.clock.now()

        def work(stores: Stores) -> int:
            app, bound = caller.key.limits.source_app, caller.key.limits.persona_id
            dead = stores.jobs.find(caller.user, status=JobStatus.DEAD, only_app=app, limit=10_000)
            wanted = [
                job
                for job in dead
                if job_id in (None, job.id) and bound in ("", job.owner.persona_id)
            ]
            if job_id is not None and not wanted:
                raise NotFound(f"There is no dead job {job_id} here.")
            for job in wanted:
                _replay_job(stores, job, now)
                record_event(stores, caller, "job.replay", job.owner.persona_id, now, job_id=job.id)
            return len(wanted)

        return await self.storage.write(work)

    async def queue_idle_sessions(self) -> int:
        """Store a job for every session that is idle, or has waited too long."""
        now = self.storage.clock.now()
        idle, waiting = now - self.options.idle_s, now - self.options.schedule_s
        if not await self.storage.read(
            lambda stores: stores.formation.idle_sessions(idle, waiting, 1)
        ):
            return 0

        def work(stores: Stores) -> int:
            sessions = stores.formation.idle_sessions(idle, waiting, _IDLE_SESSION_BATCH)
            for session in sessions:
                trigger = Trigger.IDLE if session.last_active <= idle else Trigger.SCHEDULED
                open_job(stores, session, trigger, now, self.options)
            return len(sessions)

        return await self.storage.write(work)

    async def set_formation_enabled(self, *, on: bool) -> None:
        """Record whether formation is on; messages stored while it is off wait until it is on."""
        now = self.storage.clock.now()
        await self.storage.write(lambda stores: stores.formation.set_enabled(on=on, now=now))

    async def release(self, job: Job, wait_s: float = 0.0) -> Job:
        """Return a job unfinished, without counting a retry; it is due after `wait_s`."""
        next_try_at = self.storage.clock.now() + wait_s

        def work(stores: Stores) -> Job:
            released = replace(
                check_lease(stores, job),
                status=JobStatus.PENDING,
                lease_owner="",
                next_try_at=next_try_at,
            )
            stores.jobs.save(released)
            return released

        return await self.storage.write(work)

    async def depth(self) -> Sequence[QueueDepth]:
        return await self.storage.read(lambda stores: stores.jobs.depth())


def check_lease(stores: Stores, job: Job) -> Job:
    """Return a job as stored; raise `Conflict` if this worker no longer holds its lease."""
    stored = stores.jobs.get(job.owner.user, job.id)
    if (
        stored is None
        or stored.status is not JobStatus.PROCESSING
        or stored.lease_owner != job.lease_owner
    ):
        raise Conflict(f"Job {job.id} was taken over by another worker.")
    return stored


def complete_job(stores: Stores, job: Job, memory_ids: Sequence[int], now: float) -> Job:
    """Mark a job as completed in the transaction of its results."""
    done = replace(
        check_lease(stores, job),
        status=JobStatus.COMPLETED,
        completed_at=now,
        error_message="",
        memory_ids=tuple(memory_ids),
    )
    stores.jobs.save(done)
    record_job(stores, done, now)
    return done


def record_job(stores: Stores, job: Job, now: float) -> None:
    session = stores.sessions.get(job.owner, job.session_ref) if job.session_ref else None
    app = {} if session is None else {"source_app": session.place.source_app}
    record_event(
        stores,
        hub_caller(job.owner.user),
        f"job.{job.status.value}",
        job.owner.persona_id,
        now,
        job_id=job.id,
        trigger=job.trigger.value,
        **app,
    )


def _is_session_busy(stores: Stores, job: Job, now: float) -> bool:
    """Return whether this job or another one of its session is held by a worker."""
    siblings = (stores.jobs.find_open(job.owner, job.session_ref, kind) for kind in TaskType)
    return any(
        one is not None and one.status is JobStatus.PROCESSING and one.next_try_at > now
        for one in siblings
    )


def _after_failure(job: Job, reason: str, now: float) -> Job:
    """Return a job after a failed attempt."""
    is_last = job.retry_count >= job.max_retries
    return replace(
        job,
        status=JobStatus.DEAD if is_last else JobStatus.FAILED,
        retry_count=job.retry_count if is_last else job.retry_count + 1,
        error_message=reason,
        completed_at=now if is_last else None,
        lease_owner="",
    )


def _backoff(base_s: float, retries: int) -> float:
    """Return an exponential backoff with jitter, so that jobs that failed together spread out."""
    return float(base_s * 2**retries * random.uniform(0.5, 1.5))  # noqa: S311 - not for secrets


def _last_wait(job: Job) -> float:
    """Return how long a due job has waited on purpose since its last attempt began."""
    if job.status is not JobStatus.FAILED or job.started_at is None:
        return 0.0
    return max(0.0, job.next_try_at - job.started_at)


def _outage_wait(base_s: float, waited_s: float) -> float:
    """Return twice the last wait, up to a limit with jitter: the jobs do not return together."""
    limit = _MAX_OUTAGE_WAIT_S * random.uniform(0.5, 1.0)  # noqa: S311 - not for secrets
    return float(min(2 * waited_s or _backoff(base_s, 0), limit))


def _replay_job(stores: Stores, job: Job, now: float) -> None:
    # Another job of the session may be open by now: it does the same work.
    replayed = stores.jobs.open(
        replace(job, id=0, status=JobStatus.PENDING, retry_count=0, next_try_at=now)
    )
    if replayed.id != job.id:
        stores.jobs.save(
            replace(job, status=JobStatus.COMPLETED, error_message=f"replayed as {replayed.id}")
        )
