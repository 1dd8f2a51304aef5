"""/messages/*"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from plastic_memories.http.context import (
    CallerDep,
    HubDep,
    KeyedRoute,
    OptionsDep,
    WriterDep,
    app_of,
    check_length,
)
from plastic_memories.http.envelope import FAILURES, reply
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
async def append(
    body: AppendRequest, request: Request, caller: WriterDep, hub: HubDep, options: OptionsDep
) -> Response:
    """Keep one message, or up to 100 of them; the same client_msg_id is kept once."""
    owner = caller.owner(body.persona_id)
    now = hub.ledger.clock.now()
    shared = body if isinstance(body, AppendMany) else None
    given = body.messages if isinstance(body, AppendMany) else [body]
    for one in given:
        check_length(one.content, options.max_content_chars, "content")
    messages = [one.message(owner, now, shared) for one in given]
    bound = [
        replace(message, source_app=app_of(caller.key, message.source_app)) for message in messages
    ]
    stored = await hub.messages.append(caller, owner, bound)
    ids = [row.message_id for row in stored]
    deduped = [row.message_id for row in stored if row.deduped]
    return reply(
        request, Appended(status="ok", message_id=ids[-1], message_ids=ids, deduped=deduped)
    )


@router.get("/recent", response_model=Answer[RecentMessages])
async def recent(
    asked: Annotated[RecentQuery, Query()], request: Request, caller: CallerDep, hub: HubDep
) -> Response:
    """Show messages, newest first."""
    now = hub.ledger.clock.now()
    wanted = MessageFilter(
        session_id=asked.session_id,
        source_app=app_of(caller.key, asked.source_app) or None,
        since_ts=None if asked.days is None else now - asked.days * _DAY_S,
        before_id=asked.before_id,
        bot_id=None if asked.bots == "all" else asked.bot_id or "",
        limit=asked.limit,
    )
    found = await hub.messages.find(caller.owner(asked.persona_id), wanted)
    return reply(request, RecentMessages(messages=[message_row(message) for message in found]))


@router.post("/purge", response_model=Answer[Purged])
async def purge(body: PurgeRequest, request: Request, caller: WriterDep, hub: HubDep) -> Response:
    """Erase messages for good."""
    wanted = MessageFilter(until_ts=body.until(hub.ledger.clock.now()), session_id=body.session_id)
    deleted = await hub.messages.purge(caller, caller.owner(body.persona_id), wanted)
    return reply(request, Purged(status="ok", deleted=deleted))
