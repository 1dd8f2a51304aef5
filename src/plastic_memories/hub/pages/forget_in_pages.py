"""Take what is forgotten out of the pages, and hide what a person's own text repeats of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plastic_memories.errors import Unavailable
from plastic_memories.formats.markdown_page import page_id
from plastic_memories.formats.page_lines import Line, joined, mark_of, parse, stated
from plastic_memories.hub.pages.page_changes import PERSONA_CORE_ID
from plastic_memories.hub.pages.sync import PageLocks
from plastic_memories.hub.transactions.audited_storage import Ledger
from plastic_memories.language.text.tokens import plain
from plastic_memories.model.memory import Memory
from plastic_memories.model.owner import Owner, User
from plastic_memories.model.page import CORE_ID, PageFile, Shelf
from plastic_memories.ports.page_folders import PageFolders
from plastic_memories.ports.storage import Stores

_TRIES = 3
# Fewer letters stand in too many lines that have nothing to do with it.
_SHORTEST = 4


@dataclass(frozen=True, slots=True)
class Gone:
    """What must not be read again: the words, and the anchors that led to them."""

    said: frozenset[str]
    roots: frozenset[int]

    def is_said_by(self, line: Line) -> bool:
        return bool(line.text) and plain(line.text) in self.said

    def is_repeated_in(self, text: str) -> bool:
        said = plain(text)
        return any(_weight(words) >= _SHORTEST and words in said for words in self.said)


@dataclass(slots=True)
class _Found:
    checked: int = 0
    removed: int = 0
    repeats: dict[str, set[str]] = field(default_factory=dict)  # page → lines that repeat it

    def note(self, page: str, lines: Collection[str]) -> None:
        self.checked += 1
        if lines:
            self.repeats.setdefault(page, set()).update(lines)


@dataclass(frozen=True, slots=True)
class ForgetInPages:
    ledger: Ledger
    folders: PageFolders | None
    locks: PageLocks

    async def __call__(self, owner: Owner, gone: Sequence[Memory]) -> Mapping[str, Any]:
        """Remove its lines from the core pages; what else repeats it is hidden, and named.

        Nobody's own text is changed: a line that says more than what is forgotten stays in its
        file, but no recall, no reader and no later round sees it any more.
        """
        if self.folders is None or not gone:
            return {}
        what = Gone(
            frozenset(text for one in gone if (text := plain(stated(one.content)))),
            frozenset(one.root_id for one in gone),
        )
        try:
            shelves = await self.folders.look(owner.user, owner.persona_id)
            if not any(shelves):
                return {}
            async with self.locks.of(owner.user):
                found = await self._removed(owner, shelves, what)
                await self._hide(owner.user, found)
        except Unavailable:
            # Lines in step vanish at the next round; no recall shows them even now.
            return {"pages": {"checked": 0, "lines_removed": 0, "hidden_in": [], "waiting": 1}}
        receipt = {"checked": found.checked, "lines_removed": found.removed}
        return {"pages": {**receipt, "hidden_in": sorted(found.repeats), "waiting": 0}}

    async def persona(self, owner: Owner) -> Mapping[str, Any]:
        """Remove the lines in step from a page whose persona is gone; the person's own stay."""
        if self.folders is None:
            return {}
        try:
            shelf = (await self.folders.look(owner.user, owner.persona_id))[1]
            if not shelf:
                return {}
            async with self.locks.of(owner.user):
                removed = await self._rewrite(owner, lambda line: line.root is None)
        except Unavailable:
            return {"pages": {"lines_removed": 0, "left": 0, "waiting": 1}}
        left = len(shelf.extended) + (shelf.core is not None)
        return {"pages": {"lines_removed": removed, "left": left, "waiting": 0}}

    async def _removed(self, owner: Owner, shelves: tuple[Shelf, Shelf], what: Gone) -> _Found:
        assert self.folders is not None
        found = _Found()
        folders = (Owner(owner.tenant_id, owner.user_id, ""), owner)
        for folder, shelf in zip(folders, shelves, strict=True):
            if shelf.core is not None:
                found.removed += await self._rewrite(folder, lambda line: not what.is_said_by(line))
                core = await self.folders.core(folder)
                page = PERSONA_CORE_ID if folder.persona_id else CORE_ID
                found.note(page, await asyncio.to_thread(_repeating, core, what))
            for name, title in shelf.extended:
                file = await self.folders.read(folder, name)
                lines = await asyncio.to_thread(_repeating, file, what)
                lines |= {text for text in (title, name) if what.is_repeated_in(text)}
                found.note(page_id(name, of_persona=bool(folder.persona_id)), lines)
        return found

    async def _rewrite(self, folder: Owner, keeps: Callable[[Line], bool]) -> int:
        """Write a core page without some of its lines; return how many went."""
        assert self.folders is not None
        for _ in range(_TRIES):
            file = await self.folders.core(folder)
            if file is None or not (file.whole and file.encoding.exact):
                return 0
            lines = parse(file.text)
            kept = [line for line in lines if keeps(line)]
            if len(kept) == len(lines):
                return 0
            if await self.folders.put_core(folder, joined(kept), file) is not None:
                return len(lines) - len(kept)
        raise Unavailable("The page changes while it is read.")

    async def _hide(self, user: User, found: _Found) -> None:
        lines = {line for repeating in found.repeats.values() for line in repeating}
        now = self.ledger.clock.now()

        def work(stores: Stores) -> None:
            secret = stores.tombstones.secret()
            stores.pages.mute(user, [mark_of(secret, user, line) for line in lines], now)

        if lines:
            await self.ledger.write(work)


def _repeating(file: PageFile | None, what: Gone) -> set[str]:
    """Return the lines of a page that hold the words, or were about them and then changed.

    A line in step with another memory is as visible as that memory.
    """
    lines = parse(file.text) if file else []
    return {
        line.said
        for line in lines
        if (what.is_repeated_in(line.said) if line.root is None else line.root in what.roots)
    }


def _weight(words: str) -> int:
    return sum(2 if char > "\u2e7f" else 1 for char in words)
