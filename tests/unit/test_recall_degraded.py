"""Hybrid recall without some of its parts: it answers with the rest and names what is missing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from embedding_parts import hashed
from harness import Api
from plastic_memories.adapters.prometheus.meter import PrometheusMeter
from plastic_memories.adapters.recall.hybrid import HybridEngine, hybrid_engine
from plastic_memories.adapters.recall.index_cache import IndexCache
from plastic_memories.adapters.sqlite.backend import open_sqlite
from plastic_memories.errors import Unavailable
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.vectors.embedding import EmbeddingService, EmbeddingTimings
from plastic_memories.model.entry import Partition, PartitionChanges
from plastic_memories.ports.embedder import Embedder, EmbedderChoice, Purpose, QueryVector, Vectors
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.testing.recall_engine_contract import BrokenStorage
from plastic_memories.testing.samples import MINE, memory, store_memories
from recall_parts import Fixed, Options, Parts, asking, contents

TEA = "I like oolong tea"
PACE = EmbeddingTimings(settle_s=0, first_retry_s=3600, last_retry_s=3600)


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncIterator[StorageBackend]:
    async with open_sqlite(Options(tmp_path / "pm.db")) as opened:
        await store_memories(opened, memory(TEA), memory("about coffee"))
        yield opened


class Model:
    """An embedder whose questions wait until they may pass."""

    model, dimension = "fake/1", 64

    def __init__(self, pass_on: threading.Event) -> None:
        self._pass_on = pass_on

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        if purpose == "query":
            self._pass_on.wait()
        return hashed(texts)


@asynccontextmanager
async def embedding_of(
    storage: StorageBackend, load: Callable[[], Embedder] | None
) -> AsyncIterator[EmbeddingService]:
    embedding = EmbeddingService(
        storage, EmbedderChoice("fake", "a test", load), PrometheusMeter(), PACE
    )
    task = asyncio.create_task(embedding.run_forever())
    try:
        yield embedding
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await embedding.close()


async def reached(embedding: EmbeddingService, status: str) -> None:
    async with asyncio.timeout(20):
        while embedding.status != status:  # noqa: ASYNC110 - it has no event to wait for
            await asyncio.sleep(0.005)


async def test_no_embedder_is_a_choice_and_nothing_is_missing(storage: StorageBackend) -> None:
    async with embedding_of(storage, None) as embedding:
        found = await hybrid_engine(Parts(storage, embedding)).find(asking("tea"))

    assert (contents(found), found.degraded) == ([TEA], ())


async def test_while_the_embedder_loads_words_are_searched(storage: StorageBackend) -> None:
    loaded = threading.Event()

    def load() -> Embedder:
        loaded.wait()
        return Model(loaded)

    async with embedding_of(storage, load) as embedding:
        found = await hybrid_engine(Parts(storage, embedding)).find(asking("tea"))
        loaded.set()

    assert (contents(found), found.degraded) == ([TEA], ("vectors",))


async def test_when_the_embedder_fails_words_are_searched(storage: StorageBackend) -> None:
    def load() -> Embedder:
        raise Unavailable("The model is gone.")

    async with embedding_of(storage, load) as embedding:
        await reached(embedding, "failing")
        found = await hybrid_engine(Parts(storage, embedding)).find(asking("tea"))

    assert (contents(found), found.degraded) == ([TEA], ("vectors",))


async def test_an_embedder_that_hangs_is_not_waited_for(storage: StorageBackend) -> None:
    pass_on = threading.Event()
    async with embedding_of(storage, lambda: Model(pass_on)) as embedding:
        await reached(embedding, "ready")
        engine = hybrid_engine(Parts(storage, embedding))

        found = await engine.find(asking("tea", deadline_s=2))
        pass_on.set()

    assert (contents(found), found.degraded) == ([TEA], ("vectors",))


async def test_of_several_questions_one_without_a_vector_is_enough_to_say_so(
    storage: StorageBackend,
) -> None:
    @dataclass(frozen=True)
    class Sometimes(Fixed):
        async def query_vector(
            self, text: str, deadline_s: float, *, tenant_id: str
        ) -> QueryVector:
            return QueryVector(None, "away") if "tea" in text else QueryVector(hashed([text])[0])

    engine = hybrid_engine(Parts(storage, Sometimes()))

    found = await engine.find(asking("What tea? Also, which coffee?"))

    assert set(contents(found)) == {TEA, "about coffee"}
    assert found.degraded == ("vectors",)


class NoEntries:
    """Entries that cannot be read."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def changes_since(self, partition: Partition, known: int = 0) -> PartitionChanges:
        raise self._error


class WithoutEntries:
    """The stores of one piece of work, less the entries."""

    def __init__(self, stores: Stores, error: Exception) -> None:
        self._stores = stores
        self.entries = NoEntries(error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stores, name)


