"""Port of the page folders: reads and writes the user's Markdown pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from plastic_memories.model.owner import Owner, User
from plastic_memories.model.page import PageFile, PageFolderListing


class PageFolders(Protocol):
    """One folder per user, and one per persona of theirs (`persona_id` '' is the user's own).

    Nothing outside the user's folder is read or written, whatever names or links say. Anything
    but a regular file is ignored. Raises `Unavailable` when the disk does not answer in time.
    It has nine methods: six read pages in ways that differ in what a caller may wait for.
    """

    def may_have_pages(self, user: User) -> bool:
        """Return at once, without disk access that can block, whether a user may have pages."""
        ...

    async def list_pages(
        self, user: User, persona_id: str
    ) -> tuple[PageFolderListing, PageFolderListing]:
        """Return the pages of the user and of one persona; cheap when nothing changed."""
        ...

    async def read_page(self, folder: Owner, name: str) -> PageFile | None:
        """Return one page of `extended`, cut at a limit; None if it does not exist."""
        ...

    async def read_pages(self, files: Sequence[tuple[Owner, str]]) -> list[PageFile | None]:
        """Return the beginnings of pages of `extended`, in order, as many as a recall can read."""
        ...

    async def read_core(self, folder: Owner) -> PageFile | None:
        """Return the core page as it is on disk now."""
        ...

    async def core_stamps(self, folders: Sequence[Owner]) -> list[str]:
        """Return the stamps of core pages without reading them; '' for a missing page."""
        ...

    async def write_core(self, folder: Owner, text: str, seen: PageFile | None) -> PageFile | None:
        """Write the core page atomically; return None if it no longer equals `seen`."""
        ...

    async def remove_user(self, user: User) -> int:
        """Remove all pages of a user and their personas; return how many files there were."""
        ...

    def close(self) -> None: ...
