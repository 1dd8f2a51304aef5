"""Where Markdown pages lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from plastic_memories.model.owner import Owner, User
from plastic_memories.model.page import PageFile, PageFolderListing


class PageFolders(Protocol):
    """One folder for each user, and one for each persona of theirs (`persona_id` '' is the user's).

    Nothing outside the user's own folder is read or written, whatever names or links say. What
    is no plain file does not exist. Raises `Unavailable` when the disk does not answer in time.
    """

    def may_have_pages(self, user: User) -> bool:
        """Say at once, without a look that can take time, whether a user may have pages."""
        ...

    async def list_pages(
        self, user: User, persona_id: str
    ) -> tuple[PageFolderListing, PageFolderListing]:
        """Return the user's own pages and those of one persona; cheap when nothing changed."""
        ...

    async def read_page(self, folder: Owner, name: str) -> PageFile | None:
        """Return one page of `extended`, cut at a limit; None if there is none such."""
        ...

    async def read_core(self, folder: Owner) -> PageFile | None:
        """Return the core page as it is on the disk now."""
        ...

    async def core_stamps(self, folders: Sequence[Owner]) -> list[str]:
        """Return the stamps of core pages without reading them; '' where there is none."""
        ...

    async def write_core(self, folder: Owner, text: str, seen: PageFile | None) -> PageFile | None:
        """Write the core page, whole or not at all; None if it is not what was seen any more."""
        ...

    def close(self) -> None: ...
