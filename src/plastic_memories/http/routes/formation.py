"""Routes under /sessions, /jobs and /archive, and /events/upcoming."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import Response

from plastic_memories.http.caller_context import ApiCall, ReadCall, WriteCall, keyed_endpoint
from plastic_memories.http.envelope import FAILURES
from plastic_memories.http.routing import Routes
from plastic_memories.hub.conversation.sessions import SessionSelector
from plastic_memories.hub.formation.archive_reader import ArchiveFilter
from plastic_memories.model.job import Job
from plastic_memories.model.session import Conversation
from plastic_memories.wire import formation as wire

router = Routes(keyed_endpoint, tags=["formation"], responses=FAILURES)


@router.post("/sessions/end", answers=wire.StartJobsResponse)
async def end(body: wire.EndSessionRequest, call: WriteCall) -> Response:
    """End a session: it is digested and archived."""
    jobs = await call.hub.sessions.end(call.caller, _session_selector(body, call))
    return call.reply(_start_jobs_response(jobs))


@router.post("/sessions/update", answers=wire.UpdateSessionResponse)
async def update(body: wire.UpdateSessionRequest, call: WriteCall) -> Response:
    """Set whether a session is real or fiction, also before it starts."""
    place = Conversation(
        call.owner(body.persona_id),
        call.hub.screening.screen_identifier(body.session_key),
        body.bot_id or "",
        call.app(body.source_app),
    )
    session = await call.hub.sessions.update(call.caller, place, body.realm)
    return call.reply(wire.UpdateSessionResponse(status="ok", session=wire.session_row(session)))


@router.get("/jobs", answers=wire.JobListResponse)
async def list_jobs(query: wire.JobsQuery, call: ReadCall) -> Response:
    """Return jobs, newest first."""
    limits = call.caller.key.limits
    found = await call.hub.jobs.find(call.caller.user, query.status, query.limit, limits.source_app)
    items = [wire.job_row(job) for job in found if limits.persona_id in ("", job.owner.persona_id)]
    return call.reply(wire.JobListResponse(items=items))


@router.post("/jobs/run", answers=wire.StartJobsResponse)
async def run(body: wire.RunJobsRequest, call: WriteCall) -> Response:
    """Digest pending messages now: of one session, or of all sessions of a persona."""
    jobs = await call.hub.sessions.run(_session_selector(body, call), wait=body.wait)
    return call.reply(_start_jobs_response(jobs))


@router.post("/jobs/replay", answers=wire.ReplayJobsResponse)
async def replay(body: wire.ReplayJobsRequest, call: WriteCall) -> Response:
    """Retry dead jobs: one, or all of the user's."""
    number = await call.hub.jobs.replay(call.caller, body.job_id)
    return call.reply(wire.ReplayJobsResponse(status="ok", replayed=number))


@router.get("/events/upcoming", answers=wire.UpcomingEventsResponse)
async def upcoming(query: wire.UpcomingQuery, call: ReadCall) -> Response:
    """Return dated memories of the next days, in the user's time zone; soonest first."""
    found = await call.hub.upcoming_events(call.view(query, realm=query.realm), query.days)
    return call.reply(wire.UpcomingEventsResponse(items=[wire.upcoming_row(one) for one in found]))


@router.get("/archive/list", answers=wire.ArchiveListResponse)
async def list_archive(query: wire.ArchiveListQuery, call: ReadCall) -> Response:
    """Return finished conversations, the last begun first, without what was forgotten."""
    page = await call.hub.archive_reader.list_page(
        call.view(query, source_app=query.source_app),
        ArchiveFilter(
            since=query.since, until=query.until, before_id=query.cursor, limit=query.limit
        ),
    )
    items = [
        wire.ArchiveRow(**wire.archive_row_fields(talk.session, talk.content))
        for talk in page.conversations
    ]
    cursor = None if page.next_before_id is None else str(page.next_before_id)
    return call.reply(wire.ArchiveListResponse(items=items, next_cursor=cursor))


@router.get("/archive/get", answers=wire.ArchiveGetResponse)
async def get_archived(query: wire.ArchiveGetQuery, call: ReadCall) -> Response:
    """Return one finished conversation with what was learned in it."""
    talk = await call.hub.archive_reader.get(
        call.view(query, source_app=query.source_app), query.session_key, query.branch_id or ""
    )
    row = wire.archive_row_fields(talk.session, talk.content)
    return call.reply(wire.ArchiveGetResponse(**{**talk.content, **row}))


def _session_selector(
    body: wire.EndSessionRequest | wire.RunJobsRequest, call: ApiCall
) -> SessionSelector:
    return SessionSelector(
        owner=call.owner(body.persona_id),
        session_id=None if body.session_id is None else body.session_key,
        bot_id=None if body.bots == "all" else body.bot_id or "",
        source_app=call.app(body.source_app) or None,
    )


def _start_jobs_response(jobs: Sequence[Job]) -> wire.StartJobsResponse:
    rows = [wire.job_row(job) for job in jobs]
    return wire.StartJobsResponse(status="ok", job=rows[0], jobs=rows)
