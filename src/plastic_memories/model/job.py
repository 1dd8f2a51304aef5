"""Background jobs: stored before they run, so that a crash loses none."""

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
    EXPORTS = "exports"  # rewrites the user's exports without forgotten memories
    FORGET = "forget"  # makes requests to forget final, a day after they were made in the chat
    ERASE_USER = "erase_user"  # erases everything of a user
    SCRUB = "scrub"  # removes the bytes of erased rows from the database files


class JobStatus(StrEnum):
    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"  # will be retried
    DEAD = "dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One background job on one session; `id` is 0 until it is stored."""

    owner: Owner
    session_ref: int  # 0: the job is about the whole persona
    task_type: TaskType
    trigger: Trigger
    created_at: float
    next_try_at: float  # while the job runs: when its lease ends
    id: int = 0
    status: JobStatus = JobStatus.PENDING
    retry_count: int = 0
    max_retries: int = 3
    error_message: str = ""
    started_at: float | None = None
    completed_at: float | None = None
    lease_owner: str = ""
    memory_ids: tuple[int, ...] = ()
    waited_s: float = 0.0  # how long it waited after its last attempt; known while leased

    @property
    def is_open(self) -> bool:
        return self.status not in (JobStatus.COMPLETED, JobStatus.DEAD)


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """Queue state of one tenant: open jobs, age of the oldest, dead jobs."""

    tenant_id: str
    waiting: int
    oldest: float | None
    dead: int


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """Message counts by state. A lost message is neither digested, nor waiting, nor dead."""

    digested: int = 0
    waiting: int = 0
    dead: int = 0
    lost: int = 0
