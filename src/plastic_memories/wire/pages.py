"""Request and response bodies of /memory/pages and /memory/page."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from plastic_memories.model.page import PageIndex, PageView
from plastic_memories.wire.fields import BotRequest, NonEmptyText, PersonaRequest, ResponseBody


class PageIndexQuery(BotRequest):
    pass


class PageQuery(BotRequest):
    page_id: Annotated[NonEmptyText, Field(max_length=2000)]


class SyncPagesRequest(PersonaRequest):
    pass


class PageRow(ResponseBody):
    id: str
    title: str


class PageTextRow(PageRow):
    text: str
    truncated: bool


class PageIndexResponse(ResponseBody):
    core: PageTextRow | None
    extended: list[PageRow]


class SkippedLineRow(ResponseBody):
    line: int
    reason: str


class PageSyncRow(ResponseBody):
    page: str
    added: list[int]
    changed: list[int]
    revoked: list[int]
    conflicts: list[int]
    written: int
    skipped: list[SkippedLineRow]


class SyncPagesResponse(ResponseBody):
    status: str
    items: list[PageSyncRow]


def page_text_row(page: PageView) -> PageTextRow:
    return PageTextRow(id=page.id, title=page.title, text=page.text, truncated=page.truncated)


def page_index_response(found: PageIndex) -> PageIndexResponse:
    return PageIndexResponse(
        core=page_text_row(found.core) if found.core else None,
        extended=[PageRow(id=one.id, title=one.title) for one in found.extended],
    )
