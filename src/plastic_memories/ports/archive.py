"""Port of the archive: stores finished conversations and exports as files."""

from __future__ import annotations

from typing import Protocol


class Archive(Protocol):
    """Whole texts under paths with `/` between their parts.

    Raises `Unavailable` when it cannot be reached now. When `put` returns, the text is durable;
    a reader sees the old or the new text, never a part of it.

    The promises below are executable: `plastic_memories.testing.ArchiveContract`.
    """

    @property
    def is_enabled(self) -> bool:
        """Return whether anything is stored at all."""
        ...

    async def put(self, path: str, text: str) -> None: ...

    async def get(self, path: str) -> str | None:
        """Return a text; None if there is none."""
        ...

    async def remove(self, path: str) -> bool:
        """Remove one text; return whether it existed."""
        ...

    async def names_in(self, folder: str) -> list[str]:
        """Return the names of the texts directly in a folder, including unfinished ones."""
        ...

    async def remove_under(self, folder: str) -> int:
        """Remove all texts below a folder; return how many there were."""
        ...
