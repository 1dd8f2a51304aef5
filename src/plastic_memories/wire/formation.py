"""Request and response bodies of /sessions, /jobs, /archive and /events/upcoming."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from plastic_memories.model.job import Job, JobStatus, TaskType, Trigger
from plastic_memories.model.owner import Realm
from plastic_memories.model.session import Session
from plastic_memories.rules.lifecycle.occurrences import UpcomingEvent
from plastic_memories.wire.fields import (
    BotRequest,
    Flag,
    Id,
    IdParam,
    Name,
    OptionalName,
    PageSize,
    RequestBody,
    ResponseBody,
    SessionRequest,
    TimestampParam,
)
from plastic_memories.wire.memories import MemoryRow, memory_row_fields


class EndSessionRequest(SessionRequest):
    session_id: Name
    source_app: OptionalName | None = None


class UpdateSessionRequest(EndSessionRequest):
    realm: Realm


class SessionRow(ResponseBody):
    session_id: str
    persona_id: str
    bot_id: str | None
    source_app: str | None
    branch_id: str | None
    realm: Realm | None
    waiting: int
    last_active: float
    ended_at: float | None


class UpdateSessionResponse(ResponseBody):
    status: str
    session: SessionRow


class JobRow(ResponseBody):
    task_id: int
    persona_id: str
    task_type: TaskType
    status: JobStatus
    trigger: Trigger
    retry_count: int
    max_retries: int
    error_message: str
    created_at: float
    started_at: float | None
    completed_at: float | None
    memory_ids: list[int]


class JobListResponse(ResponseBody):
    items: list[JobRow]


class StartJobsResponse(ResponseBody):
    """`job` is the job of the session that was active last; `jobs` are all of them."""

    status: str
    job: JobRow
    jobs: list[JobRow]


class JobsQuery(RequestBody):
    status: JobStatus | None = None
    limit: PageSize = 50


class RunJobsRequest(SessionRequest):
    source_app: OptionalName | None = None
    wait: Flag = False


class ReplayJobsRequest(RequestBody):
    """One dead job by its id, or all of them."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": ["job_id"], "properties": {"job_id": {"type": "integer"}}},
                {"required": ["status"], "properties": {"status": {"const": "dead"}}},
            ]
        }
    )

    job_id: Id | None = None
    status: Literal["dead"] | None = None

    @model_validator(mode="after")
    def _require_target(self) -> Self:
        if self.job_id is None and self.status is None:
            raise ValueError("give job_id or status=dead")
        return self


class ReplayJobsResponse(ResponseBody):
    status: str
    replayed: int


class UpcomingQuery(BotRequest):
    days: Annotated[int, Field(ge=0, le=3660)] = 30
    realm: Realm = Realm.REAL


class UpcomingRow(MemoryRow):
    next_date: str
    days_away: int


class UpcomingEventsResponse(ResponseBody):
    items: list[UpcomingRow]


def job_row(job: Job) -> JobRow:
    same: dict[str, Any] = {
        name: getattr(job, name)
        for name in JobRow.model_fields
        if name not in ("task_id", "persona_id", "memory_ids")
    }
    return JobRow(
        task_id=job.id,
        persona_id=job.owner.persona_id,
        memory_ids=list(job.memory_ids),
        **same,
    )


def session_row(session: Session) -> SessionRow:
    place = session.place
    return SessionRow(
        session_id=place.session_id,
        persona_id=place.owner.persona_id,
        bot_id=place.bot_id or None,
        source_app=place.source_app or None,
        branch_id=place.branch_id or None,
        realm=session.realm,
        waiting=session.waiting,
        last_active=session.last_active,
        ended_at=session.ended_at,
    )


def upcoming_row(found: UpcomingEvent) -> UpcomingRow:
    return UpcomingRow.model_construct(
        **memory_row_fields(found.memory),
        next_date=found.date.isoformat(),
        days_away=found.days_away,
    )


class ArchiveListQuery(BotRequest):
    since: TimestampParam | None = Field(default=None, description="Something was said since.")
    until: TimestampParam | None = Field(default=None, description="Something was said before.")
    source_app: OptionalName | None = None
    limit: PageSize = 50
    cursor: IdParam | None = None


class ArchiveGetQuery(SessionRequest):
    session_id: OptionalName
    source_app: OptionalName | None = None
    branch_id: OptionalName | None = None


class ArchiveSummaryRow(ResponseBody):
    text: str
    topics: list[str]
    emotion: str


class ArchiveRow(ResponseBody):
    """An archived conversation. Its times are ISO 8601, in UTC, as in the file."""

    session_id: str
    persona_id: str
    bot_id: str | None
    source_app: str | None
    branch_id: str | None
    start_time: str
    end_time: str
    message_count: int
    summary: ArchiveSummaryRow
    archive_path: str


class ArchiveListResponse(ResponseBody):
    items: list[ArchiveRow]
    next_cursor: str | None


class ArchivedMessageRow(ResponseBody):
    msg_id: int
    role: str
    content: str
    timestamp: str
    speaker: str | None = None


class ArchiveGetResponse(ArchiveRow):
    user_id: str
    character_id: str
    messages: list[ArchivedMessageRow]
    extracted_profiles: list[dict[str, Any]]
    extracted_events: list[dict[str, Any]]


def archive_row_fields(session: Session, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a list tells of an archived conversation."""
    place = session.place
    return {
        "session_id": place.session_id,
        "persona_id": session.owner.persona_id,
        "bot_id": place.bot_id or None,
        "source_app": place.source_app or None,
        "branch_id": place.branch_id or None,
        "start_time": content["start_time"],
        "end_time": content["end_time"],
        "message_count": len(content["messages"]),
        "summary": content["summary"],
        "archive_path": session.archive_path,
    }
