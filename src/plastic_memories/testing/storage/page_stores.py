"""What must be kept of Markdown pages: which are in step, and what is hidden in them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from plastic_memories.model.event import Event
from plastic_memories.model.owner import Owner
from plastic_memories.model.page import SyncedFolder
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.testing.samples import MINE, NOW, OTHER_USER, STRANGERS, create_personas

SYNCED_FOLDER = SyncedFolder(MINE, MINE.persona_id, "stamp", 7)


class PageStoreContract:
    async def test_folders_that_are_kept_come_in_order_and_in_parts(
        self, storage: StorageBackend
    ) -> None:
        folders = [SyncedFolder(owner, "p") for owner in (MINE, *STRANGERS)]
        for kept in folders:
            await storage.write(partial(_save_folder, kept=kept))

        first = await storage.read(lambda s: s.pages.synced_folders(None, 3))
        rest = await storage.read(lambda s: s.pages.synced_folders(first[-1].folder, 3))

        assert len(first) == 3
        assert sorted(map(repr, [*first, *rest])) == sorted(map(repr, folders))

    async def test_keeping_again_notes_how_things_stand(self, storage: StorageBackend) -> None:
        await storage.write(lambda s: s.pages.save_folder(SYNCED_FOLDER))
        await storage.write(
            lambda s: s.pages.save_folder(replace(SYNCED_FOLDER, stamp="new", audit_id=9))
        )

        [kept] = await storage.read(lambda s: s.pages.synced_folders(None, 10))

        assert (kept.stamp, kept.audit_id) == ("new", 9)

    async def test_everybody_is_kept_once(self, storage: StorageBackend) -> None:
        await create_personas(storage, MINE, OTHER_USER)
        await storage.write(lambda s: s.pages.save_folder(SYNCED_FOLDER))

        new = await storage.write(lambda s: s.pages.add_all_folders("default"))

        assert new == 3  # one persona, and the own folders of two users
        assert await storage.write(lambda s: s.pages.add_all_folders("default")) == 0
        assert SYNCED_FOLDER in await storage.read(lambda s: s.pages.synced_folders(None, 10))

    async def test_lines_are_those_put_last_and_nobody_elses(self, storage: StorageBackend) -> None:
        await storage.write(lambda s: s.pages.save_line_digests(MINE, {1: "a", 2: "b"}))
        await storage.write(lambda s: s.pages.save_line_digests(MINE, {2: "c", 3: "d"}))

        assert await storage.read(lambda s: s.pages.line_digests(MINE)) == {2: "c", 3: "d"}
        others = await storage.read(lambda s: [s.pages.line_digests(owner) for owner in STRANGERS])
        assert others == [{}, {}, {}]

    async def test_a_persona_takes_its_pages_with_it(self, storage: StorageBackend) -> None:
        await create_personas(storage, MINE)
        await storage.write(lambda s: s.pages.save_folder(SYNCED_FOLDER))
        await storage.write(lambda s: s.pages.save_line_digests(MINE, {1: "a"}))

        await storage.write(lambda s: s.personas.erase(MINE, NOW))

        assert await storage.read(lambda s: s.pages.synced_folders(None, 10)) == []
        assert await storage.read(lambda s: s.pages.line_digests(MINE)) == {}

    async def test_what_is_muted_is_muted_for_its_user(self, storage: StorageBackend) -> None:
        await storage.write(lambda s: s.pages.mute_lines(MINE.user, ["a", "b"], NOW))
        await storage.write(lambda s: s.pages.mute_lines(MINE.user, ["b"], NOW))

        assert await storage.read(lambda s: s.pages.muted_lines(MINE.user)) == {"a", "b"}
        assert await storage.read(lambda s: s.pages.muted_lines(OTHER_USER.user)) == frozenset()

    async def test_talk_is_no_change_of_memories(self, storage: StorageBackend) -> None:
        first = await _record_change(storage, MINE, "memory.write")
        await _record_change(storage, MINE, "messages.append")
        await _record_change(storage, OTHER_USER, "memory.write")

        assert await storage.read(lambda s: s.pages.last_change_after(MINE.user, 0)) == first
        assert await storage.read(lambda s: s.pages.last_change_after(MINE.user, first)) == 0


def _save_folder(stores: Stores, kept: SyncedFolder) -> None:
    stores.pages.save_folder(kept)


async def _record_change(storage: StorageBackend, owner: Owner, event: str) -> int:
    line = Event(user=owner.user, persona_id=owner.persona_id, event=event, ts=NOW)
    [recorded] = await storage.write(lambda s: s.audit.record([line]))
    return recorded.id
