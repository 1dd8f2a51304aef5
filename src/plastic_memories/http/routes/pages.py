"""Routes for the user's Markdown pages: /memory/pages, /memory/page."""

from __future__ import annotations

from starlette.responses import Response

from plastic_memories.errors import NotFound
from plastic_memories.http.caller_context import ApiCall, ReadCall, WriteCall, keyed_endpoint
from plastic_memories.http.envelope import FAILURES
from plastic_memories.http.routing import Routes
from plastic_memories.hub.pages.page_changes import PageSyncOutcome
from plastic_memories.hub.pages.read_pages import sees_pages
from plastic_memories.model.owner import Owner
from plastic_memories.model.page import PageIndex
from plastic_memories.wire import pages as wire
from plastic_memories.wire.fields import BotRequest

router = Routes(keyed_endpoint, prefix="/memory", tags=["memory"], responses=FAILURES)


@router.get("/pages", answers=wire.PageIndexResponse)
async def pages(query: wire.PageIndexQuery, call: ReadCall) -> Response:
    """Return the core page, and the titles and ids of the others."""
    owner = _page_reader(query, call)
    found = await call.hub.pages.index(owner.user, owner.persona_id) if owner else PageIndex()
    return call.reply(wire.page_index_response(found))


@router.get("/page", answers=wire.PageTextRow)
async def page(query: wire.PageQuery, call: ReadCall) -> Response:
    """Return one page, such as `memory://extended/x.md`."""
    owner = _page_reader(query, call)
    if owner is None:
        raise NotFound(f"There is no page {query.page_id} here.")
    found = await call.hub.pages.read(owner.user, owner.persona_id, query.page_id)
    return call.reply(wire.page_text_row(found))


@router.post("/pages/sync", answers=wire.SyncPagesResponse)
async def sync(body: wire.SyncPagesRequest, call: WriteCall) -> Response:
    """Synchronize core pages with memories, now and from now on."""
    owner = call.owner(body.persona_id)
    done = await call.hub.page_sync(call.caller, owner.persona_id)
    return call.reply(
        wire.SyncPagesResponse(status="ok", items=[_page_sync_row(one) for one in done])
    )


def _page_reader(query: BotRequest, call: ApiCall) -> Owner | None:
    view = call.view(query)
    return view.owner if sees_pages(view) else None


def _page_sync_row(done: PageSyncOutcome) -> wire.PageSyncRow:
    return wire.PageSyncRow(
        page=done.page,
        added=list(done.added),
        changed=list(done.changed),
        revoked=list(done.revoked),
        conflicts=list(done.conflicts),
        written=done.written,
        skipped=[wire.SkippedLineRow(line=line, reason=reason) for line, reason in done.skipped],
    )
