"""Keeps work that must not be lost, and knows what talk waits for some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from plastic_memories.model.job import Job, JobStatus, QueueDepth, Reconciliation, TaskType
from plastic_memories.model.owner import Owner, User
from plastic_memories.model.session import Session


class JobStore(Protocol):
    """One transaction's view of the jobs.

    It has nine methods: workers lease by turns, upkeep and health checks ask what is due at all.
    """

    def open(self, job: Job) -> Job:
        """Store a job; if the session has an open one of the kind, return that instead."""
        ...

    def find_open(self, owner: Owner, session_ref: int, task_type: TaskType) -> Job | None:
        """Return the open job of a session, if there is one of the kind."""
        ...

    def save(self, job: Job) -> None: ...

    def get(self, user: User, job_id: int) -> Job | None: ...

    def find(
        self,
        user: User,
        *,
        status: JobStatus | None = None,
        only_app: str = "",
        limit: int = 50,
    ) -> list[Job]:
        """Return the user's jobs, newest first; with `only_app`, of that app's sessions alone."""
        ...

    def due(self, now: float, limit: int = 1) -> list[Job]:
        """Return open jobs of any owner whose time has come, the longest waiting first.

        One that is being done is among them when its lease has run out.
        """
        ...

    def due_by_turns(
        self, now: float, after: User | None, limit: int, task_type: TaskType | None = None
    ) -> list[Job]:
        """Return due jobs in a fixed order of users, beginning with the one who follows `after`.

        Within a user the longest waiting comes first. A job is left out while another job of its
        session is held, unless it is a light one (`PROFILE`), which moves no watermark. After the
        last user it is the first one's turn again.
        """
        ...

    def prune(self, before_ts: float) -> int:
        """Erase jobs that were done before a time; return how many."""
        ...

    def depth(self) -> Sequence[QueueDepth]:
        """Return how much waits, by tenant."""
        ...


class FormationBacklog(Protocol):
    """One transaction's view of what talk of all owners still has to be digested or archived."""

    def idle_sessions(self, idle_before: float, waiting_before: float, limit: int) -> list[Session]:
        """Return sessions of any owner that wait and have no job: idle, or waiting too long.

        One whose last job was given up is left alone until something new is said there.
        """
        ...

    def unarchived_sessions(
        self, before_ts: float, max_per_persona: int | None, limit: int
    ) -> list[Session]:
        """Return sessions that hold messages past their time which no archive has yet.

        One whose last job was given up is left alone.
        """
        ...

    def reconcile(self) -> Reconciliation:
        """Return where every message of every owner stands."""
        ...

    def set_enabled(self, *, on: bool, now: float) -> None:
        """Note whether talk is digested; switched on again, what was said meanwhile waits."""
        ...
