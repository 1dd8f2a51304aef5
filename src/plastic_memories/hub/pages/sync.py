"""Keep core pages and memories in step: what a person writes flows in, what is known flows out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

from plastic_memories.errors import Conflict, PlasticMemoriesError, Unavailable
from plastic_memories.formats.page_lines import parse_page
from plastic_memories.hub.pages.line_drafts import LineDrafter
from plastic_memories.hub.pages.page_changes import (
    PageChangeApplier,
    PageSyncOutcome,
    SyncRound,
    page_diff,
)
from plastic_memories.hub.transactions.audit_events import hub_caller
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Draft
from plastic_memories.model.owner import Owner, User
from plastic_memories.model.page import PageFile, SyncedFolder
from plastic_memories.ports.page_folders import PageFolders
from plastic_memories.ports.storage import Stores

logger = logging.getLogger(__name__)
_MAX_ATTEMPTS = 3
_FOLDER_BATCH = 200
# So many lines are taken in with one transaction: others want to write too.
_LINE_BATCH = 200
DraftsByLine = dict[str, Draft | str]


@dataclass(slots=True)
class PageLocks:
    """One change at a time to the pages of one user."""

    _locks: WeakValueDictionary[User, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    def lock_for(self, user: User) -> asyncio.Lock:
        return self._locks.setdefault(user, asyncio.Lock())


@dataclass(frozen=True, slots=True)
class SyncPages:
    storage: AuditedStorage
    drafts: LineDrafter
    folders: PageFolders | None
    locks: PageLocks

    async def __call__(self, caller: Caller, persona_id: str) -> list[PageSyncOutcome]:
        """Bring the user's own page and that of one persona into step, and keep them there."""
        owner = caller.owner(persona_id)
        if self.folders is None:
            raise Conflict("Markdown pages are switched off (PLASTIC_MEMORIES_MARKDOWN=off).")
        kept = [
            SyncedFolder(replace(owner, persona_id=""), persona_id),
            SyncedFolder(owner, persona_id),
        ]
        # The user's own page holds what all personas share: not for a key that is bound to one.
        if caller.key.limits.persona_id:
            kept = kept[1:]
        return [await self.sync_page(caller, folder) for folder in kept]

    async def sync_page(self, caller: Caller, kept: SyncedFolder) -> PageSyncOutcome:
        """Bring one page into step.

        Memories first, then the file, then the note of what was in step: wherever this stops,
        the next round finds both sides saying the same and only has to note it.
        """
        known: DraftsByLine = {}  # every round adds to it, so there is a last one
        async with self.locks.lock_for(kept.folder.user):
            done = await self._run_round(caller, kept, known)
            result = done.result
            while not done.is_last:
                done = await self._run_round(caller, kept, known)
                result = result.merged_with(done.result)
        return result

    async def _run_round(
        self, caller: Caller, kept: SyncedFolder, known: DraftsByLine
    ) -> SyncRound:
        assert self.folders is not None
        for _ in range(_MAX_ATTEMPTS):
            file = await self.folders.read_core(kept.folder)
            done = await self._apply_changes(caller, kept, file, known)
            if done.text != (file.text if file else ""):
                # None: the person has saved the page just now. Look again.
                file = await self.folders.write_core(kept.folder, done.text, file)
                if file is None:
                    continue
            await self._save_state(kept, done, file.stamp if file else "")
            return done
        raise Conflict("The page changes while it is read; it is left as it is.")

    async def sync_changed(self, *, everybody: bool) -> int:
        """Bring into step whatever has changed on either side; return how many pages had."""
        if self.folders is None:
            return 0
        if everybody:
            await self.storage.write(lambda stores: stores.pages.add_all_folders("default"))
        number = 0
        found = await self._synced_folders(None)
        while found:
            for kept, seen in await self._changed_folders(found):
                number += await self._try_sync(kept, seen)
            found = await self._synced_folders(found[-1].folder)
        return number

    async def _synced_folders(self, after: Owner | None) -> list[SyncedFolder]:
        return await self.storage.read(
            lambda stores: stores.pages.synced_folders(after, _FOLDER_BATCH)
        )

    async def run_forever(self, interval_s: float, *, everybody: bool) -> None:
        """Watch again and again; a failed round is logged and tried at the next one."""
        while True:
            try:
                await self.sync_changed(everybody=everybody)
            except Unavailable as error:
                logger.warning("pages.watch", extra={"fields": {"err": error.message}})
            except Exception:  # one bad round must not be the last
                logger.exception("pages.watch")
            await asyncio.sleep(interval_s)

    async def _changed_folders(
        self, found: Sequence[SyncedFolder]
    ) -> list[tuple[SyncedFolder, SyncedFolder]]:
        """Return those of which a page or a memory has changed: as noted, and as they are now."""
        assert self.folders is not None
        stamps = await self.folders.core_stamps([kept.folder for kept in found])
        changes = await self.storage.read(
            lambda stores: [
                stores.pages.last_change_after(kept.folder.user, kept.audit_id) for kept in found
            ]
        )
        now = [
            replace(kept, stamp=stamp, audit_id=change or kept.audit_id)
            for kept, stamp, change in zip(found, stamps, changes, strict=True)
        ]
        return [pair for pair in zip(found, now, strict=True) if pair[0] != pair[1]]

    async def _try_sync(self, kept: SyncedFolder, seen: SyncedFolder) -> bool:
        """Bring one page into step; a broken one holds up no other, and waits for a change."""
        try:
            await self.sync_page(hub_caller(kept.folder.user), kept)
        except PlasticMemoriesError as error:
            fields = {"user_id": kept.folder.user_id, "err": error.code}
            logger.warning("pages.sync", extra={"fields": fields})
            if not isinstance(error, Unavailable):
                await self.storage.write(lambda stores: stores.pages.save_folder(seen))
            return False
        return True

    async def _apply_changes(
        self, caller: Caller, kept: SyncedFolder, file: PageFile | None, known: DraftsByLine
    ) -> SyncRound:
        if file is not None and not (file.whole and file.encoding.exact):
            raise Conflict("The page is too long, or no text: it is left as it is.")
        lines = await asyncio.to_thread(parse_page, file.text if file else "")
        now = self.storage.clock.now()
        first, zone = await self.storage.read(
            lambda stores: (
                page_diff(stores, kept, lines, now).plan,
                stores.personas.settings(kept.folder.user).time_zone,
            )
        )
        texts = (lines[number].text for number in (*first.added, *first.edited))
        new = [text for text in dict.fromkeys(texts) if text not in known][:_LINE_BATCH]
        # What the judge has to say takes longer than a transaction should.
        known |= await asyncio.to_thread(self.drafts, kept, new, zone, now)
        return await self.storage.write(
            lambda stores: PageChangeApplier(stores, caller, kept, lines, known, now).apply()
        )

    async def _save_state(self, kept: SyncedFolder, done: SyncRound, stamp: str) -> None:
        def work(stores: Stores) -> None:
            stores.pages.save_line_digests(kept.folder, done.base)
            stores.pages.save_folder(replace(kept, stamp=stamp, audit_id=done.audit_id))

        await self.storage.write(work)
