"""Keep core pages and memories in step: what a person writes flows in, what is known flows out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

from plastic_memories.errors import Conflict, NotFound, PlasticMemoriesError, Rejected, Unavailable
from plastic_memories.hub.ledger import Ledger
from plastic_memories.hub.page_drafts import DraftLines
from plastic_memories.hub.page_rows import rows_of
from plastic_memories.hub.pages import hides
from plastic_memories.hub.record import record, the_hub
from plastic_memories.hub.review import Correction, confirm_in, correct_in, end_in
from plastic_memories.hub.write import write_in
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Draft, Memory, Status
from plastic_memories.model.owner import Owner, User
from plastic_memories.model.page import CORE_ID, KeptFolder, PageFile
from plastic_memories.ports.pages import PageFolders
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.lifecycle import ConfirmRequest
from plastic_memories.rules.page_lines import Line, digest, joined, parse, stated
from plastic_memories.rules.page_merge import Plan, plan, rewritten, with_section, words_for

logger = logging.getLogger(__name__)
PERSONA_CORE_ID = "memory://persona/core"
_TRIES = 3
_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Synced:
    """What one round has done to one page and to the memories behind it."""

    page: str
    added: tuple[int, ...] = ()
    changed: tuple[int, ...] = ()
    revoked: tuple[int, ...] = ()
    conflicts: tuple[int, ...] = ()
    written: int = 0
    skipped: tuple[tuple[int, str], ...] = ()  # line (from 1), and why it was not taken in


@dataclass(slots=True)
class PageLocks:
    """One change at a time to the pages of one user."""

    _locks: WeakValueDictionary[User, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    def of(self, user: User) -> asyncio.Lock:
        return self._locks.setdefault(user, asyncio.Lock())


@dataclass(frozen=True, slots=True)
class _Round:
    """The memories after what a person changed was taken in, and the page that says so."""

    result: Synced
    text: str
    base: Mapping[int, str]
    audit_id: int


@dataclass(frozen=True, slots=True)
class SyncPages:
    ledger: Ledger
    drafts: DraftLines
    folders: PageFolders | None
    locks: PageLocks

    async def __call__(self, caller: Caller, persona_id: str) -> list[Synced]:
        """Bring the user's own page and that of one persona into step, and keep them there."""
        owner = caller.owner(persona_id)
        if self.folders is None:
            raise Conflict("Markdown pages are switched off (PLASTIC_MEMORIES_MARKDOWN=off).")
        kept = [
            KeptFolder(replace(owner, persona_id=""), persona_id),
            KeptFolder(owner, persona_id),
        ]
        # The user's own page holds what all personas share: not for a key that is bound to one.
        if caller.key.limits.persona_id:
            kept = kept[1:]
        return [await self.one(caller, folder) for folder in kept]

    async def one(self, caller: Caller, kept: KeptFolder) -> Synced:
        """Bring one page into step.

        Memories first, then the file, then the note of what was in step: wherever this stops,
        the next round finds both sides saying the same and only has to note it.
        """
        assert self.folders is not None
        async with self.locks.of(kept.folder.user):
            for _ in range(_TRIES):
                file = await self.folders.core(kept.folder)
                done = await self._taken_in(caller, kept, file)
                if done.text != (file.text if file else ""):
                    # None: the person has saved the page just now. Look again.
                    file = await self.folders.put_core(kept.folder, done.text, file)
                    if file is None:
                        continue
                await self._note(kept, done, file.stamp if file else "")
                return done.result
        raise Conflict("The page changes while it is read; it is left as it is.")

    async def watch(self, *, everybody: bool) -> int:
        """Bring into step whatever has changed on either side; return how many pages had."""
        if self.folders is None:
            return 0
        if everybody:
            await self.ledger.write(lambda stores: stores.pages.keep_everybody("default"))
        number = 0
        found = await self._kept(None)
        while found:
            for kept in await self._changed(found):
                number += await self._tried(kept)
            found = await self._kept(found[-1].folder)
        return number

    async def _kept(self, after: Owner | None) -> list[KeptFolder]:
        return await self.ledger.read(lambda stores: stores.pages.kept(after, _AT_ONCE))

    async def forever(self, interval_s: float, *, everybody: bool) -> None:
        """Watch again and again; a failed round is logged and tried at the next one."""
        while True:
            try:
                await self.watch(everybody=everybody)
            except Unavailable as error:
                logger.warning("pages.watch", extra={"fields": {"err": error.message}})
            await asyncio.sleep(interval_s)

    async def _changed(self, found: Sequence[KeptFolder]) -> list[KeptFolder]:
        """Return those of the folders of which a page or a memory has changed."""
        assert self.folders is not None
        stamps = await self.folders.stamps([kept.folder for kept in found])
        changes = await self.ledger.read(
            lambda stores: [
                stores.pages.changed_since(kept.folder.user, kept.audit_id) for kept in found
            ]
        )
        return [
            kept
            for kept, stamp, change in zip(found, stamps, changes, strict=True)
            if change or stamp != kept.stamp
        ]

    async def _tried(self, kept: KeptFolder) -> bool:
        """Bring one page into step; a broken one holds up no other."""
        try:
            await self.one(the_hub(kept.folder.user), kept)
        except PlasticMemoriesError as error:
            fields = {"user_id": kept.folder.user_id, "err": error.code}
            logger.warning("pages.sync", extra={"fields": fields})
            return False
        return True

    async def _taken_in(self, caller: Caller, kept: KeptFolder, file: PageFile | None) -> _Round:
        if file is not None and not (file.whole and file.encoding.exact):
            raise Conflict("The page is too long, or no text: it is left as it is.")
        lines = parse(file.text) if file else []
        now = self.ledger.clock.now()
        first, zone = await self.ledger.read(
            lambda stores: (
                _planned(stores, kept, lines, now),
                stores.personas.settings(kept.folder.user).time_zone,
            )
        )
        new = [lines[number].text for number in (*first.plan.added, *first.plan.edited)]
        # What the judge has to say takes longer than a transaction should.
        drafts = await asyncio.to_thread(self.drafts, kept, new, zone, now)
        return await self.ledger.write(
            lambda stores: _Taking(stores, caller, kept, lines, drafts, now).done()
        )

    async def _note(self, kept: KeptFolder, done: _Round, stamp: str) -> None:
        def work(stores: Stores) -> None:
            stores.pages.put_lines(kept.folder, done.base)
            stores.pages.keep(replace(kept, stamp=stamp, audit_id=done.audit_id))

        await self.ledger.write(work)


