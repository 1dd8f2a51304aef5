"""Bodies of /memory/pages and /memory/page."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from plastic_memories.model.page import Page, PageIndex
from plastic_memories.wire.fields import AsBot, ForPersona, NonEmptyText, Out


class IndexQuery(AsBot):
    pass


class PageQuery(AsBot):
    page_id: Annotated[NonEmptyText, Field(max_length=2000)]


class SyncRequest(ForPersona):
    pass


class PageRow(Out):
    id: str
    title: str


class PageText(PageRow):
    text: str
    truncated: bool


class Index(Out):
    core: PageText | None
    extended: list[PageRow]


class SkippedLine(Out):
    line: int
    reason: str


class SyncedPage(Out):
    page: str
    added: list[int]
    changed: list[int]
    revoked: list[int]
    conflicts: list[int]
    written: int
    skipped: list[SkippedLine]


class SyncAnswer(Out):
    status: str
    items: list[SyncedPage]


def page_text(page: Page) -> PageText:
    return PageText(id=page.id, title=page.title, text=page.text, truncated=page.truncated)


def index_of(found: PageIndex) -> Index:
    return Index(
        core=page_text(found.core) if found.core else None,
        extended=[PageRow(id=one.id, title=one.title) for one in found.extended],
    )
