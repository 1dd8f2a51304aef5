"""Routes under /messages."""

from __future__ import annotations

from dataclasses import replace

from starlette.responses import Response

from plastic_memories.http.caller_context import ReadCall, WriteCall, keyed_endpoint
from plastic_memories.http.envelope import FAILURES
from plastic_memories.http.routing import Routes
from plastic_memories.hub.conversation import message_changes
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.wire.conversation import (
    AppendManyRequest,
    AppendRequest,
    AppendResponse,
    BranchRequest,
    BranchResponse,
    DeleteMessagesRequest,
    DeleteMessagesResponse,
    EditMessageRequest,
    EditMessageResponse,
    MessageRequest,
    PurgeMessagesRequest,
    PurgeMessagesResponse,
    RecentMessagesQuery,
    RecentMessagesResponse,
)
from plastic_memories.wire.recall import message_row

router = Routes(keyed_endpoint, prefix="/messages", tags=["messages"], responses=FAILURES)
_DAY_S = 86_400.0


@router.post("/append", answers=AppendResponse)
async def append(body: AppendRequest, call: WriteCall) -> Response:
    """Store one message, or up to 100 of them; a client_msg_id is stored only once."""
    owner = call.owner(body.persona_id)
    now = call.now()
    shared = body if isinstance(body, AppendManyRequest) else None
    given = body.messages if isinstance(body, AppendManyRequest) else [body]
    for one in given:
        call.check_length(one.content, "content")
    messages = [one.to_message(owner, now, shared) for one in given]
    bound = [replace(message, source_app=call.app(message.source_app)) for message in messages]
    stored = await call.hub.messages.append(call.caller, owner, bound)
    ids = [row.message_id for row in stored]
    deduped = [row.message_id for row in stored if row.deduped]
    return call.reply(
        AppendResponse(status="ok", message_id=ids[-1], message_ids=ids, deduped=deduped)
    )


@router.get("/recent", answers=RecentMessagesResponse)
async def recent(query: RecentMessagesQuery, call: ReadCall) -> Response:
    """Return messages, newest first."""
    now = call.now()
    message_filter = MessageFilter(
        session_id=None if query.session_id is None else query.session_key,
        source_app=call.app(query.source_app) or None,
        since_ts=None if query.days is None else now - query.days * _DAY_S,
        before_id=query.before_id,
        bot_id=None if query.bots == "all" else query.bot_id or "",
        limit=query.limit,
    )
    found = await call.hub.messages.find(
        call.owner(query.persona_id), message_filter, line=(query.session_key, query.branch_id)
    )
    return call.reply(RecentMessagesResponse(messages=[message_row(message) for message in found]))


@router.post("/edit", answers=EditMessageResponse)
async def edit(body: EditMessageRequest, call: WriteCall) -> Response:
    """Edit a message; memories learned from it are taken back or derived again."""
    return await _edit_response(body, call, replaced=False)


@router.post("/replace", answers=EditMessageResponse)
async def swipe(body: EditMessageRequest, call: WriteCall) -> Response:
    """Replace a reply (a swipe); memories learned from it follow."""
    return await _edit_response(body, call, replaced=True)


async def _edit_response(body: EditMessageRequest, call: WriteCall, *, replaced: bool) -> Response:
    call.check_length(body.content, "content")
    revision = await call.hub.timeline.edit(
        call.caller, _message_reference(body, call), body.content, replaced=replaced
    )
    return call.reply(_revision_response(revision))


@router.post("/delete", answers=DeleteMessagesResponse)
async def delete(body: DeleteMessagesRequest, call: WriteCall) -> Response:
    """Erase a message or a whole session, and take back what was learned from it alone."""
    if not body.names_one_message:
        return await _delete_session_response(body, call)
    revision = await call.hub.timeline.delete(call.caller, _message_reference(body, call))
    return call.reply(
        DeleteMessagesResponse(deleted=1, **_revision_response(revision).model_dump())
    )


async def _delete_session_response(body: DeleteMessagesRequest, call: WriteCall) -> Response:
    view = call.view(body, session_id=body.session_key)
    done = await call.hub.delete_session(call.caller, view, body.keep_branches or ())
    answer = DeleteMessagesResponse(
        status="ok",
        deleted=done.deleted,
        retracted=list(done.retracted),
        restored=list(done.restored),
        rederived=list(done.rederived),
        waiting=False,
        job_id=done.job_id,
        pending=list(done.pending),
    )
    return call.reply(answer)


@router.post("/branch", answers=BranchResponse)
async def branch(body: BranchRequest, call: WriteCall) -> Response:
    """Start a branch from a message; name the branch in append, recent and recall."""
    which = message_changes.MessageReference(
        view=call.view(body, session_id=body.session_key),
        message_id=body.from_message_id,
        client_msg_id=body.from_client_msg_id or None,
    )
    created = await call.hub.timeline.branch(
        call.caller, which, call.hub.screening.screen_identifier(body.branch_id or "")
    )
    answer = BranchResponse(
        status="ok",
        branch_id=created.branch_id,
        session_id=body.session_id,
        parent_id=created.parent_id or None,
        from_message_id=created.from_message_id,
    )
    return call.reply(answer)


def _message_reference(body: MessageRequest, call: WriteCall) -> message_changes.MessageReference:
    return message_changes.MessageReference(
        view=call.view(body, session_id=body.session_key),
        message_id=body.message_id,
        client_msg_id=body.client_msg_id or None,
    )


def _revision_response(done: message_changes.RevisionOutcome) -> EditMessageResponse:
    return EditMessageResponse(
        status="ok",
        message_id=done.message.id,
        retracted=list(done.retracted),
        restored=list(done.restored),
        rederived=list(done.rederived),
        waiting=done.waiting,
        job_id=done.job_id,
        pending=list(done.pending),
    )


@router.post("/purge", answers=PurgeMessagesResponse)
async def purge(body: PurgeMessagesRequest, call: WriteCall) -> Response:
    """Erase messages for good."""
    message_filter = MessageFilter(
        until_ts=body.cutoff_ts(call.now()),
        session_id=None if body.session_id is None else body.session_key,
        source_app=call.app(None) or None,
        bot_id=None if body.bots == "all" else body.bot_id or "",
    )
    owner = call.owner(body.persona_id)
    deleted, pending = await call.hub.messages.purge(call.caller, owner, message_filter)
    return call.reply(PurgeMessagesResponse(status="ok", deleted=deleted, pending=list(pending)))
