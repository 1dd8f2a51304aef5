"""One place, one active row: what a store must enforce itself, whoever writes at the same time."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from plastic_memories.model.memory import Draft, Memory, MemoryType, Scope, Status
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.testing.samples import (
    MINE,
    OTHER_PERSONA,
    OTHER_TENANT,
    OTHER_USER,
    STRANGERS,
    contents,
    memory,
    search_contents,
    store_memories,
    viewpoint_of,
)

# Each is another place than that of a row with the key `drink`.
OTHER_KEYS: tuple[dict[str, Any], ...] = (
    {"type": MemoryType.NOTE},
    {"key": "food"},
    {"scope": Scope.GLOBAL},
    {"realm": Realm.STORY},
    {"bot_id": "bot-1"},
    {"owner": OTHER_PERSONA},
    {"owner": OTHER_USER},
    {"owner": OTHER_TENANT},
)


class UniqueKeyContract:
    """A place is owner, bot, realm, scope, type and key."""

    async def test_a_key_has_one_active_row(self, storage: StorageBackend) -> None:
        await store_memories(storage, memory("tea", key="drink"))

        assert await _is_refused(storage, memory("coffee", key="drink"))

        assert contents(await _rows(storage)) == ["tea"]

    async def test_a_candidate_cannot_be_saved_beside_the_active_row(
        self, storage: StorageBackend
    ) -> None:
        _, waiting = await store_memories(
            storage,
            memory("tea", key="drink"),
            memory("coffee", key="drink", status=Status.CANDIDATE),
        )

        confirmed = replace(waiting, status=Status.ACTIVE)
        outcomes = await asyncio.gather(
            storage.write(lambda stores: stores.memories.save(confirmed)), return_exceptions=True
        )

        assert isinstance(outcomes[0], Exception)
        assert await _get(storage, MINE, waiting.id) == waiting

    @pytest.mark.parametrize("kind", [MemoryType.IDENTITY, MemoryType.VALUES])
    async def test_a_single_slot_has_one_active_row(
        self, storage: StorageBackend, kind: MemoryType
    ) -> None:
        await store_memories(storage, memory("first", type=kind))

        assert await _is_refused(storage, memory("second", type=kind))

        await store_memories(storage, memory("of a bot", type=kind, bot_id="bot-1"))
        await store_memories(storage, memory("in a story", type=kind, realm=Realm.STORY))

    @pytest.mark.parametrize("kind", [MemoryType.PREFERENCES, MemoryType.CONSTRAINTS])
    async def test_rows_of_a_list_slot_may_coexist(
        self, storage: StorageBackend, kind: MemoryType
    ) -> None:
        await store_memories(storage, memory("first", type=kind), memory("second", type=kind))

        assert contents(await _rows(storage)) == ["second", "first"]

    @pytest.mark.parametrize("status", [Status.CANDIDATE, Status.REVOKED, Status.EXPIRED])
    async def test_a_row_that_is_not_active_stands_beside_the_active_one(
        self, storage: StorageBackend, status: Status
    ) -> None:
        await store_memories(storage, memory("tea", key="drink"))

        await store_memories(storage, memory("coffee", key="drink", status=status))

        assert contents(await _rows(storage)) == ["coffee", "tea"]

    @pytest.mark.parametrize("other", OTHER_KEYS, ids=str)
    async def test_a_row_of_another_place_stands_beside_it(
        self, storage: StorageBackend, other: dict[str, Any]
    ) -> None:
        place = memory("tea", key="drink")
        [mine] = await store_memories(storage, place)

        [added] = await store_memories(storage, memory("coffee", **{"key": "drink", **other}))

        assert added.id
        assert await _find_same_key(storage, place) == [mine]
        assert await _find_same_key(storage, added) == [added]

    async def test_active_and_waiting_rows_share_their_place(self, storage: StorageBackend) -> None:
        rows = await store_memories(
            storage, *(memory(status, key="drink", status=status) for status in Status)
        )

        found_there = await _find_same_key(storage, rows[0])

        assert sorted(contents(found_there)) == [Status.ACTIVE, Status.CANDIDATE]

    async def test_a_narrow_scope_is_a_place_of_its_own(self, storage: StorageBackend) -> None:
        one, _ = await store_memories(
            storage,
            memory("tea", key="drink", scope=Scope.SESSION, session_id="s-1"),
            memory("coffee", key="drink", scope=Scope.SESSION, session_id="s-2"),
        )

        assert await _find_same_key(storage, one) == [one]

    @pytest.mark.parametrize("key", ["drink", "喝的", "a\0b", "\n", '"'])
    async def test_of_many_keys_those_in_use_are_found(
        self, storage: StorageBackend, key: str
    ) -> None:
        await store_memories(storage, memory("tea", key=key, type=MemoryType.NOTE))
        used, free = (MemoryType.NOTE, key), (MemoryType.NOTE, "free")

        def work(stores: Stores) -> list[set[tuple[MemoryType, str]]]:
            before = stores.memories.find_live_keys(MINE, [used, free])
            stores.memories.add(memory("coffee", key="free", type=MemoryType.NOTE))
            return [before, stores.memories.find_live_keys(MINE, [used, free])]

        assert await storage.write(work) == [{used}, {used, free}]

    async def test_no_keys_are_none_in_use(self, storage: StorageBackend) -> None:
        await store_memories(storage, memory("tea", key="drink"))

        assert await storage.read(lambda s: s.memories.find_live_keys(MINE, [])) == set()

    async def test_a_key_is_in_use_by_its_owner_and_for_its_type(
        self, storage: StorageBackend
    ) -> None:
        await store_memories(
            storage,
            memory("tea", OTHER_PERSONA, key="drink", type=MemoryType.NOTE),
            memory("coffee", key="drink", type=MemoryType.EVENT),
        )
        note, event = (MemoryType.NOTE, "drink"), (MemoryType.EVENT, "drink")

        mine = await storage.read(lambda s: s.memories.find_live_keys(MINE, [note, event]))
        other = await storage.read(
            lambda s: s.memories.find_live_keys(OTHER_PERSONA, [note, event])
        )

        assert (mine, other) == ({event}, {note})

    @pytest.mark.parametrize("status", Status)
    async def test_a_key_is_in_use_while_a_row_is_active_or_waits(
        self, storage: StorageBackend, status: Status
    ) -> None:
        key = (MemoryType.NOTE, "drink")
        gone = memory("tea", key="drink", type=MemoryType.NOTE, status=Status.REVOKED)
        [row] = await store_memories(storage, gone)

        def work(stores: Stores) -> set[tuple[MemoryType, str]]:
            stores.memories.save(replace(row, status=status))
            return stores.memories.find_live_keys(MINE, [key])

        is_live = status in (Status.ACTIVE, Status.CANDIDATE)
        assert await storage.write(work) == ({key} if is_live else set())

    async def test_a_moved_row_is_found_at_its_new_place_only(
        self, storage: StorageBackend
    ) -> None:
        [row] = await store_memories(storage, memory("tea", session_id="s-1"))
        there = replace(row, bot_id="bot-1", session_id="s-2")

        await storage.write(lambda stores: stores.memories.move(there))

        assert await _rows(storage) == [there]
        assert await search_contents(storage, "tea") == []
        assert await search_contents(storage, "tea", viewpoint_of(bot_id="bot-1")) == ["tea"]

    async def test_a_stranger_moves_nothing(self, storage: StorageBackend) -> None:
        [row] = await store_memories(storage, memory("tea"))

        for stranger in STRANGERS:
            theirs = replace(row, owner=stranger, bot_id="bot-1")
            await storage.write(partial(_move_row, theirs))

        assert await _rows(storage) == [row]

    async def test_an_idempotency_key_is_stored_once(self, storage: StorageBackend) -> None:
        await store_memories(storage, memory("tea", idempotency_key="once"))

        assert await _is_refused(storage, memory("coffee", idempotency_key="once"))

        await store_memories(storage, memory("tea", OTHER_USER, idempotency_key="once"))


def _draft(key: str) -> Draft:
    return Draft(type=MemoryType.NOTE, key=key, content=key)


async def _get(storage: StorageBackend, owner: Owner, memory_id: int) -> Memory | None:
    return await storage.read(lambda stores: stores.memories.get(owner, memory_id))


def _move_row(row: Memory, stores: Stores) -> None:
    stores.memories.move(row)


async def _rows(storage: StorageBackend) -> list[Memory]:
    return await storage.read(lambda stores: stores.memories.find(MINE, MemoryFilter()))


async def _find_same_key(storage: StorageBackend, row: Memory) -> list[Memory]:
    return await storage.read(lambda stores: stores.memories.find_same_key(row.owner, row))


async def _is_refused(storage: StorageBackend, row: Memory) -> bool:
    """Return whether the store keeps a row out; which error says so is its own affair."""
    outcomes = await asyncio.gather(store_memories(storage, row), return_exceptions=True)
    return isinstance(outcomes[0], Exception)
