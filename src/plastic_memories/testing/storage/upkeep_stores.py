"""What the server does by itself, for all owners at once."""

from __future__ import annotations

from dataclasses import replace

from plastic_memories.model.event import Event
from plastic_memories.model.memory import Scope, Status
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.testing.samples import (
    MINE,
    NOW,
    OTHER_USER,
    contents,
    memory,
    message,
    search_contents,
    store_memories,
    store_messages,
)


class UpkeepContract:
    async def test_rows_whose_time_has_come_are_due(self, storage: StorageBackend) -> None:
        await store_memories(
            storage,
            memory("over", expires_at=NOW),
            memory("over, waiting", expires_at=NOW - 1, status=Status.CANDIDATE),
            memory("over, of another", OTHER_USER, expires_at=NOW - 1),
            memory("not yet", expires_at=NOW + 1),
            memory("never"),
            memory("swept", expires_at=NOW - 1, status=Status.EXPIRED),
            memory("revoked", expires_at=NOW - 1, status=Status.REVOKED),
        )

        due = await storage.read(lambda s: s.upkeep.expired_memories(NOW, 10))
        few = await storage.read(lambda s: s.upkeep.expired_memories(NOW, 2))

        assert sorted(contents(due)) == ["over", "over, of another", "over, waiting"]
        assert len(few) == 2

    async def test_what_a_transaction_stores_can_be_due_in_it(
        self, storage: StorageBackend
    ) -> None:
        def work(stores: Stores) -> list[list[str]]:
            stores.personas.ensure(MINE, NOW)
            at_first = stores.upkeep.expired_memories(NOW, 10)
            added = stores.memories.add(memory("soon", expires_at=NOW + 5))
            before, after = (
                stores.upkeep.expired_memories(NOW, 10),
                stores.upkeep.expired_memories(NOW + 5, 10),
            )
            stores.memories.save(replace(added, status=Status.EXPIRED))
            swept = stores.upkeep.expired_memories(NOW + 5, 10)
            stores.memories.save(added)
            again = stores.upkeep.expired_memories(NOW + 5, 10)
            return [contents(rows) for rows in (at_first, before, after, swept, again)]

        assert await storage.write(work) == [[], [], ["soon"], [], ["soon"]]

    async def test_owners_are_gone_through_one_after_another(self, storage: StorageBackend) -> None:
        await store_memories(storage, memory("mine"), memory("theirs", OTHER_USER))

        [(number, first)] = await storage.read(lambda s: s.upkeep.owners(0, 1))
        rest = await storage.read(lambda s: s.upkeep.owners(number, 10))

        assert {first, *(owner for _, owner in rest)} == {MINE, OTHER_USER}
        assert len(rest) == 1

    async def test_old_messages_are_pruned_a_few_at_a_time(self, storage: StorageBackend) -> None:
        await store_messages(
            storage,
            *(message(f"old {n}", ts=NOW - 10 + n) for n in range(3)),
            message("old, of another", OTHER_USER, ts=NOW - 20),
            message("new", ts=NOW),
        )

        pruned = [
            await storage.write(lambda s: s.upkeep.prune_messages(NOW, None, 3)) for _ in range(3)
        ]

        assert pruned == [3, 1, 0]
        assert await _messages(storage) == ["new"]
        assert await storage.read(lambda s: s.upkeep.check()) == []

    async def test_a_crowded_persona_loses_its_oldest_messages(
        self, storage: StorageBackend
    ) -> None:
        await store_messages(
            storage,
            *(message(f"line {n}", ts=NOW + n) for n in range(5)),
            message("of another", OTHER_USER),
        )

        pruned = await storage.write(lambda s: s.upkeep.prune_messages(0.0, 2, 100))

        assert pruned == 3
        assert await _messages(storage) == ["line 4", "line 3"]

    async def test_old_changes_are_pruned(self, storage: StorageBackend) -> None:
        old = Event(user=MINE.user, persona_id="xiaoyu", event="memory.write", ts=NOW - 1)
        new = replace(old, ts=NOW)
        await storage.write(lambda s: s.audit.record([old, new]))

        assert await storage.write(lambda s: s.upkeep.prune_audit(NOW)) == 1

        left = await storage.read(lambda s: s.audit.find(MINE.user))
        assert [event.ts for event in left] == [NOW]

    async def test_a_rebuilt_index_finds_the_same(self, storage: StorageBackend) -> None:
        await store_memories(
            storage,
            memory("green tea"),
            memory("tea for all", scope=Scope.GLOBAL),
            memory("old tea", status=Status.REVOKED),
            memory("their tea", OTHER_USER),
        )
        await store_messages(storage, message("tea?"))
        before = sorted(await search_contents(storage, "tea"))

        rebuilt = await storage.write(lambda s: s.upkeep.rebuild_index(MINE))

        assert dict(rebuilt) == {"memories": 2, "messages": 1}
        assert (
            sorted(await search_contents(storage, "tea")) == before == ["green tea", "tea for all"]
        )
        assert await storage.read(lambda s: s.upkeep.check()) == []

    async def test_a_sound_store_has_nothing_to_report(self, storage: StorageBackend) -> None:
        await store_memories(storage, memory(), memory("waiting", status=Status.CANDIDATE))
        await store_messages(storage, message())

        assert await storage.read(lambda s: s.upkeep.check()) == []

    async def test_rows_are_counted(self, storage: StorageBackend) -> None:
        await store_memories(storage, memory(), memory("coffee", OTHER_USER))
        await store_messages(storage, message())

        counts = await storage.read(lambda s: s.upkeep.counts())

        expected = {"personas": 2, "memory_items": 2, "messages": 1}
        assert {name: counts[name] for name in expected} == expected


async def _messages(storage: StorageBackend) -> list[str]:
    return contents(await storage.read(lambda s: s.messages.find(MINE, MessageFilter())))