@dataclass
class Unreadable:
    """A storage whose entries cannot be read; all else can."""

    storage: StorageBackend
    error: Exception

    async def read(self, work: Callable[[Any], Any]) -> Any:
        return await self.storage.read(lambda stores: work(WithoutEntries(stores, self.error)))

    async def write(self, work: Callable[[Any], Any]) -> Any:
        return await self.storage.write(work)

    async def describe(self) -> Mapping[str, Any]:
        return await self.storage.describe()


@dataclass
class SlowAtFirst(Unreadable):
    """A storage that never answers the first read."""

    is_first: bool = True

    async def read(self, work: Callable[[Any], Any]) -> Any:
        if self.is_first:
            self.is_first = False
            await asyncio.Event().wait()
        return await self.storage.read(work)


FAILURES = [Unavailable("away"), RuntimeError("a bug"), MemoryError(), OSError("disk")]


@pytest.mark.parametrize("error", FAILURES, ids=repr)
async def test_without_the_index_the_text_search_answers(
    storage: StorageBackend, error: Exception
) -> None:
    found = await hybrid_engine(Parts(Unreadable(storage, error))).find(asking("tea"))

    assert (contents(found), found.degraded) == ([TEA], ("index",))


async def test_an_index_that_takes_too_long_is_not_waited_for(storage: StorageBackend) -> None:
    engine = hybrid_engine(Parts(SlowAtFirst(storage, Unavailable(""))))

    found = await engine.find(asking("tea", deadline_s=2))
    again = await engine.find(asking("tea"))

    assert (contents(found), found.degraded) == ([TEA], ("index",))
    assert (contents(again), again.degraded) == ([TEA], ())


async def test_an_index_that_another_thread_holds_is_not_waited_for(
    storage: StorageBackend,
) -> None:
    cache = IndexCache(1_000_000)
    engine = HybridEngine(storage, Fixed(), cache)

    with cache.get(MINE).lock(0):
        found = await engine.find(asking("tea", deadline_s=1))
    again = await engine.find(asking("tea"))

    assert (contents(found), found.degraded) == ([TEA], ("index",))
    assert (contents(again), again.degraded) == ([TEA], ())


async def test_a_recall_that_failed_half_way_leaves_the_index_whole(
    storage: StorageBackend,
) -> None:
    cache = IndexCache(1_000_000)
    broken = HybridEngine(Unreadable(storage, Unavailable("away")), Fixed(), cache)
    whole = HybridEngine(storage, Fixed(), cache)

    await broken.find(asking("tea"))
    await whole.find(asking("tea"))
    await broken.find(asking("tea"))
    await store_memories(storage, memory("green tea"))

    found = await whole.find(asking("tea"))
    assert set(contents(found)) == {TEA, "green tea"}
    assert found.degraded == ()


async def test_vectors_and_index_may_be_away_together(storage: StorageBackend) -> None:
    away = Fixed(QueryVector(None, "away"))
    engine = hybrid_engine(Parts(Unreadable(storage, Unavailable("away")), away))

    found = await engine.find(asking("tea"))

    assert (contents(found), found.degraded) == ([TEA], ("vectors", "index"))


async def test_without_index_and_text_index_rows_are_scanned(storage: StorageBackend) -> None:
    await storage.write(lambda stores: stores.connection.execute("DROP TABLE fts_memory"))  # type: ignore[attr-defined]

    found = await hybrid_engine(Parts(Unreadable(storage, Unavailable("away")))).find(asking("tea"))

    assert (contents(found), found.degraded) == ([TEA], ("index", "text_index"))


async def test_when_everything_is_away_every_part_is_named() -> None:
    found = await hybrid_engine(Parts(BrokenStorage(), Fixed(QueryVector(None, "away")))).find(
        asking("tea")
    )

    assert (contents(found), found.degraded) == ([], ("vectors", "index", "text"))


async def test_when_everything_is_away_a_caller_still_gets_an_answer(api: Api) -> None:
    assert api.hub is not None
    recall = api.hub.recall
    storage = AuditedStorage(BrokenStorage(), recall.storage.sink, recall.storage.clock)
    broken = replace(
        recall,
        storage=storage,
        engine=hybrid_engine(Parts(BrokenStorage())),
    )
    object.__setattr__(api.hub, "recall", broken)

    found = await api.recall("tea")

    assert set(found["degraded"]) == {"structure", "snippets", "index", "text"}
    assert found["PERSONA_MEMORY"] == []


async def test_without_the_index_a_caller_gets_text_constraints_and_snippets(api: Api) -> None:
    await api.remember("我海鲜过敏", "profile", "constraint.allergy.seafood")
    await api.remember(TEA, "note", "a")
    await api.say("刚才说的话")
    assert api.hub is not None
    recall = api.hub.recall
    engine = hybrid_engine(Parts(Unreadable(recall.storage.backend, Unavailable("away"))))
    object.__setattr__(api.hub, "recall", replace(recall, engine=engine))

    found = await api.recall("oolong")

    assert found["degraded"] == ["index"]
    assert [row["content"] for row in found["PERSONA_MEMORY"]] == [TEA, "我海鲜过敏"]
    assert "刚才说的话" in found["injection_block"]
