"""/memory/pages, /memory/page: the user's Markdown pages."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from plastic_memories.errors import NotFound
from plastic_memories.http.context import Call, KeyedRoute, Reading, Writing
from plastic_memories.http.envelope import FAILURES
from plastic_memories.hub.page_taking import Synced
from plastic_memories.hub.pages import are_for
from plastic_memories.model.owner import Owner
from plastic_memories.model.page import PageIndex
from plastic_memories.wire import pages as wire
from plastic_memories.wire.envelope import Answer
from plastic_memories.wire.text import AsBot

router = APIRouter(prefix="/memory", tags=["memory"], route_class=KeyedRoute, responses=FAILURES)


@router.get("/pages", response_model=Answer[wire.Index])
async def pages(asked: Annotated[wire.IndexQuery, Query()], call: Reading) -> Response:
    """Show the core page, and the titles and ids of the others."""
    owner = _reader(asked, call)
    found = await call.hub.pages.index(owner.user, owner.persona_id) if owner else PageIndex()
    return call.reply(wire.index_of(found))


@router.get("/page", response_model=Answer[wire.PageText])
async def page(asked: Annotated[wire.PageQuery, Query()], call: Reading) -> Response:
    """Show one page, such as `memory://extended/x.md`."""
    owner = _reader(asked, call)
    if owner is None:
        raise NotFound(f"There is no page {asked.page_id} here.")
    found = await call.hub.pages.read(owner.user, owner.persona_id, asked.page_id)
    return call.reply(wire.page_text(found))


@router.post("/pages/sync", response_model=Answer[wire.SyncAnswer])
async def sync(body: wire.SyncRequest, call: Writing) -> Response:
    """Bring core pages and memories into step, and keep them there from now on."""
    owner = call.owner(body.persona_id)
    done = await call.hub.page_sync(call.caller, owner.persona_id)
    return call.reply(wire.SyncAnswer(status="ok", items=[_synced(one) for one in done]))


def _reader(asked: AsBot, call: Call) -> Owner | None:
    view = call.view(asked)
    return view.owner if are_for(view) else None


def _synced(done: Synced) -> wire.SyncedPage:
    return wire.SyncedPage(
        page=done.page,
        added=list(done.added),
        changed=list(done.changed),
        revoked=list(done.revoked),
        conflicts=list(done.conflicts),
        written=done.written,
        skipped=[wire.SkippedLine(line=line, reason=reason) for line, reason in done.skipped],
    )
