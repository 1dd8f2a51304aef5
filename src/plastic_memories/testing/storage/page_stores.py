"""What must be kept of Markdown pages: which are in step, and what is hidden in them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from plastic_memories.model.event import Event
from plastic_memories.model.owner import Owner
from plastic_memories.model.page import KeptFolder
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.testing.samples import MINE, NOW, OTHER_USER, STRANGERS, name_personas

KEPT = KeptFolder(MINE, MINE.persona_id, "stamp", 7)


class PageStoreContract:
    async def test_folders_that_are_kept_come_in_order_and_in_parts(
        self, storage: StorageBackend
    ) -> None:
        folders = [KeptFolder(owner, "p") for owner in (MINE, *STRANGERS)]
        for kept in folders:
            await storage.write(partial(_keep, kept=kept))

        first = await storage.read(lambda s: s.pages.kept(None, 3))
        rest = await storage.read(lambda s: s.pages.kept(first[-1].folder, 3))

        assert len(first) == 3
        assert sorted(map(repr, [*first, *rest])) == sorted(map(repr, folders))

    async def test_keeping_again_notes_how_things_stand(self, storage: StorageBackend) -> None:
        await storage.write(lambda s: s.pages.keep(KEPT))
        await storage.write(lambda s: s.pages.keep(replace(KEPT, stamp="new", audit_id=9)))

        [kept] = await storage.read(lambda s: s.pages.kept(None, 10))

        assert (kept.stamp, kept.audit_id) == ("new", 9)

    async def test_everybody_is_kept_once(self, storage: StorageBackend) -> None:
        await name_personas(storage, MINE, OTHER_USER)
        await storage.write(lambda s: s.pages.keep(KEPT))

        new = await storage.write(lambda s: s.pages.keep_everybody("default"))

        assert new == 3  # one persona, and the own folders of two users
        assert await storage.write(lambda s: s.pages.keep_everybody("default")) == 0
        assert KEPT in await storage.read(lambda s: s.pages.kept(None, 10))

    async def test_lines_are_those_put_last_and_nobody_elses(self, storage: StorageBackend) -> None:
        await storage.write(lambda s: s.pages.put_lines(MINE, {1: "a", 2: "b"}))
        await storage.write(lambda s: s.pages.put_lines(MINE, {2: "c", 3: "d"}))

        assert await storage.read(lambda s: s.pages.lines(MINE)) == {2: "c", 3: "d"}
        others = await storage.read(lambda s: [s.pages.lines(owner) for owner in STRANGERS])
        assert others == [{}, {}, {}]

    async def test_a_persona_takes_its_pages_with_it(self, storage: StorageBackend) -> None:
        await name_personas(storage, MINE)
        await storage.write(lambda s: s.pages.keep(KEPT))
        await storage.write(lambda s: s.pages.put_lines(MINE, {1: "a"}))

        await storage.write(lambda s: s.personas.erase(MINE, NOW))

        assert await storage.read(lambda s: s.pages.kept(None, 10)) == []
        assert await storage.read(lambda s: s.pages.lines(MINE)) == {}

    async def test_what_is_muted_is_muted_for_its_user(self, storage: StorageBackend) -> None:
        await storage.write(lambda s: s.pages.mute(MINE.user, ["a", "b"], NOW))
        await storage.write(lambda s: s.pages.mute(MINE.user, ["b"], NOW))

        assert await storage.read(lambda s: s.pages.mutes(MINE.user)) == {"a", "b"}
        assert await storage.read(lambda s: s.pages.mutes(OTHER_USER.user)) == frozenset()

    async def test_talk_is_no_change_of_memories(self, storage: StorageBackend) -> None:
        first = await _changed(storage, MINE, "memory.write")
        await _changed(storage, MINE, "messages.append")
        await _changed(storage, OTHER_USER, "memory.write")

        assert await storage.read(lambda s: s.pages.changed_since(MINE.user, 0)) == first
        assert await storage.read(lambda s: s.pages.changed_since(MINE.user, first)) == 0


def _keep(stores: Stores, kept: KeptFolder) -> None:
    stores.pages.keep(kept)


async def _changed(storage: StorageBackend, owner: Owner, event: str) -> int:
    line = Event(user=owner.user, persona_id=owner.persona_id, event=event, ts=NOW)
    [recorded] = await storage.write(lambda s: s.audit.record([line]))
    return recorded.id
