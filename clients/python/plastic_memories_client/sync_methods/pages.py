# Generated from async_methods/pages.py (`make docs`); do not edit.
"""Methods for the user's Markdown pages."""

from __future__ import annotations

from ..models import Page, PageIndex, PageSync
from .sender import Sender


class Pages(Sender):
    def pages(self, persona_id: str | None = None) -> PageIndex:
        """Return the core page, and the titles and ids of the others."""
        return self._send(self._calls.pages(persona_id))

    def page(self, page_id: str, *, persona_id: str | None = None) -> Page:
        """Return one page, such as `memory://extended/x.md`."""
        return self._send(self._calls.page(page_id, persona_id))

    def pages_sync(self, persona_id: str | None = None) -> list[PageSync]:
        """Synchronize core pages with memories, now and from now on."""
        return self._send(self._calls.pages_sync(persona_id))
