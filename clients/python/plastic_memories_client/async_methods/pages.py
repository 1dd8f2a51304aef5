"""Methods for the user's Markdown pages."""

from __future__ import annotations

from ..models import Page, PageIndex, PageSync
from .sender import AsyncSender


class AsyncPages(AsyncSender):
    async def pages(self, persona_id: str | None = None) -> PageIndex:
        """Return the core page, and the titles and ids of the others."""
        return await self._send(self._calls.pages(persona_id))

    async def page(self, page_id: str, *, persona_id: str | None = None) -> Page:
        """Return one page, such as `memory://extended/x.md`."""
        return await self._send(self._calls.page(page_id, persona_id))

    async def pages_sync(self, persona_id: str | None = None) -> list[PageSync]:
        """Synchronize core pages with memories, now and from now on."""
        return await self._send(self._calls.pages_sync(persona_id))
