"""/messages/*"""

from __future__ import annotations

from dataclasses import replace

from starlette.responses import Response

from plastic_memories.http.caller_context import Reading, Writing, keyed
from plastic_memories.http.envelope import FAILURES
from plastic_memories.http.routing import Routes
from plastic_memories.hub.conversation import message_changes
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.wire.conversation import (
    Appended,
    AppendMany,
    AppendRequest,
    Branched,
    BranchRequest,
    Deleted,
    DeleteRequest,
    EditRequest,
    Purged,
    PurgeRequest,
    RecentMessages,
    RecentQuery,
    Revised,
    WhichMessage,
)
from plastic_memories.wire.recall import message_row

router = Routes(keyed, prefix="/messages", tags=["messages"], responses=FAILURES)
_DAY_S = 86_400.0


@router.post("/append", answers=Appended)
async def append(body: AppendRequest, call: Writing) -> Response:
    """Keep one message, or up to 100 of them; the same client_msg_id is kept once."""
    owner = call.owner(body.persona_id)
    now = call.now()
    shared = body if isinstance(body, AppendMany) else None
    given = body.messages if isinstance(body, AppendMany) else [body]
    for one in given:
        call.check_length(one.content, "content")
    messages = [one.message(owner, now, shared) for one in given]
    bound = [replace(message, source_app=call.app(message.source_app)) for message in messages]
    stored = await call.hub.messages.append(call.caller, owner, bound)
    ids = [row.message_id for row in stored]
    deduped = [row.message_id for row in stored if row.deduped]
    return call.reply(Appended(status="ok", message_id=ids[-1], message_ids=ids, deduped=deduped))


@router.get("/recent", answers=RecentMessages)
async def recent(asked: RecentQuery, call: Reading) -> Response:
    """Show messages, newest first."""
    now = call.now()
    wanted = MessageFilter(
        session_id=asked.session_id,
        source_app=call.app(asked.source_app) or None,
        since_ts=None if asked.days is None else now - asked.days * _DAY_S,
        before_id=asked.before_id,
        bot_id=None if asked.bots == "all" else asked.bot_id or "",
        limit=asked.limit,
    )
    found = await call.hub.messages.find(
        call.owner(asked.persona_id), wanted, line=(asked.session_id, asked.branch_id)
    )
    return call.reply(RecentMessages(messages=[message_row(message) for message in found]))


@router.post("/edit", answers=Revised)
async def edit(body: EditRequest, call: Writing) -> Response:
    """Change what a message says; what was learned from it is taken back or derived anew."""
    return await _revised(body, call, replaced=False)


@router.post("/replace", answers=Revised)
async def swipe(body: EditRequest, call: Writing) -> Response:
    """Put another reply in the place of one (a swipe); what was learned from it follows."""
    return await _revised(body, call, replaced=True)


async def _revised(body: EditRequest, call: Writing, *, replaced: bool) -> Response:
    call.check_length(body.content, "content")
    revision = await call.hub.timeline.edit(
        call.caller, _which(body, call), body.content, replaced=replaced
    )
    return call.reply(_revision(revision))


@router.post("/delete", answers=Deleted)
async def delete(body: DeleteRequest, call: Writing) -> Response:
    """Erase a message or a whole session, and take back what was learned from it alone."""
    if not body.is_one:
        return await _deleted_session(body, call)
    revision = await call.hub.timeline.delete(call.caller, _which(body, call))
    return call.reply(Deleted(deleted=1, **_revision(revision).model_dump()))


async def _deleted_session(body: DeleteRequest, call: Writing) -> Response:
    view = call.view(body, session_id=body.session_id)
    done = await call.hub.delete_session(call.caller, view, body.keep_branches or ())
    answer = Deleted(
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


@router.post("/branch", answers=Branched)
async def branch(body: BranchRequest, call: Writing) -> Response:
    """Start a second way on from a message; name the branch in append, recent and recall."""
    which = message_changes.WhichMessage(
        view=call.view(body, session_id=body.session_id),
        message_id=body.from_message_id,
        client_msg_id=body.from_client_msg_id or None,
    )
    made = await call.hub.timeline.branch(
        call.caller, which, call.hub.screening.identifier(body.branch_id or "")
    )
    answer = Branched(
        status="ok",
        branch_id=made.branch_id,
        session_id=made.session_id,
        parent_id=made.parent_id or None,
        from_message_id=made.from_message_id,
    )
    return call.reply(answer)


def _which(body: WhichMessage, call: Writing) -> message_changes.WhichMessage:
    return message_changes.WhichMessage(
        view=call.view(body, session_id=body.session_id or ""),
        message_id=body.message_id,
        client_msg_id=body.client_msg_id or None,
    )


def _revision(done: message_changes.Revision) -> Revised:
    return Revised(
        status="ok",
        message_id=done.message.id,
        retracted=list(done.retracted),
        restored=list(done.restored),
        rederived=list(done.rederived),
        waiting=done.waiting,
        job_id=done.job_id,
        pending=list(done.pending),
    )


@router.post("/purge", answers=Purged)
async def purge(body: PurgeRequest, call: Writing) -> Response:
    """Erase messages for good."""
    wanted = MessageFilter(
        until_ts=body.until(call.now()),
        session_id=body.session_id,
        source_app=call.app(None) or None,
        bot_id=None if body.bots == "all" else body.bot_id or "",
    )
    owner = call.owner(body.persona_id)
    deleted, pending = await call.hub.messages.purge(call.caller, owner, wanted)
    return call.reply(Purged(status="ok", deleted=deleted, pending=list(pending)))