@dataclass(frozen=True, slots=True)
class _Planned:
    plan: Plan
    base: Mapping[int, str]
    rows: Mapping[int, Memory]


def _planned(stores: Stores, kept: KeptFolder, lines: Sequence[Line], now: float) -> _Planned:
    base = stores.pages.lines(kept.folder)
    anchors = {line.root for line in lines if line.root is not None}
    rows = rows_of(stores, kept, now, {*base, *anchors})
    hidden = hides(stores, kept.folder.user)
    muted = {number for number, line in enumerate(lines) if line.text and hidden(line.text)}
    texts = {root: stated(row.content) for root, row in rows.items()}
    return _Planned(plan(lines, base, texts, muted), base, rows)


class _Taking:
    """Takes in what a person has changed, in one transaction."""

    def __init__(
        self,
        stores: Stores,
        caller: Caller,
        kept: KeptFolder,
        lines: Sequence[Line],
        drafts: Mapping[str, Draft | str],
        now: float,
    ) -> None:
        self._stores, self._caller, self._kept, self._now = stores, caller, kept, now
        self._lines, self._drafts = lines, drafts
        self._planned = _planned(stores, kept, lines, now)
        self._settled: dict[int, int] = {}
        self._skipped: dict[int, str] = {}
        self._new: dict[int, int] = {}  # line → memory id

    def done(self) -> _Round:
        wanted = self._planned.plan
        revoked = [self._revoke(root) for root in wanted.removed]
        for number, root in wanted.edited.items():
            self._edit(number, self._planned.rows[root])
        for number in wanted.added:
            self._add(number)
        rows = self._rows()
        page, new = rewritten(self._lines, wanted, self._settled, rows, self._left())
        language = self._stores.personas.settings(self._kept.folder.user).language
        lines = with_section(page, new, words_for(language, list(new.values())))
        self._record(len(new))
        return _Round(
            Synced(
                page=PERSONA_CORE_ID if self._kept.folder.persona_id else CORE_ID,
                added=tuple(self._new[number] for number in wanted.added if number in self._new),
                changed=tuple(self._new[n] for n in wanted.edited if n in self._new),
                revoked=tuple(revoked),
                conflicts=tuple(wanted.conflicts.values()),
                written=len(new),
                skipped=tuple((n + 1, why) for n, why in sorted(self._skipped.items())),
            ),
            joined(lines),
            self._base(lines, rows),
            self._stores.pages.changed_since(self._kept.folder.user, 0),
        )

    def _left(self) -> set[int]:
        return {number for number in self._skipped if number in self._planned.plan.edited}

    def _revoke(self, root: int) -> int:
        memory = self._planned.rows[root]
        return end_in(self._stores, self._caller, memory, "memory.revoke", self._now).id

    def _edit(self, number: int, memory: Memory) -> None:
        draft = self._drafts.get(self._lines[number].text, "changed meanwhile")
        if isinstance(draft, str):
            self._skipped[number] = draft
            return
        correction = Correction(content=draft.content, given={"content"})
        added = correct_in(self._stores, self._caller, memory, correction, self._now)
        if added.status is Status.CANDIDATE:
            # The line in the user's own hand is the yes that a slot waits for.
            yes = ConfirmRequest(supersedes_id=memory.id)
            added = confirm_in(self._stores, self._caller, added, yes, self._now)
        self._settled[number], self._new[number] = added.root_id, added.id

    def _add(self, number: int) -> None:
        draft = self._drafts.get(self._lines[number].text, "changed meanwhile")
        if isinstance(draft, str):
            self._skipped[number] = draft
            return
        owner = replace(self._kept.folder, persona_id=self._kept.kept_for)
        try:
            done = write_in(self._stores, self._caller, owner, draft, self._now)
        except (NotFound, Rejected) as error:
            self._skipped[number] = error.message
            return
        if done.memory is not None:
            self._settled[number], self._new[number] = done.memory.root_id, done.memory.id

    def _rows(self) -> dict[int, str]:
        known = {*self._planned.base, *self._planned.plan.held.values(), *self._settled.values()}
        rows = rows_of(self._stores, self._kept, self._now, known)
        return {root: text for root, row in rows.items() if (text := stated(row.content))}

    def _base(self, lines: Sequence[Line], rows: Mapping[int, str]) -> dict[int, str]:
        base = {
            line.root: digest(line.text)
            for line in lines
            if line.root is not None and rows.get(line.root) == line.text
        }
        # A line that could not be stored still differs from what was last in step.
        kept = {self._planned.plan.edited[number] for number in self._left()}
        return base | {root: self._planned.base[root] for root in kept}

    def _record(self, written: int) -> None:
        if written or self._new or self._planned.plan.removed:
            folder = self._kept.folder
            record(self._stores, self._caller, "pages.sync", folder.persona_id, self._now)
