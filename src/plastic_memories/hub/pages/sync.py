"""Keep core pages and memories in step: what a person writes flows in, what is known flows out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

from plastic_memories.errors import Conflict, PlasticMemoriesError, Unavailable
from plastic_memories.formats.page_lines import parse
from plastic_memories.hub.pages.line_drafts import DraftLines
from plastic_memories.hub.pages.page_changes import Round, Synced, Taking, planned
from plastic_memories.hub.transactions.audit_events import the_hub
from plastic_memories.hub.transactions.audited_storage import Ledger
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Draft
from plastic_memories.model.owner import Owner, User
from plastic_memories.model.page import KeptFolder, PageFile
from plastic_memories.ports.page_folders import PageFolders
from plastic_memories.ports.storage import Stores

logger = logging.getLogger(__name__)
_TRIES = 3
_AT_ONCE = 200
# So many lines are taken in with one transaction: others want to write too.
_LINES_AT_ONCE = 200
Drafts = dict[str, Draft | str]


@dataclass(slots=True)
class PageLocks:
    """One change at a time to the pages of one user."""

    _locks: WeakValueDictionary[User, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    def of(self, user: User) -> asyncio.Lock:
        return self._locks.setdefault(user, asyncio.Lock())


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
        known: Drafts = {}  # every round adds to it, so there is a last one
        async with self.locks.of(kept.folder.user):
            done = await self._round(caller, kept, known)
            result = done.result
            while not done.is_last:
                done = await self._round(caller, kept, known)
                result = result.then(done.result)
        return result

    async def _round(self, caller: Caller, kept: KeptFolder, known: Drafts) -> Round:
        assert self.folders is not None
        for _ in range(_TRIES):
            file = await self.folders.core(kept.folder)
            done = await self._taken_in(caller, kept, file, known)
            if done.text != (file.text if file else ""):
                # None: the person has saved the page just now. Look again.
                file = await self.folders.put_core(kept.folder, done.text, file)
                if file is None:
                    continue
            await self._note(kept, done, file.stamp if file else "")
            return done
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
            for kept, seen in await self._changed(found):
                number += await self._tried(kept, seen)
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
            except Exception:  # one bad round must not be the last
                logger.exception("pages.watch")
            await asyncio.sleep(interval_s)

    async def _changed(self, found: Sequence[KeptFolder]) -> list[tuple[KeptFolder, KeptFolder]]:
        """Return those of which a page or a memory has changed: as noted, and as they are now."""
        assert self.folders is not None
        stamps = await self.folders.stamps([kept.folder for kept in found])
        changes = await self.ledger.read(
            lambda stores: [
                stores.pages.changed_since(kept.folder.user, kept.audit_id) for kept in found
            ]
        )
        now = [
            replace(kept, stamp=stamp, audit_id=change or kept.audit_id)
            for kept, stamp, change in zip(found, stamps, changes, strict=True)
        ]
        return [pair for pair in zip(found, now, strict=True) if pair[0] != pair[1]]

    async def _tried(self, kept: KeptFolder, seen: KeptFolder) -> bool:
        """Bring one page into step; a broken one holds up no other, and waits for a change."""
        try:
            await self.one(the_hub(kept.folder.user), kept)
        except PlasticMemoriesError as error:
            fields = {"user_id": kept.folder.user_id, "err": error.code}
            logger.warning("pages.sync", extra={"fields": fields})
            if not isinstance(error, Unavailable):
                await self.ledger.write(lambda stores: stores.pages.keep(seen))
            return False
        return True

    async def _taken_in(
        self, caller: Caller, kept: KeptFolder, file: PageFile | None, known: Drafts
    ) -> Round:
        if file is not None and not (file.whole and file.encoding.exact):
            raise Conflict("The page is too long, or no text: it is left as it is.")
        lines = await asyncio.to_thread(parse, file.text if file else "")
        now = self.ledger.clock.now()
        first, zone = await self.ledger.read(
            lambda stores: (
                planned(stores, kept, lines, now).plan,
                stores.personas.settings(kept.folder.user).time_zone,
            )
        )
        texts = (lines[number].text for number in (*first.added, *first.edited))
        new = [text for text in dict.fromkeys(texts) if text not in known][:_LINES_AT_ONCE]
        # What the judge has to say takes longer than a transaction should.
        known |= await asyncio.to_thread(self.drafts, kept, new, zone, now)
        return await self.ledger.write(
            lambda stores: Taking(stores, caller, kept, lines, known, now).done()
        )

    async def _note(self, kept: KeptFolder, done: Round, stamp: str) -> None:
        def work(stores: Stores) -> None:
            stores.pages.put_lines(kept.folder, done.base)
            stores.pages.keep(replace(kept, stamp=stamp, audit_id=done.audit_id))

        await self.ledger.write(work)
