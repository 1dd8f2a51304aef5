"""Keeps which Markdown pages are in step with the memories, and what is hidden in them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from plastic_memories.model.owner import Owner, User
from plastic_memories.model.page import SyncedFolder


class PageStore(Protocol):
    """One transaction's view; of the pages' text there is nothing here but digests."""

    def synced_folders(self, after: Owner | None, limit: int) -> list[SyncedFolder]:
        """Return folders of everybody that are kept in step, in a fixed order, after one."""
        ...

    def save_folder(self, kept: SyncedFolder) -> None:
        """Keep a folder in step from now on, or note how things stand with it."""
        ...

    def add_all_folders(self, kept_for: str) -> int:
        """Keep a folder for every persona and user there is; return how many are new."""
        ...

    def line_digests(self, folder: Owner) -> Mapping[int, str]:
        """Return the digests of the lines that were last in step, by the memory's root."""
        ...

    def save_line_digests(self, folder: Owner, lines: Mapping[int, str]) -> None:
        """Note which lines are in step now, and no others."""
        ...

    def last_change_after(self, user: User, audit_id: int) -> int:
        """Return the last change of the user's memories after one in the audit log; 0 for none."""
        ...

    def muted_lines(self, user: User) -> frozenset[str]:
        """Return the marks of lines that are neither shown nor learned."""
        ...

    def mute_lines(self, user: User, marks: Collection[str], now: float) -> None: ...
