"""What every storage backend must do; a plug-in's test class inherits it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from plastic_memories.errors import Conflict
from plastic_memories.model.event import Event
from plastic_memories.model.memory import Memory
from plastic_memories.model.owner import Owner
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.rules.lifecycle.tombstones import TombstoneDigests
from plastic_memories.testing.samples import (
    MINE,
    NOW,
    STRANGERS,
    contents,
    memory,
    message,
    search_contents,
    store_memories,
)
from plastic_memories.testing.storage.audit_and_keys import (
    AuditLogContract,
    ConsoleSessionContract,
    GoalStoreContract,
    KeyStoreContract,
    TombstoneStoreContract,
)
from plastic_memories.testing.storage.card_stores import CardStoreContract
from plastic_memories.testing.storage.core_memories import CoreMemoryContract
from plastic_memories.testing.storage.entry_stores import EntryStoreContract
from plastic_memories.testing.storage.job_stores import JobStoreContract, SessionStoreContract
from plastic_memories.testing.storage.memory_stores import MemoryStoreContract
from plastic_memories.testing.storage.message_stores import (
    CorrectionStoreContract,
    MessageStoreContract,
)
from plastic_memories.testing.storage.page_stores import PageStoreContract
from plastic_memories.testing.storage.persona_stores import PersonaStoreContract, SlotStoreContract
from plastic_memories.testing.storage.scrubbing import ScrubContract
from plastic_memories.testing.storage.text_search import TextSearchContract
from plastic_memories.testing.storage.unique_keys import UniqueKeyContract
from plastic_memories.testing.storage.upkeep_stores import UpkeepContract
from plastic_memories.testing.storage.vector_stores import VectorStoreContract

WRITERS = 40


class TransactionContract:
    """One piece of work stands or falls as a whole, and by itself."""

    async def test_a_write_is_seen_by_the_next_read(self, storage: StorageBackend) -> None:
        for number in range(20):
            [added] = await store_memories(storage, memory(f"fact {number}"))

            assert await _get(storage, added.id) == added

    async def test_work_returns_its_own_value(self, storage: StorageBackend) -> None:
        value = object()

        assert await storage.read(lambda _: value) is value
        assert await storage.write(lambda _: value) is value

    @pytest.mark.parametrize("error", [Conflict("no"), ValueError("no"), KeyError("no")])
    async def test_an_error_comes_back_unchanged(
        self, storage: StorageBackend, error: Exception
    ) -> None:
        def work(_: Stores) -> None:
            raise error

        outcomes: list[object] = await asyncio.gather(
            *(run(work) for run in (storage.read, storage.write)), return_exceptions=True
        )

        assert outcomes == [error, error]

    @pytest.mark.parametrize("kind", ["read", "write"])
    async def test_a_stray_stop_iteration_is_an_error_and_not_a_silence(
        self, storage: StorageBackend, kind: str
    ) -> None:
        """`next` of nothing is an everyday bug, and no future takes a StopIteration."""
        run = storage.read if kind == "read" else storage.write

        async with asyncio.timeout(5):
            with pytest.raises(RuntimeError):
                await run(lambda _: next(iter(())))

    async def test_after_reads_that_nobody_waited_for_the_next_is_answered(
        self, storage: StorageBackend
    ) -> None:
        passing = threading.Event()
        given_up = [asyncio.create_task(storage.read(lambda _: passing.wait())) for _ in range(20)]
        await asyncio.sleep(0)

        for task in given_up:
            task.cancel()
        await asyncio.gather(*given_up, return_exceptions=True)
        passing.set()

        assert await storage.read(lambda _: "tea") == "tea"

    async def test_failed_work_leaves_nothing_behind(self, storage: StorageBackend) -> None:
        [kept] = await store_memories(storage, memory("kept tea"))

        with pytest.raises(Conflict):
            await storage.write(lambda stores: _change_everything(stores, kept))

        assert await _contents(storage) == ["kept tea"]
        assert await search_contents(storage, "tea") == ["kept tea"]
        assert await storage.read(lambda s: s.audit.find(MINE.user)) == []
        assert await storage.read(lambda s: s.upkeep.check()) == []

    async def test_a_read_cannot_write(self, storage: StorageBackend) -> None:
        await store_memories(storage, memory())

        outcomes = await asyncio.gather(
            storage.read(lambda s: s.memories.add(memory("from a read"))), return_exceptions=True
        )

        assert isinstance(outcomes[0], Exception)
        assert await _contents(storage) == ["I like oolong tea"]

    async def test_work_sees_what_it_has_done_itself(self, storage: StorageBackend) -> None:
        def work(stores: Stores) -> Memory | None:
            stores.personas.ensure(MINE, NOW)
            added = stores.memories.add(memory())
            return stores.memories.get(MINE, added.id)

        assert await storage.write(work) is not None

    async def test_of_many_writers_each_gets_its_own_outcome(self, storage: StorageBackend) -> None:
        await store_memories(storage, memory("there already"))

        outcomes = await asyncio.gather(
            *(_write_numbered(storage, number) for number in range(WRITERS)),
            return_exceptions=True,
        )

        for number, outcome in enumerate(outcomes):
            if number % 3:
                assert isinstance(outcome, Memory)
                assert outcome.content == f"number {number}"
            else:
                assert isinstance(outcome, Conflict)
                assert outcome.message == f"number {number}"
        kept = [f"number {number}" for number in range(WRITERS) if number % 3]
        assert sorted(await _contents(storage)) == sorted(["there already", *kept])
        assert sorted(await search_contents(storage, "number")) == sorted(kept)
        assert await storage.read(lambda s: s.upkeep.check()) == []

    async def test_of_many_that_want_one_place_exactly_one_wins(
        self, storage: StorageBackend
    ) -> None:
        outcomes = await asyncio.gather(
            *(
                store_memories(storage, memory(f"n {number}", key="one"))
                for number in range(WRITERS)
            ),
            return_exceptions=True,
        )

        winners = [outcome for outcome in outcomes if isinstance(outcome, list)]
        assert len(winners) == 1
        assert await _contents(storage) == contents(winners[0])

    async def test_a_check_and_the_write_after_it_are_one(self, storage: StorageBackend) -> None:
        await store_memories(storage, memory("0", key="counter"))

        await asyncio.gather(*(storage.write(_increment) for _ in range(WRITERS)))

        assert await _contents(storage) == [str(WRITERS)]

    async def test_no_writer_is_shown_what_another_has_recorded(
        self, storage: StorageBackend
    ) -> None:
        def recorded_by(number: int) -> Callable[[Stores], list[str]]:
            def work(stores: Stores) -> list[str]:
                named = f"number.{number}"
                stores.audit.record([Event(user=MINE.user, persona_id="p", event=named, ts=NOW)])
                return [event.event for event in stores.audit.recorded_events]

            return work

        recorded = await asyncio.gather(
            *(storage.write(recorded_by(number)) for number in range(WRITERS))
        )

        assert recorded == [[f"number.{number}"] for number in range(WRITERS)]

    async def test_a_persona_comes_back_right_after_it_was_erased(
        self, storage: StorageBackend
    ) -> None:
        def anew(stores: Stores) -> bool:
            stores.personas.erase(MINE, NOW)
            made = stores.personas.ensure(MINE, NOW)
            stores.memories.add(memory("tea again", key="one"))
            return made

        made = await asyncio.gather(*(storage.write(anew) for _ in range(WRITERS)))

        assert all(made)
        assert await search_contents(storage, "tea") == ["tea again"]
        assert await storage.read(lambda s: s.upkeep.check()) == []

    async def test_a_mark_holds_for_the_work_of_the_same_moment(
        self, storage: StorageBackend
    ) -> None:
        mark = TombstoneDigests(value_digest="v", key_digest="k", covers_key=False)

        def mark_and_lift(stores: Stores) -> list[bool]:
            seen = [stores.tombstones.has_any(MINE)]
            stores.tombstones.add(MINE, mark, NOW)
            seen.append(stores.tombstones.has_any(MINE))
            stores.tombstones.lift(MINE, mark)
            return [*seen, stores.tombstones.has_any(MINE)]

        seen = await asyncio.gather(*(storage.write(mark_and_lift) for _ in range(WRITERS)))

        assert seen == [[False, True, False]] * WRITERS

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_a_stranger_sees_nothing_while_many_write(
        self, storage: StorageBackend, stranger: Owner
    ) -> None:
        reads = (
            storage.read(lambda s: s.memories.find(stranger, MemoryFilter())) for _ in range(10)
        )
        writes = (store_memories(storage, memory(f"fact {number}")) for number in range(10))

        outcomes = await asyncio.gather(*writes, *reads)

        assert outcomes[10:] == [[]] * 10

    async def test_it_can_describe_itself(self, storage: StorageBackend) -> None:
        described = await storage.describe()

        assert described["name"]


class StorageContract(
    TransactionContract,
    MemoryStoreContract,
    UniqueKeyContract,
    TextSearchContract,
    EntryStoreContract,
    CoreMemoryContract,
    MessageStoreContract,
    CorrectionStoreContract,
    PersonaStoreContract,
    SlotStoreContract,
    CardStoreContract,
    TombstoneStoreContract,
    GoalStoreContract,
    KeyStoreContract,
    ConsoleSessionContract,
    AuditLogContract,
    SessionStoreContract,
    JobStoreContract,
    UpkeepContract,
    ScrubContract,
    VectorStoreContract,
    PageStoreContract,
):
    """Inherit it and give it an empty storage: `class TestMine(StorageContract)`.

    The fixture must yield a new, empty storage for each test and close it afterwards.
    """

    @pytest.fixture
    def storage(self) -> StorageBackend:
        raise NotImplementedError("Override this fixture with the storage under test.")


def _change_everything(stores: Stores, kept: Memory) -> None:
    stores.memories.add(memory("half-done tea"))
    stores.memories.erase(MINE, [kept.id], NOW)
    stores.messages.append([message()])
    stores.personas.erase(MINE, NOW)
    raise Conflict("after all that")


async def _write_numbered(storage: StorageBackend, number: int) -> Memory:
    """Write one row; every third one fails, half of those after it has written."""

    def work(stores: Stores) -> Memory:
        if number % 6 == 0:
            raise Conflict(f"number {number}")
        added = stores.memories.add(memory(f"number {number}"))
        if number % 3 == 0:
            raise Conflict(f"number {number}")
        return added

    return await storage.write(work)


def _increment(stores: Stores) -> None:
    [row] = stores.memories.find(MINE, MemoryFilter(key="counter"))
    stores.memories.erase(MINE, [row.id], NOW)
    stores.memories.add(memory(str(int(row.content) + 1), key="counter"))


async def _get(storage: StorageBackend, memory_id: int) -> Memory | None:
    return await storage.read(lambda stores: stores.memories.get(MINE, memory_id))


async def _contents(storage: StorageBackend) -> list[str]:
    rows = await storage.read(lambda s: s.memories.find(MINE, MemoryFilter()))
    return contents(rows)
