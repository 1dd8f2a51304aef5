"""Work that is stored before it is done, so that none of it is lost."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from plastic_memories.model.owner import Owner


class Trigger(StrEnum):
    SESSION_END = "session_end"
    THRESHOLD = "threshold"
    IDLE = "idle"
    SCHEDULED = "scheduled"
    EXPLICIT = "explicit"


class TaskType(StrEnum):
    SUMMARY = "summary"
    PROFILE = "profile"
    EVENT = "event"
    FULL = "full"
    ARCHIVE = "archive"
    EXPORTS = "exports"  # of the user: what is forgotten goes out of them
    SCRUB = "scrub"  # the bytes of what was erased leave the files of the storage


class JobStatus(StrEnum):
    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"  # and will be tried again
    DEAD = "dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One piece of work on one session; `id` is 0 until it is stored."""

    owner: Owner
    session_ref: int  # 0: about the persona as a whole
    task_type: TaskType
    trigger: Trigger
    created_at: float
    next_try_at: float  # while it is being done: the end of the lease
    id: int = 0
    status: JobStatus = JobStatus.PENDING
    retry_count: int = 0
    max_retries: int = 3
    error_message: str = ""
    started_at: float | None = None
    completed_at: float | None = None
    lease_owner: str = ""
    memory_ids: tuple[int, ...] = ()

    @property
    def is_open(self) -> bool:
        return self.status not in (JobStatus.COMPLETED, JobStatus.DEAD)


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """How much waits for one tenant, for how long, and how much was given up."""

    tenant_id: str
    waiting: int
    oldest: float | None
    dead: int


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """Where every message stands. A lost one is neither digested, nor waiting, nor given up."""

    digested: int = 0
    waiting: int = 0
    dead: int = 0
    lost: int = 0
