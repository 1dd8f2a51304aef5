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
)
from plastic_memories.wire.recall import message_row
from plastic_memories.wire.text import Id, Name

router = APIRouter(
    prefix="/messages", tags=["messages"], route_class=KeyedRoute, responses=FAILURES
)
_DAY_S = 86_400.0
OptionalQuery = Annotated[str | None, Query(max_length=200)]


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
async def recent(  # noqa: PLR0913 - one argument for each query parameter
    request: Request,
    caller: CallerDep,
    hub: HubDep,
    persona_id: Name,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
    days: Annotated[float | None, Query(gt=0, le=1e6, allow_inf_nan=False)] = None,
    session_id: OptionalQuery = None,
    source_app: OptionalQuery = None,
    before_id: Id | None = None,
    bot_id: OptionalQuery = None,
    bots: Annotated[str | None, Query(pattern="^(all)?$")] = None,
) -> Response:
    """Show messages, newest first."""
    wanted = MessageFilter(
        session_id=session_id,
        source_app=app_of(caller.key, source_app) or None,
        since_ts=None if days is None else hub.ledger.clock.now() - days * _DAY_S,
        before_id=before_id,
        bot_id=None if bots == "all" else bot_id or "",
        limit=limit,
    )
    found = await hub.messages.find(caller.owner(persona_id), wanted)
    return reply(request, RecentMessages(messages=[message_row(message) for message in found]))


@router.post("/purge", response_model=Answer[Purged])
async def purge(body: PurgeRequest, request: Request, caller: WriterDep, hub: HubDep) -> Response:
    """Erase messages for good."""
    wanted = MessageFilter(until_ts=body.until(hub.ledger.clock.now()), session_id=body.session_id)
    deleted = await hub.messages.purge(caller, caller.owner(body.persona_id), wanted)
    return reply(request, Purged(status="ok", deleted=deleted))
