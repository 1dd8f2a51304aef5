"""Where finished conversations and exports are kept."""

from __future__ import annotations

from typing import Protocol


class Archive(Protocol):
    """Whole texts under paths with `/` between their parts.

    Raises `Unavailable` when it cannot be reached now. What `put` has returned from is durable;
    a reader sees a text as it was before or as it is now, never a part of it.

    The promises below are executable: `plastic_memories.testing.ArchiveContract`.
    """

    @property
    def is_enabled(self) -> bool:
        """Say whether anything is kept at all."""
        ...

    async def put(self, path: str, text: str) -> None: ...

    async def get(self, path: str) -> str | None:
        """Return a text; None if there is none."""
        ...

    async def remove(self, path: str) -> bool:
        """Remove one text; say whether there was one."""
        ...

    async def names_in(self, folder: str) -> list[str]:
        """Return the names of the texts right in a folder, one that was never finished as well."""
        ...

    async def remove_under(self, folder: str) -> int:
        """Remove everything below a folder; return how many texts that was."""
        ...
