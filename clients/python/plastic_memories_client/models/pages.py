"""Models of Markdown pages."""

from __future__ import annotations

from pydantic import Field

from .record import Record, Result


class PageTitle(Record):
    id: str = ""
    title: str = ""


class Page(Result):
    """A Markdown page; `truncated` if it is too long to be returned whole."""

    id: str = ""
    title: str = ""
    text: str = ""
    truncated: bool = False


class PageIndex(Result):
    """The whole core page, and the titles and ids of the others."""

    core: Page | None = None
    extended: list[PageTitle] = Field(default_factory=list)


class SkippedLine(Record):
    line: int = 0
    reason: str = ""


class PageSync(Record):
    """The outcome of one sync: ids of memories, and lines that were written or refused."""

    page: str = ""
    added: list[int] = Field(default_factory=list)
    changed: list[int] = Field(default_factory=list)
    revoked: list[int] = Field(default_factory=list)
    conflicts: list[int] = Field(default_factory=list)
    written: int = 0
    skipped: list[SkippedLine] = Field(default_factory=list)
