"""Take what is forgotten out of the pages, and hide what a person's own text repeats of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plastic_memories.errors import Unavailable
from plastic_memories.formats.markdown_page import page_id
from plastic_memories.formats.page_lines import (
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
# Fewer letters stand in too many lines that have nothing to do with it.
_MIN_WIDTH = 4


@dataclass(frozen=True, slots=True)
class ForgottenText:
    """What must not be read again: the words, and the anchors that led to them."""

    statements: frozenset[str]
    roots: frozenset[int]

    def matches_line(self, line: PageLine) -> bool:
        return bool(line.text) and normalise_script(line.text) in self.statements

    def occurs_in(self, text: str) -> bool:
        said = normalise_script(text)
        return any(_text_width(words) >= _MIN_WIDTH and words in said for words in self.statements)


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
        """Remove its lines from the core pages; what else repeats it is hidden, and named.

        Nobody's own text is changed: a line that says more than what is forgotten stays in its
        file, but no recall, no reader and no later round sees it any more.
        """
        if self.folders is None or not gone:
            return {}
        what = ForgottenText(
            frozenset(
                text for one in gone if (text := normalise_script(statement_of(one.content)))
            ),
            frozenset(one.root_id for one in gone),
        )
        try:
            shelves = await self.folders.list_pages(owner.user, owner.persona_id)
            if not any(shelves):
                return {}
            async with self.locks.lock_for(owner.user):
                found = await self._remove_lines(owner, shelves, what)
                await self._hide(owner.user, found)
        except Unavailable:
            # Lines in step vanish at the next round; no recall shows them even now.
            return {"pages": {"checked": 0, "lines_removed": 0, "hidden_in": [], "waiting": 1}}
        receipt = {"checked": found.checked, "lines_removed": found.removed}
        return {"pages": {**receipt, "hidden_in": sorted(found.repeats), "waiting": 0}}

    async def forget_persona(self, owner: Owner) -> Mapping[str, Any]:
        """Remove the lines in step from a page whose persona is gone; the person's own stay."""
        if self.folders is None:
            return {}
        try:
            shelf = (await self.folders.list_pages(owner.user, owner.persona_id))[1]
            if not shelf:
                return {}
            async with self.locks.lock_for(owner.user):
                removed = await self._rewrite(owner, lambda line: line.root is None)
        except Unavailable:
            return {"pages": {"lines_removed": 0, "left": 0, "waiting": 1}}
        left = len(shelf.extended) + (shelf.core is not None)
        return {"pages": {"lines_removed": removed, "left": left, "waiting": 0}}

    async def _remove_lines(
        self,
        owner: Owner,
        shelves: tuple[PageFolderListing, PageFolderListing],
        what: ForgottenText,
    ) -> _RemovalReport:
        assert self.folders is not None
        found = _RemovalReport()
        folders = (Owner(owner.tenant_id, owner.user_id, ""), owner)
        for folder, shelf in zip(folders, shelves, strict=True):
            if shelf.core is not None:
                found.removed += await self._rewrite(
                    folder, lambda line: not what.matches_line(line)
                )
                core = await self.folders.read_core(folder)
                page = PERSONA_CORE_ID if folder.persona_id else CORE_ID
                found.add_page(page, await asyncio.to_thread(_repeating_lines, core, what))
            for name, title in shelf.extended:
                file = await self.folders.read_page(folder, name)
                lines = await asyncio.to_thread(_repeating_lines, file, what)
                lines |= {text for text in (title, name) if what.occurs_in(text)}
                found.add_page(page_id(name, of_persona=bool(folder.persona_id)), lines)
        return found

    async def _rewrite(self, folder: Owner, keeps: Callable[[PageLine], bool]) -> int:
        """Write a core page without some of its lines; return how many went."""
        assert self.folders is not None
        for _ in range(_MAX_ATTEMPTS):
            file = await self.folders.read_core(folder)
            if file is None or not (file.whole and file.encoding.exact):
                return 0
            lines = parse_page(file.text)
            kept = [line for line in lines if keeps(line)]
            if len(kept) == len(lines):
                return 0
            if await self.folders.write_core(folder, join_lines(kept), file) is not None:
                return len(lines) - len(kept)
        raise Unavailable("The page changes while it is read.")

    async def _hide(self, user: User, found: _RemovalReport) -> None:
        lines = {line for repeating in found.repeats.values() for line in repeating}
        now = self.storage.clock.now()

        def work(stores: Stores) -> None:
            secret = stores.tombstones.secret()
            stores.pages.mute_lines(user, [mute_digest(secret, user, line) for line in lines], now)

        if lines:
            await self.storage.write(work)


def _repeating_lines(file: PageFile | None, what: ForgottenText) -> set[str]:
    """Return the lines of a page that hold the words, or were about them and then changed.

    A line in step with another memory is as visible as that memory.
    """
    lines = parse_page(file.text) if file else []
    return {
        line.display_text
        for line in lines
        if (what.occurs_in(line.display_text) if line.root is None else line.root in what.roots)
    }


def _text_width(words: str) -> int:
    return sum(2 if char > "\u2e7f" else 1 for char in words)
