"""What both clients do with Markdown pages."""

from __future__ import annotations

from typing import TypeVar

from .calls import Calls
from .models import Page, PageIndex, PageSync
from .protocol import Call

T = TypeVar("T")


class PageMethods:
    _calls: Calls

    def _send(self, call: Call[T]) -> T:
        raise NotImplementedError

    def pages(self, persona_id: str | None = None) -> PageIndex:
        """Return the core page, and the titles and ids of the others."""
        return self._send(self._calls.pages(persona_id))

    def page(self, page_id: str, *, persona_id: str | None = None) -> Page:
        """Return one page, such as `memory://extended/x.md`."""
        return self._send(self._calls.page(page_id, persona_id))

    def pages_sync(self, persona_id: str | None = None) -> list[PageSync]:
        """Bring core pages and memories into step, and keep them there."""
        return self._send(self._calls.pages_sync(persona_id))


class AsyncPageMethods:
    _calls: Calls

    async def _send(self, call: Call[T]) -> T:
        raise NotImplementedError

    async def pages(self, persona_id: str | None = None) -> PageIndex:
        """Return the core page, and the titles and ids of the others."""
        return await self._send(self._calls.pages(persona_id))

    async def page(self, page_id: str, *, persona_id: str | None = None) -> Page:
        """Return one page, such as `memory://extended/x.md`."""
        return await self._send(self._calls.page(page_id, persona_id))

    async def pages_sync(self, persona_id: str | None = None) -> list[PageSync]:
        """Bring core pages and memories into step, and keep them there."""
        return await self._send(self._calls.pages_sync(persona_id))
