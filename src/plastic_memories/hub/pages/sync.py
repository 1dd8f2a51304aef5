"""Synchronise core pages with memories: edits are imported, memories are written out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

from plastic_memories.errors import Conflict, PlasticMemoriesError, Unavailable
from plastic_memories.formats.pages.page_lines import parse_page
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
# Lines imported per transaction: other writers need their turn.
_LINE_BATCH = 200
DraftsByLine = dict[str, Draft | str]


@dataclass(slots=True)
class PageLocks:
    """One lock per user: only one change to a user's pages at a time."""

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
        """Synchronise the user's page and that of one persona, and register both for watching."""
        owner = caller.owner(persona_id)
        if self.folders is None:
            raise Conflict("Markdown pages are switched off (PLASTIC_MEMORIES_MARKDOWN=off).")
        targets = [
            SyncedFolder(replace(owner, persona_id=""), persona_id),
            SyncedFolder(owner, persona_id),
        ]
        # The user's page holds what all personas share: a key bound to one persona may not see it.
        if caller.key.limits.persona_id:
            targets = targets[1:]
        return [await self.sync_page(caller, folder) for folder in targets]

    async def sync_page(self, caller: Caller, synced: SyncedFolder) -> PageSyncOutcome:
        """Synchronise one page.

        Memories are written first, then the file, then the base of the diff: wherever this stops,
        the next round finds both sides equal and only has to save the base.
        """
        known: DraftsByLine = {}  # grows with every round, so the loop ends
        async with self.locks.lock_for(synced.folder.user):
            done = await self._run_round(caller, synced, known)
            result = done.result
            while not done.is_last:
                done = await self._run_round(caller, synced, known)
                result = result.merged_with(done.result)
        return result

    async def _run_round(
        self, caller: Caller, synced: SyncedFolder, known: DraftsByLine
    ) -> SyncRound:
        assert self.folders is not None
        for _ in range(_MAX_ATTEMPTS):
            file = await self.folders.read_core(synced.folder)
            done = await self._apply_changes(caller, synced, file, known)
            if done.text != (file.text if file else ""):
                # None: the person has just saved the page. Read it again.
                file = await self.folders.write_core(synced.folder, done.text, file)
                if file is None:
                    continue
            await self._save_state(synced, done, file.stamp if file else "")
            return done
        raise Conflict("The page changes while it is read; it is left as it is.")

    async def sync_changed(self, *, everybody: bool) -> int:
        """Synchronise every page that changed on either side; return how many did."""
        if self.folders is None:
            return 0
        if everybody:
            await self.storage.write(lambda stores: stores.pages.add_all_folders("default"))
        count = 0
        found = await self._synced_folders(None)
        while found:
            for synced, seen in await self._changed_folders(found):
                count += await self._try_sync(synced, seen)
            found = await self._synced_folders(found[-1].folder)
        return count

    async def _synced_folders(self, after: Owner | None) -> list[SyncedFolder]:
        return await self.storage.read(
            lambda stores: stores.pages.synced_folders(after, _FOLDER_BATCH)
        )

    async def run_forever(self, interval_s: float, *, everybody: bool) -> None:
        """Watch in a loop; a failed round is logged and retried at the next interval."""
        while True:
            try:
                await self.sync_changed(everybody=everybody)
            except Unavailable as error:
                logger.warning("pages.watch", extra={"fields": {"err": error.message}})
            except Exception:  # one failed round must not end the loop
                logger.exception("pages.watch")
            await asyncio.sleep(interval_s)

    async def _changed_folders(
        self, found: Sequence[SyncedFolder]
    ) -> list[tuple[SyncedFolder, SyncedFolder]]:
        """Return the folders whose page or memories changed, each as stored and as it is now."""
        assert self.folders is not None
        stamps = await self.folders.core_stamps([synced.folder for synced in found])
        changes = await self.storage.read(
            lambda stores: [
                stores.pages.last_change_after(synced.folder.user, synced.audit_id)
                for synced in found
            ]
        )
        now = [
            replace(synced, stamp=stamp, audit_id=change or synced.audit_id)
            for synced, stamp, change in zip(found, stamps, changes, strict=True)
        ]
        return [pair for pair in zip(found, now, strict=True) if pair[0] != pair[1]]

    async def _try_sync(self, synced: SyncedFolder, seen: SyncedFolder) -> bool:
        """Synchronise one page; a broken one blocks no other, and waits for its next change."""
        try:
            await self.sync_page(hub_caller(synced.folder.user), synced)
        except PlasticMemoriesError as error:
            fields = {"user_id": synced.folder.user_id, "err": error.code}
            logger.warning("pages.sync", extra={"fields": fields})
            if not isinstance(error, Unavailable):
                await self.storage.write(lambda stores: stores.pages.save_folder(seen))
            return False
        return True

    async def _apply_changes(
        self, caller: Caller, synced: SyncedFolder, file: PageFile | None, known: DraftsByLine
    ) -> SyncRound:
        if file is not None and not (file.whole and file.encoding.exact):
            raise Conflict("The page is too long, or no text: it is left as it is.")
        lines = await asyncio.to_thread(parse_page, file.text if file else "")
        now = self.storage.clock.now()
        plan, zone = await self.storage.read(
            lambda stores: (
                page_diff(stores, synced, lines, now).plan,
                stores.personas.settings(synced.folder.user).time_zone,
            )
        )
        texts = (lines[number].text for number in (*plan.added, *plan.edited))
        new = [text for text in dict.fromkeys(texts) if text not in known][:_LINE_BATCH]
        # The judge takes longer than a transaction should.
        known |= await asyncio.to_thread(self.drafts, synced, new, zone, now)
        return await self.storage.write(
            lambda stores: PageChangeApplier(stores, caller, synced, lines, known, now).apply()
        )

    async def _save_state(self, synced: SyncedFolder, done: SyncRound, stamp: str) -> None:
        def work(stores: Stores) -> None:
            stores.pages.save_line_digests(synced.folder, done.base)
            stores.pages.save_folder(replace(synced, stamp=stamp, audit_id=done.audit_id))

        await self.storage.write(work)
