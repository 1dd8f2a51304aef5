"""Calls to /memory/pages and /memory/page."""

from __future__ import annotations

from ..models import Page, PageIndex, PageSync
from ..protocol import Call, get, post, records, result
from .context import CallContext


class PageCalls(CallContext):
    __slots__ = ()

    def pages(self, persona_id: str | None) -> Call[PageIndex]:
        return get("/memory/pages", result(PageIndex), self.persona_fields(persona_id))

    def page(self, page_id: str, persona_id: str | None) -> Call[Page]:
        return get("/memory/page", result(Page), self.persona_fields(persona_id, page_id=page_id))

    def pages_sync(self, persona_id: str | None) -> Call[list[PageSync]]:
        return post("/memory/pages/sync", records(PageSync), self.persona_fields(persona_id))
