"""A search finds by meaning what was written just before it, ahead of the backfill."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from embedding_hub import PACE, Model, reached, until, vectors
from embedding_parts import hashed
from plastic_memories.adapters.prometheus.meter import PrometheusMeter
from plastic_memories.adapters.recall.hybrid import hybrid_engine
from plastic_memories.adapters.sqlite.backend import open_sqlite
from plastic_memories.errors import Unavailable
from plastic_memories.hub.vectors.embedding import EmbeddingService
from plastic_memories.model.owner import Owner
from plastic_memories.ports.embedder import EmbedderChoice
from plastic_memories.ports.storage import StorageBackend
from plastic_memories.rules.ranking.vector_codec import pack_vectors
from plastic_memories.runtime.write_burst import WriteBurstThrottle
from plastic_memories.testing.samples import MINE, OTHER_USER, memory, store_memories
from recall_parts import Options, Parts, asking

TEA = "I like oolong tea"


class EndlessBurst(WriteBurstThrottle):
    """Writes that do not end while a test runs: the backfill stands back."""

    def __init__(self) -> None:
        super().__init__()
        self.ended = threading.Event()

    def wait(self) -> None:
        self.ended.wait(120)


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncGenerator[StorageBackend]:
    async with open_sqlite(Options(tmp_path / "pm.db")) as opened:
        yield opened


@asynccontextmanager
async def standing_back(
    storage: StorageBackend, model: Model, *, is_in_process: bool = True
) -> AsyncGenerator[EmbeddingService]:
    """A ready embedder whose backfill stands back."""
    burst = EndlessBurst()
    choice = EmbedderChoice("fake", "a test", lambda: model, is_in_process=is_in_process)
    opened = EmbeddingService(storage, choice, PrometheusMeter(), PACE, burst)
    task = asyncio.create_task(opened.run_forever())
    try:
        await reached(opened, "ready")
        yield opened
    finally:
        burst.ended.set()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await opened.close()


async def write(
    storage: StorageBackend, embedding: EmbeddingService, *texts: str, owner: Owner = MINE
) -> None:
    await store_memories(storage, *(memory(text, owner=owner) for text in texts))
    embedding.wake()


async def have_vectors(storage: StorageBackend, owner: Owner = MINE) -> bool:
    return None not in (await vectors(storage, owner)).values()


async def test_a_search_embeds_what_was_just_written(storage: StorageBackend) -> None:
    model = Model()
    async with standing_back(storage, model) as embedding:
        await write(storage, embedding, TEA)
        engine = hybrid_engine(Parts(storage, embedding))

        await engine.find(asking("what to drink?", deadline_s=10))
        await until(lambda: have_vectors(storage))

        assert list((await vectors(storage)).values()) == [pack_vectors(hashed([TEA]))]


async def test_searches_at_the_same_time_embed_it_once(storage: StorageBackend) -> None:
    model = Model()
    async with standing_back(storage, model) as embedding:
        await write(storage, embedding, TEA)

        await asyncio.gather(*(embedding.embed_recent(MINE, 10) for _ in range(5)))
        await until(lambda: have_vectors(storage))

        assert model.seen == [[TEA]]


async def test_a_slow_model_is_not_waited_for(storage: StorageBackend) -> None:
    model, answers = Model(), threading.Event()
    async with standing_back(storage, model) as embedding:
        await write(storage, embedding, TEA)
        model.before = lambda _: bool(answers.wait(20)) or None

        async with asyncio.timeout(10):
            await embedding.embed_recent(MINE, 10)
        early = await have_vectors(storage)
        answers.set()
        await until(lambda: have_vectors(storage))

        assert not early


async def test_a_failing_model_does_not_fail_the_search(storage: StorageBackend) -> None:
    def fail(_: object) -> None:
        raise Unavailable("away")

    model = Model()
    async with standing_back(storage, model) as embedding:
        await write(storage, embedding, TEA)
        model.before = fail

        await embedding.embed_recent(MINE, 10)

        assert embedding.status == "ready"


async def test_many_entries_are_left_to_the_backfill(storage: StorageBackend) -> None:
    model = Model()
    async with standing_back(storage, model) as embedding:
        await write(storage, embedding, *(f"fact {number}" for number in range(21)))

        await embedding.embed_recent(MINE, 10)

        assert model.seen == []


async def test_entries_of_another_user_are_left_to_the_backfill(storage: StorageBackend) -> None:
    model = Model()
    async with standing_back(storage, model) as embedding:
        await write(storage, embedding, TEA, owner=OTHER_USER)

        await embedding.embed_recent(MINE, 10)

        assert model.seen == []


async def test_an_embedder_elsewhere_is_not_waited_for(storage: StorageBackend) -> None:
    model = Model()
    async with standing_back(storage, model, is_in_process=False) as embedding:
        await write(storage, embedding, TEA)

        await embedding.embed_recent(MINE, 10)

        assert model.seen == []
