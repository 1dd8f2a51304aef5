"""Remove forgotten memories from pages, and hide other lines that repeat them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plastic_memories.errors import Unavailable
from plastic_memories.formats.pages.markdown_page import page_id
from plastic_memories.formats.pages.page_lines import (
    PageLine,
    join_lines,
    mute_digest,
    parse_page,
    statement_of,
)
from plastic_memories.hub.pages.page_changes import PERSONA_CORE_ID
from plastic_memories.hub.pages.sync import PageLocks
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.language.text.tokens import normalise_script
from plastic_memories.model.memory import Memory
from plastic_memories.model.owner import Owner, User
from plastic_memories.model.page import CORE_ID, PageFile, PageFolderListing
from plastic_memories.ports.page_folders import PageFolders
from plastic_memories.ports.storage import Stores

_MAX_ATTEMPTS = 3
# Shorter statements occur in too many unrelated lines.
_MIN_WIDTH = 4


@dataclass(frozen=True, slots=True)
class ForgottenText:
    """What must not be shown again: statements, and the root ids of their lines."""

    statements: frozenset[str]
    roots: frozenset[int]

    def matches_line(self, line: PageLine) -> bool:
        return bool(line.text) and normalise_script(line.text) in self.statements

    def occurs_in(self, text: str) -> bool:
        normalised = normalise_script(text)
        return any(
            _text_width(words) >= _MIN_WIDTH and words in normalised for words in self.statements
        )


@dataclass(slots=True)
class _RemovalReport:
    checked: int = 0
    removed: int = 0
    repeats: dict[str, set[str]] = field(default_factory=dict)  # page → lines that repeat it

    def add_page(self, page: str, lines: Collection[str]) -> None:
        self.checked += 1
        if lines:
            self.repeats.setdefault(page, set()).update(lines)


@dataclass(frozen=True, slots=True)
class ForgetInPages:
    storage: AuditedStorage
    folders: PageFolders | None
    locks: PageLocks

    async def __call__(self, owner: Owner, gone: Sequence[Memory]) -> Mapping[str, Any]:
        """Remove the lines of erased memories from core pages; hide and report other repeats.

        A person's own text is never changed: a line that says more than the forgotten statement
        stays in its file, but recall, readers and later rounds no longer see it.
        """
        if self.folders is None or not gone:
            return {}
        forgotten = ForgottenText(
            frozenset(
                text for memory in gone if (text := normalise_script(statement_of(memory.content)))
            ),
            frozenset(memory.root_id for memory in gone),
        )
        try:
            listings = await self.folders.list_pages(owner.user, owner.persona_id)
            if not any(listings):
                return {}
            async with self.locks.lock_for(owner.user):
                report = await self._remove_lines(owner, listings, forgotten)
                await self._hide(owner.user, report)
        except Unavailable:
            # The next round removes synchronised lines; recall does not show them even now.
            return {"pages": {"checked": 0, "lines_removed": 0, "hidden_in": [], "waiting": 1}}
        receipt = {"checked": report.checked, "lines_removed": report.removed}
        return {"pages": {**receipt, "hidden_in": sorted(report.repeats), "waiting": 0}}

    async def forget_persona(self, owner: Owner) -> Mapping[str, Any]:
        """Remove the synchronised lines of a deleted persona's page; the person's own stay."""
        if self.folders is None:
            return {}
        try:
            listing = (await self.folders.list_pages(owner.user, owner.persona_id))[1]
            if not listing:
                return {}
            async with self.locks.lock_for(owner.user):
                removed = await self._rewrite(owner, lambda line: line.root is None)
        except Unavailable:
            return {"pages": {"lines_removed": 0, "left": 0, "waiting": 1}}
        left = len(listing.extended) + (listing.core is not None)
        return {"pages": {"lines_removed": removed, "left": left, "waiting": 0}}

    async def forget_user(self, user: User) -> Mapping[str, Any]:
        """Remove all pages of an erased user, those written by hand as well."""
        if self.folders is None:
            return {}
        try:
            async with self.locks.lock_for(user):
                return {"pages": {"removed": await self.folders.remove_user(user), "waiting": 0}}
        except Unavailable:
            return {"pages": {"removed": 0, "waiting": 1}}

    async def _remove_lines(
        self,
        owner: Owner,
        listings: tuple[PageFolderListing, PageFolderListing],
        forgotten: ForgottenText,
    ) -> _RemovalReport:
        assert self.folders is not None
        report = _RemovalReport()
        folders = (Owner(owner.tenant_id, owner.user_id, ""), owner)
        for folder, listing in zip(folders, listings, strict=True):
            if listing.core is not None:
                report.removed += await self._rewrite(
                    folder, lambda line: not forgotten.matches_line(line)
                )
                core = await self.folders.read_core(folder)
                page = PERSONA_CORE_ID if folder.persona_id else CORE_ID
                report.add_page(page, await asyncio.to_thread(_repeating_lines, core, forgotten))
            for name, title in listing.extended:
                file = await self.folders.read_page(folder, name)
                lines = await asyncio.to_thread(_repeating_lines, file, forgotten)
                lines |= {text for text in (title, name) if forgotten.occurs_in(text)}
                report.add_page(page_id(name, of_persona=bool(folder.persona_id)), lines)
        return report

    async def _rewrite(self, folder: Owner, keeps: Callable[[PageLine], bool]) -> int:
        """Rewrite a core page without some lines; return how many were removed."""
        assert self.folders is not None
        for _ in range(_MAX_ATTEMPTS):
            file = await self.folders.read_core(folder)
            if file is None or not (file.whole and file.encoding.exact):
                return 0
            lines = parse_page(file.text)
            remaining = [line for line in lines if keeps(line)]
            if len(remaining) == len(lines):
                return 0
            if await self.folders.write_core(folder, join_lines(remaining), file) is not None:
                return len(lines) - len(remaining)
        raise Unavailable("The page changes while it is read.")

    async def _hide(self, user: User, report: _RemovalReport) -> None:
        lines = {line for repeating in report.repeats.values() for line in repeating}
        now = self.storage.clock.now()

        def work(stores: Stores) -> None:
            secret = stores.tombstones.secret()
            stores.pages.mute_lines(user, [mute_digest(secret, user, line) for line in lines], now)

        if lines:
            await self.storage.write(work)


def _repeating_lines(file: PageFile | None, forgotten: ForgottenText) -> set[str]:
    """Return lines that contain a forgotten statement, or were synchronised with one and edited.

    A line of another memory stays visible as long as that memory.
    """
    lines = parse_page(file.text) if file else []
    return {
        line.display_text
        for line in lines
        if (
            forgotten.occurs_in(line.display_text)
            if line.root is None
            else line.root in forgotten.roots
        )
    }


def _text_width(words: str) -> int:
    return sum(2 if char > "\u2e7f" else 1 for char in words)
