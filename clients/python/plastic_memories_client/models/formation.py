"""Models of jobs."""

from __future__ import annotations

from .record import Record


class Job(Record):
    task_id: int | str | None = None
    task_type: str = ""
    status: str = ""
    trigger: str = ""
    retry_count: int = 0
    max_retries: int = 0
    error_message: str = ""
    created_at: float | None = None
    started_at: float | None = None
    completed_at: float | None = None
