"""Markdown pages that a person edits beside the memories: one core page and extended pages."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.model.owner import Owner

CORE_ID = "memory://core"
CORE_NAME = "core.md"


@dataclass(frozen=True, slots=True)
class PageTitle:
    id: str
    title: str


@dataclass(frozen=True, slots=True)
class PagePassage:
    """A few lines of an extended page."""

    page: PageTitle
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PageView:
    """A page for display: without its hidden lines, truncated if it is very long."""

    id: str
    title: str
    text: str
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class PageIndex:
    """The readable pages: the whole core, and the titles of the extended pages."""

    core: PageView | None = None
    extended: tuple[PageTitle, ...] = ()


@dataclass(frozen=True, slots=True)
class Encoding:
    """The encoding in which a file was read, so that it is written back the same way."""

    codec: str = "utf-8"
    mark: bytes = b""
    exact: bool = True  # decoding lost nothing


@dataclass(frozen=True, slots=True)
class PageFile:
    """A page file on disk; `stamp` changes whenever the file does."""

    name: str
    text: str
    stamp: str
    encoding: Encoding = Encoding()
    whole: bool = True  # not truncated at the size limit


@dataclass(frozen=True, slots=True)
class PageFolderListing:
    """The pages of one folder: the core, and (name, title) of the others, ordered by name."""

    core: PageFile | None = None
    extended: tuple[tuple[str, str], ...] = ()
    stamps: tuple[str, ...] = ()  # of the files of `extended`, in the same order

    def __bool__(self) -> bool:
        return self.core is not None or bool(self.extended)


@dataclass(frozen=True, slots=True)
class SyncedFolder:
    """A synchronised folder and its state after the last synchronisation.

    `folder.persona_id` is '' for the user's own folder; its new lines are stored for
    `target_persona_id`.
    """

    folder: Owner
    target_persona_id: str
    stamp: str = ""
    audit_id: int = 0
