"""Vectors belong to their entries: of one model, of the same words, gone with them."""

from __future__ import annotations

from dataclasses import replace

from plastic_memories.model.entry import EntryCursor, PendingEmbedding, partitions_for
from plastic_memories.model.memory import Scope, Status
from plastic_memories.model.owner import Owner
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.testing.samples import (
    MINE,
    NOW,
    OTHER_TENANT,
    OTHER_USER,
    memory,
    store_memories,
)

MODEL = "test/1"
VECTOR = bytes([1, 2, 3, 255])


class VectorStoreContract:
    """One model's vectors, each beside the entry it is of."""

    async def test_what_has_no_vector_waits_in_order(self, storage: StorageBackend) -> None:
        rows = await store_memories(
            storage,
            memory("喝茶", tags=("绿茶",)),
            memory("candidate", status=Status.CANDIDATE),
            memory("shared", scope=Scope.GLOBAL),
            memory("of another", owner=OTHER_USER),
        )

        waiting = await _missing_vectors(storage)
        later = await _missing_vectors(storage, after_id=waiting[0].entry_id)

        ids = [row.id for row in rows]
        assert [one.entry_id for one in waiting] == [ids[0], ids[2], ids[3]]
        assert waiting[0].text == "喝茶\n绿茶"
        assert [one.partition.user for one in waiting] == [MINE.user, MINE.user, OTHER_USER.user]
        assert [one.entry_id for one in later] == [ids[2], ids[3]]
        assert await storage.read(lambda s: s.vectors.backlog()) == 3

    async def test_vectors_are_counted_by_tenant(self, storage: StorageBackend) -> None:
        mine = [memory("喝茶", key=f"k{number}") for number in range(3)]
        await store_memories(storage, *mine, memory("of another", owner=OTHER_TENANT))

        def counts(stores: Stores) -> list[int]:
            tenants = (None, MINE.tenant_id, OTHER_TENANT.tenant_id, "nobody")
            return [stores.vectors.backlog(tenant) for tenant in tenants]

        def count_by_tenant(stores: Stores) -> list[int]:
            tenants = (None, MINE.tenant_id, OTHER_TENANT.tenant_id, "nobody")
            return [stores.vectors.count_stored(tenant) for tenant in tenants]

        assert await storage.read(counts) == [4, 3, 1, 0]
        assert await storage.read(count_by_tenant) == [0, 0, 0, 0]
        await _embed(storage)
        assert await storage.read(counts) == [0, 0, 0, 0]
        assert await storage.read(count_by_tenant) == [4, 3, 1, 0]

    async def test_a_stored_vector_is_news_to_readers(self, storage: StorageBackend) -> None:
        own, _ = partitions_for(MINE)
        [row] = await store_memories(storage, memory("喝茶"))
        known = (await storage.read(lambda s: s.entries.changes_since(own))).revision

        stored = await _embed(storage)

        news = await storage.read(lambda s: s.entries.changes_since(own, known))
        assert stored == 1
        assert [(entry.memory_id, entry.vector) for entry in news.entries] == [(row.id, VECTOR)]
        assert await _counts(storage) == (0, 1)

    async def test_nothing_is_stored_for_another_model(self, storage: StorageBackend) -> None:
        await store_memories(storage, memory("喝茶"))
        await storage.write(lambda s: s.vectors.set_model("test/2"))
        waiting = await _missing_vectors(storage)

        stored = await storage.write(lambda s: s.vectors.put(MODEL, [(waiting[0], VECTOR)]))

        assert stored == 0
        assert await _counts(storage) == (1, 0)

    async def test_a_forgotten_memory_gets_no_vector(self, storage: StorageBackend) -> None:
        rows = await store_memories(storage, memory("喝茶"), memory("喝水"))
        waiting = await _missing_vectors(storage)
        await storage.write(lambda s: s.memories.erase(MINE, [rows[0].id], NOW))

        stored = await _put(storage, waiting)

        assert stored == 1
        assert await _stored_vector(storage, MINE, rows[0].id) is None
        assert await _counts(storage) == (0, 1)

    async def test_other_words_get_no_vector_of_the_old_ones(self, storage: StorageBackend) -> None:
        [row] = await store_memories(storage, memory("喝茶"))
        waiting = await _missing_vectors(storage)
        await storage.write(lambda s: s.memories.save(replace(row, content="喝咖啡")))

        stored = await _put(storage, waiting)

        assert stored == 0
        assert [one.text for one in await _missing_vectors(storage)] == ["喝咖啡"]

    async def test_a_change_of_the_words_takes_the_vector_away(
        self, storage: StorageBackend
    ) -> None:
        [row] = await store_memories(storage, memory("喝茶"))
        await _embed(storage)

        await storage.write(lambda s: s.memories.save(replace(row, importance=0.9)))
        kept = await _stored_vector(storage, MINE, row.id)
        await storage.write(lambda s: s.memories.save(replace(row, content="喝咖啡")))

        assert kept == VECTOR
        assert await _stored_vector(storage, MINE, row.id) is None

    async def test_all_are_cleared_piece_by_piece(self, storage: StorageBackend) -> None:
        await store_memories(storage, *(memory(f"fact {number}") for number in range(5)))
        await store_memories(storage, memory("of another", owner=OTHER_USER))
        await _embed(storage)
        own, _ = partitions_for(MINE)
        known = (await storage.read(lambda s: s.entries.changes_since(own))).revision

        marks = [await _clear(storage, EntryCursor())]
        while marks[-1] is not None:
            marks.append(await _clear(storage, marks[-1]))

        news = await storage.read(lambda s: s.entries.changes_since(own, known))
        assert len(marks) == 4
        assert await _counts(storage) == (6, 0)
        assert [entry.vector for entry in news.entries] == [None] * 5

    async def test_a_rebuild_makes_vectors_anew(self, storage: StorageBackend) -> None:
        await store_memories(storage, memory("喝茶"), memory("of another", owner=OTHER_USER))
        await _embed(storage)

        await storage.write(lambda s: s.upkeep.rebuild_index(MINE))

        assert [one.partition.user for one in await _missing_vectors(storage)] == [MINE.user]

    async def test_the_model_is_remembered(self, storage: StorageBackend) -> None:
        before = await storage.read(lambda s: s.vectors.model())

        await storage.write(lambda s: s.vectors.set_model(MODEL))

        assert (before, await storage.read(lambda s: s.vectors.model())) == ("", MODEL)


async def _missing_vectors(storage: StorageBackend, after_id: int = 0) -> list[PendingEmbedding]:
    return await storage.read(lambda stores: stores.vectors.list_missing(after_id, 100))


async def _put(storage: StorageBackend, rows: list[PendingEmbedding]) -> int:
    def work(stores: Stores) -> int:
        stores.vectors.set_model(MODEL)
        return stores.vectors.put(MODEL, [(row, VECTOR) for row in rows])

    return await storage.write(work)


async def _embed(storage: StorageBackend) -> int:
    return await _put(storage, await _missing_vectors(storage))


async def _clear(storage: StorageBackend, mark: EntryCursor) -> EntryCursor | None:
    return await storage.write(lambda stores: stores.vectors.clear(mark, 2))


async def _counts(storage: StorageBackend) -> tuple[int, int]:
    return await storage.read(lambda s: (s.vectors.backlog(), s.vectors.count_stored()))


async def _stored_vector(storage: StorageBackend, owner: Owner, memory_id: int) -> bytes | None:
    own, _ = partitions_for(owner)
    news = await storage.read(lambda stores: stores.entries.changes_since(own))
    return next((e.vector for e in news.entries if e.memory_id == memory_id), None)
