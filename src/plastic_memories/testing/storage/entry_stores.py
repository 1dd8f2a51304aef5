"""What ranking reads must follow the memories: at once, in their own partition, nothing left."""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import Any

import pytest

from plastic_memories.language.text.tokens import term_code
from plastic_memories.model.entry import Partition, PartitionChanges, partitions_for
from plastic_memories.model.memory import Scope, Status
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.ports.storage import StorageBackend
from plastic_memories.testing.samples import MINE, NOW, STRANGERS, memory, store_memories

OWN, SHARED = partitions_for(MINE)


class EntryStoreContract:
    """One entry for every active memory, in the partition in which it is searched."""

    async def test_a_memory_has_an_entry_at_once(self, storage: StorageBackend) -> None:
        row = memory("喝茶", session_id="s1", speaker="Anna", importance=0.7, occurred_at=NOW - 5)
        [added] = await store_memories(storage, row)

        [entry] = (await _entry_changes(storage)).entries

        assert (entry.memory_id, entry.session_id, entry.speaker) == (added.id, "s1", "Anna")
        assert (entry.importance, entry.happened_at, entry.vector) == (0.7, NOW - 5, None)
        assert list(array("I", entry.terms)) == [
            term_code("喝"),
            term_code("喝茶"),
            term_code("茶"),
        ]

    async def test_what_is_known_is_not_told_again(self, storage: StorageBackend) -> None:
        await store_memories(storage, memory("one"))
        known = (await _entry_changes(storage)).revision

        assert (await _entry_changes(storage, known=known)) == PartitionChanges(known)
        [two] = await store_memories(storage, memory("two"))

        assert [e.memory_id for e in (await _entry_changes(storage, known=known)).entries] == [
            two.id
        ]

    async def test_what_is_gone_is_told(self, storage: StorageBackend) -> None:
        one, two, three = await store_memories(storage, *map(memory, ("one", "two", "three")))
        known = (await _entry_changes(storage)).revision

        await storage.write(lambda s: s.memories.erase(MINE, [one.id], NOW))
        await storage.write(lambda s: s.memories.save(replace(two, status=Status.REVOKED)))

        news = await _entry_changes(storage, known=known)
        assert (list(news.remaining_ids or ()), list(news.entries)) == ([three.id], [])
        assert [e.memory_id for e in (await _entry_changes(storage)).entries] == [three.id]

    async def test_a_candidate_has_none_until_it_is_confirmed(
        self, storage: StorageBackend
    ) -> None:
        [waiting] = await store_memories(storage, memory(status=Status.CANDIDATE))
        before = await _entry_changes(storage)

        await storage.write(lambda s: s.memories.save(replace(waiting, status=Status.ACTIVE)))

        assert before == PartitionChanges(0)
        assert [e.memory_id for e in (await _entry_changes(storage)).entries] == [waiting.id]

    @pytest.mark.parametrize(
        ("given", "partition"),
        [
            ({}, OWN),
            ({"scope": Scope.GLOBAL}, SHARED),
            ({"scope": Scope.GLOBAL, "realm": Realm.STORY}, OWN),
            ({"scope": Scope.SESSION, "session_id": "s"}, OWN),
        ],
    )
    async def test_it_stands_in_one_partition_only(
        self, storage: StorageBackend, given: dict[str, Any], partition: Partition
    ) -> None:
        await store_memories(storage, memory(**given))

        assert [
            part for part in (OWN, SHARED) if (await _entry_changes(storage, part)).entries
        ] == [partition]

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_a_stranger_has_none(self, storage: StorageBackend, stranger: Owner) -> None:
        await store_memories(storage, memory())

        assert await _entry_changes(storage, partitions_for(stranger)[0]) == PartitionChanges(0)

    async def test_an_erased_persona_leaves_none(self, storage: StorageBackend) -> None:
        await store_memories(storage, memory("own"), memory("shared", scope=Scope.GLOBAL))

        await storage.write(lambda s: s.personas.erase(MINE, NOW))

        assert [(await _entry_changes(storage, part)).entries for part in (OWN, SHARED)] == [[], []]


async def _entry_changes(
    storage: StorageBackend, partition: Partition = OWN, known: int = 0
) -> PartitionChanges:
    return await storage.read(lambda stores: stores.entries.changes_since(partition, known))
