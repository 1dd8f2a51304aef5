"""Keeps which Markdown pages are in step with the memories, and what is hidden in them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from plastic_memories.model.owner import Owner, User
from plastic_memories.model.page import KeptFolder


class PageStore(Protocol):
    """One transaction's view; of the pages' text there is nothing here but digests."""

    def kept(self, after: Owner | None, limit: int) -> list[KeptFolder]:
        """Return folders of everybody that are kept in step, in a fixed order, after one."""
        ...

    def keep(self, kept: KeptFolder) -> None:
        """Keep a folder in step from now on, or note how things stand with it."""
        ...

    def keep_everybody(self, kept_for: str) -> int:
        """Keep a folder for every persona and user there is; return how many are new."""
        ...

    def lines(self, folder: Owner) -> Mapping[int, str]:
        """Return the digests of the lines that were last in step, by the memory's root."""
        ...

    def put_lines(self, folder: Owner, lines: Mapping[int, str]) -> None:
        """Note which lines are in step now, and no others."""
        ...

    def changed_since(self, user: User, audit_id: int) -> int:
        """Return the last change of the user's memories after one in the audit log; 0 for none."""
        ...

    def mutes(self, user: User) -> frozenset[str]:
        """Return the marks of lines that are neither shown nor learned."""
        ...

    def mute(self, user: User, marks: Collection[str], now: float) -> None: ...
