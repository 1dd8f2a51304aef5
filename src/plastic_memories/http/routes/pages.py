"""/memory/pages, /memory/page: the user's Markdown pages."""

from __future__ import annotations

from starlette.responses import Response

from plastic_memories.errors import NotFound
from plastic_memories.http.caller_context import Call, Reading, Writing, keyed
from plastic_memories.http.envelope import FAILURES
from plastic_memories.http.routing import Routes
from plastic_memories.hub.pages.page_changes import Synced
from plastic_memories.hub.pages.read_pages import are_for
from plastic_memories.model.owner import Owner
from plastic_memories.model.page import PageIndex
from plastic_memories.wire import pages as wire
from plastic_memories.wire.fields import AsBot

router = Routes(keyed, prefix="/memory", tags=["memory"], responses=FAILURES)


@router.get("/pages", answers=wire.Index)
async def pages(asked: wire.IndexQuery, call: Reading) -> Response:
    """Show the core page, and the titles and ids of the others."""
    owner = _reader(asked, call)
    found = await call.hub.pages.index(owner.user, owner.persona_id) if owner else PageIndex()
    return call.reply(wire.index_of(found))


@router.get("/page", answers=wire.PageText)
async def page(asked: wire.PageQuery, call: Reading) -> Response:
    """Show one page, such as `memory://extended/x.md`."""
    owner = _reader(asked, call)
    if owner is None:
        raise NotFound(f"There is no page {asked.page_id} here.")
    found = await call.hub.pages.read(owner.user, owner.persona_id, asked.page_id)
    return call.reply(wire.page_text(found))


@router.post("/pages/sync", answers=wire.SyncAnswer)
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
