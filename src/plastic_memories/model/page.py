"""Markdown pages that a person keeps beside the memories: one core, and what is read on demand."""

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
class PageView:
    """A page as it is shown: without what is hidden in it, and cut if it is very long."""

    id: str
    title: str
    text: str
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class PageIndex:
    """What there is to read: the core as a whole, of the others their titles."""

    core: PageView | None = None
    extended: tuple[PageTitle, ...] = ()


@dataclass(frozen=True, slots=True)
class Encoding:
    """How the bytes of a file were read, so that they can be written the same way."""

    codec: str = "utf-8"
    mark: bytes = b""
    exact: bool = True  # nothing was lost in reading


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file as it lies on the disk; `stamp` changes whenever the file does."""

    name: str
    text: str
    stamp: str
    encoding: Encoding = Encoding()
    whole: bool = True  # not cut at the limit


@dataclass(frozen=True, slots=True)
class PageFolderListing:
    """The pages of one folder: the core, and the names and titles of the others, by name."""

    core: PageFile | None = None
    extended: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return self.core is not None or bool(self.extended)


@dataclass(frozen=True, slots=True)
class SyncedFolder:
    """A folder that is kept in step, and how things stood when it last was.

    `folder.persona_id` is '' for the user's own, whose new lines are stored for `kept_for`.
    """

    folder: Owner
    target_persona_id: str
    stamp: str = ""
    audit_id: int = 0
