"""What was erased leaves the files too; a storage says where it cannot, and whether it will."""

from __future__ import annotations

import asyncio
import threading

from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.testing.samples import (
    MINE,
    NOW,
    contents,
    memory,
    search_contents,
    store_memories,
)

# Against hanging; a scrub takes milliseconds.
_LONG_S = 20


class ScrubContract:
    async def test_a_scrub_in_peace_leaves_nothing_to_do_later(
        self, storage: StorageBackend
    ) -> None:
        [gone] = await store_memories(storage, memory("tea that goes"))
        await storage.write(lambda s: s.memories.erase(MINE, [gone.id], NOW))

        residue = await storage.scrub()

        assert residue.pending == ()

    async def test_a_scrub_takes_nothing_that_is_kept(self, storage: StorageBackend) -> None:
        rows = await store_memories(storage, *(memory(f"tea number {n} " * 40) for n in range(200)))
        gone = [row.id for row in rows[::2]]
        await storage.write(lambda s: s.memories.erase(MINE, gone, NOW))

        await storage.scrub()

        kept = await storage.read(lambda s: s.memories.find(MINE, MemoryFilter()))
        assert sorted(contents(kept)) == sorted(contents(rows[1::2]))
        assert set(await search_contents(storage, "number")) - {*contents(rows[1::2])} == set()
        assert await storage.read(lambda s: s.upkeep.check()) == []

    async def test_a_reader_does_not_hold_up_a_scrub_for_ever(
        self, storage: StorageBackend
    ) -> None:
        [gone] = await store_memories(storage, memory("tea that goes"))
        began, passing = threading.Event(), threading.Event()

        def read_slowly(stores: Stores) -> bool:
            seen = stores.memories.find(MINE, MemoryFilter())
            began.set()
            return passing.wait(_LONG_S) and bool(seen)

        reader = asyncio.create_task(storage.read(read_slowly))
        await asyncio.to_thread(began.wait, _LONG_S)
        await storage.write(lambda s: s.memories.erase(MINE, [gone.id], NOW))

        async with asyncio.timeout(_LONG_S):
            await storage.scrub()
        passing.set()

        assert await reader is True
        assert (await storage.scrub()).pending == ()

    async def test_writers_go_on_while_scrubs_run(self, storage: StorageBackend) -> None:
        async def write(number: int) -> None:
            [row] = await store_memories(storage, memory(f"passing tea {number}"))
            await storage.write(lambda s: s.memories.erase(MINE, [row.id], NOW))
            await store_memories(storage, memory(f"tea {number}"))

        await asyncio.gather(
            *(write(number) for number in range(20)), *(storage.scrub() for _ in range(5))
        )

        kept = await storage.read(lambda s: s.memories.find(MINE, MemoryFilter()))
        assert sorted(contents(kept)) == sorted(f"tea {number}" for number in range(20))
        assert await storage.read(lambda s: s.upkeep.check()) == []
