"""/messages/*"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Response

from plastic_memories.http.context import KeyedRoute, Reading, Writing
from plastic_memories.http.envelope import FAILURES
from plastic_memories.ports.message_store import MessageFilter
from plastic_memories.wire.envelope import Answer
from plastic_memories.wire.messages import (
    Appended,
    AppendMany,
    AppendRequest,
    Purged,
    PurgeRequest,
    RecentMessages,
    RecentQuery,
)
from plastic_memories.wire.recall import message_row

router = APIRouter(
    prefix="/messages", tags=["messages"], route_class=KeyedRoute, responses=FAILURES
)
_DAY_S = 86_400.0


@router.post("/append", response_model=Answer[Appended])
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


@router.get("/recent", response_model=Answer[RecentMessages])
async def recent(asked: Annotated[RecentQuery, Query()], call: Reading) -> Response:
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
    found = await call.hub.messages.find(call.owner(asked.persona_id), wanted)
    return call.reply(RecentMessages(messages=[message_row(message) for message in found]))


@router.post("/purge", response_model=Answer[Purged])
async def purge(body: PurgeRequest, call: Writing) -> Response:
    """Erase messages for good."""
    wanted = MessageFilter(
        until_ts=body.until(call.now()),
        session_id=body.session_id,
        source_app=call.app(None) or None,
        bot_id=None if body.bots == "all" else body.bot_id or "",
    )
    deleted = await call.hub.messages.purge(call.caller, call.owner(body.persona_id), wanted)
    return call.reply(Purged(status="ok", deleted=deleted))
