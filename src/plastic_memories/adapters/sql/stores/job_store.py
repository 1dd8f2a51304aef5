"""Jobs in an SQL database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from plastic_memories.adapters.sql.record_columns import to_json
from plastic_memories.adapters.sql.rows import owner_of, owner_params, user_params
from plastic_memories.adapters.sql.sql_session import Row, SqlSession
from plastic_memories.adapters.sql.stores.session_store import session_of
from plastic_memories.model.job import (
    Job,
    JobStatus,
    QueueDepth,
    Reconciliation,
    TaskType,
    Trigger,
)
from plastic_memories.model.owner import Owner, User
from plastic_memories.model.session import Session

_SHARED_COLUMNS = (
    "id", "session_ref", "retry_count", "max_retries", "error_message", "created_at",
    "started_at", "completed_at", "next_try_at", "lease_owner",
)  # fmt: skip
_OFF_KEY = "formation_off"

_FIRST_TURN = User("", "")  # before every user


class SqlJobStore:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def open(self, job: Job) -> Job:
        new_id = self._session.insert_new("open_job", _params(job))
        if new_id is not None:
            return replace(job, id=new_id)
        there = self.find_open(job.owner, job.session_ref, job.task_type)
        assert there, "only an open job of the session keeps another from being stored"
        return there

    def find_open(self, owner: Owner, session_ref: int, task_type: TaskType) -> Job | None:
        params = {**owner_params(owner), "session_ref": session_ref, "task_type": task_type.value}
        row = self._session.fetch_one("the_open_job", params)
        return _job(row) if row else None

    def save(self, job: Job) -> None:
        self._session.execute("save_job", _params(job))

    def get(self, user: User, job_id: int) -> Job | None:
        row = self._session.fetch_one("get_job", {**user_params(user), "id": job_id})
        return _job(row) if row else None

    def find(
        self,
        user: User,
        *,
        status: JobStatus | None = None,
        only_app: str = "",
        limit: int = 50,
    ) -> list[Job]:
        wanted = status.value if status else None
        params = {**user_params(user), "status": wanted, "only_app": only_app, "limit": limit}
        return [_job(row) for row in self._session.fetch("find_jobs", params)]

    def due(self, now: float, limit: int = 1) -> list[Job]:
        rows = self._session.fetch("due_jobs", {"now": now, "limit": limit})
        return [_job(row) for row in rows]

    def due_by_turns(
        self, now: float, after: User | None, limit: int, task_type: TaskType | None = None
    ) -> list[Job]:
        turns = [_FIRST_TURN] if after is None else [after, _FIRST_TURN]
        only = task_type.value if task_type else ""
        for user in turns:
            after_user = {"after_tenant": user.tenant_id, "after_user": user.user_id}
            params = {**after_user, "now": now, "limit": limit, "only": only}
            if rows := self._session.fetch("due_jobs_by_turns", params):
                return [_job(row) for row in rows]
        return []

    def prune(self, before_ts: float) -> int:
        return self._session.execute("prune_jobs", {"before_ts": before_ts})

    def depth(self) -> Sequence[QueueDepth]:
        rows = self._session.fetch("queue_depth")
        return [
            QueueDepth(row["tenant_id"], row["waiting"], row["oldest"], row["dead"]) for row in rows
        ]


class SqlFormationBacklog:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def idle_sessions(self, idle_before: float, waiting_before: float, limit: int) -> list[Session]:
        params = {"idle_before": idle_before, "waiting_before": waiting_before, "limit": limit}
        return [session_of(row) for row in self._session.fetch("quiet_sessions", params)]

    def unarchived_sessions(
        self, before_ts: float, max_per_persona: int | None, limit: int
    ) -> list[Session]:
        params = {"before_ts": before_ts, "max": max_per_persona, "limit": limit}
        rows = self._session.fetch("unarchived_old", params)
        if max_per_persona is not None:
            rows += self._session.fetch("unarchived_crowd", params)
        return list({row["id"]: session_of(row) for row in rows}.values())

    def reconcile(self) -> Reconciliation:
        [row] = self._session.fetch("reconcile")
        waiting = row["waiting"] + (row["unclaimed"] if self._is_off() else 0)
        known = row["digested"] + row["dead"] + waiting
        return Reconciliation(row["digested"], waiting, row["dead"], row["messages"] - known)

    def set_enabled(self, *, on: bool, now: float) -> None:
        if not on:
            self._session.execute("set_meta", {"key": _OFF_KEY, "value": "1"})
        elif self._is_off():
            self._session.execute("adopt_messages", {"now": now})
            self._session.execute("drop_meta", {"key": _OFF_KEY})

    def recount(self) -> None:
        """Let everything wait that was not digested, whatever the sessions say."""
        self._session.execute("adopt_messages", {"now": 0.0})

    def _is_off(self) -> bool:
        found = self._session.fetch_one("get_meta", {"key": _OFF_KEY})
        return found is not None


def _params(job: Job) -> dict[str, Any]:
    return {
        **owner_params(job.owner),
        **{name: getattr(job, name) for name in _SHARED_COLUMNS},
        "task_type": job.task_type.value,
        "status": job.status.value,
        "trigger": job.trigger.value,
        "memory_ids": to_json(list(job.memory_ids)),
    }


def _job(row: Row) -> Job:
    return Job(
        owner=owner_of(row),
        task_type=TaskType(row["task_type"]),
        status=JobStatus(row["status"]),
        trigger=Trigger(row["trigger"]),
        memory_ids=tuple(json.loads(row["memory_ids"])),
        **{name: row[name] for name in _SHARED_COLUMNS},
    )
