"""Another embedder than before: what is cleared and when, and what is said meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from embedding_hub import PACE, Model, ask, embedding_with, filled, reached, vectors
from plastic_memories.adapters.prometheus.meter import PrometheusMeter
from plastic_memories.adapters.sqlite.backend import open_sqlite
from plastic_memories.errors import Unavailable
from plastic_memories.hub.vectors.embedding import EmbeddingService
from plastic_memories.ports.embedder import EmbedderChoice, Vectors
from plastic_memories.ports.storage import StorageBackend
from plastic_memories.rules.ranking.vector_codec import unpack_vectors
from plastic_memories.settings import load_settings
from plastic_memories.testing.samples import MINE, OTHER_TENANT, memory, store_memories


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncGenerator[StorageBackend]:
    settings = load_settings({"PLASTIC_MEMORIES_DATA_DIR": str(tmp_path)})
    async with open_sqlite(settings) as opened:
        yield opened


async def test_another_model_starts_anew(storage: StorageBackend) -> None:
    await store_memories(storage, *(memory(f"fact {n}") for n in range(30)))
    async with embedding_with(storage, Model()) as embedding:
        await filled(embedding)

    async with embedding_with(storage, Model("fake/2", dimension=32)) as embedding:
        await filled(embedding)

    assert {unpack_vectors(one or b"").shape for one in (await vectors(storage)).values()} == {
        (1, 32)
    }
    assert await storage.read(lambda stores: stores.vectors.model()) == "fake/2#32"


def _nan(_: Sequence[str], rows: Vectors) -> Vectors:
    rows[:, 0] = np.nan
    return rows


def _zeros(_: Sequence[str], rows: Vectors) -> Vectors:
    return rows * np.float32(0)


def _short(_: Sequence[str], rows: Vectors) -> Vectors:
    return rows[:, :10]


@pytest.mark.parametrize("spoil", [_nan, _zeros, _short])
async def test_one_that_does_not_work_costs_no_vector_of_the_one_before(
    storage: StorageBackend, spoil: Callable[[Sequence[str], Vectors], Vectors]
) -> None:
    await store_memories(storage, *map(memory, ("喝茶", "a grey kitten", "养了 kitten")))
    async with embedding_with(storage, Model()) as embedding:
        await filled(embedding)
    good = await vectors(storage)
    broken = Model("fake/2", dimension=32)
    broken.after = spoil

    async with embedding_with(storage, broken) as embedding:
        await reached(embedding, "failing")
        kept = await vectors(storage)
        waiting = await embedding.backlog()
        broken.after = lambda _, rows: rows
        await filled(embedding)

    assert (kept, waiting) == (good, 3)
    assert {unpack_vectors(one or b"").shape for one in (await vectors(storage)).values()} == {
        (1, 32)
    }


async def test_what_another_model_made_waits_to_be_made_anew(storage: StorageBackend) -> None:
    await store_memories(
        storage, memory("喝茶"), memory("coffee"), memory("tea", owner=OTHER_TENANT)
    )
    async with embedding_with(storage, Model()) as embedding:
        await filled(embedding)

    def not_loaded(model: str) -> EmbeddingService:
        choice = EmbedderChoice("fake", "a test", Model, model=model)
        return EmbeddingService(storage, choice, PrometheusMeter())

    tenants = (None, MINE.tenant_id, OTHER_TENANT.tenant_id)
    assert [await not_loaded("fake/1").backlog(one) for one in tenants] == [0, 0, 0]
    assert [await not_loaded("fake/2").backlog(one) for one in tenants] == [3, 2, 1]
    # A plug-in that cannot tell before it is loaded.
    assert await not_loaded("").backlog() == 0


async def test_one_that_keeps_failing_says_so_all_the_time(storage: StorageBackend) -> None:
    tries: list[tuple[str, str]] = []

    def loaded() -> Model:
        tries.append((embedding.status, embedding.error))
        if len(tries) < 4:
            raise Unavailable(f"no {len(tries)}")
        return Model()

    choice = EmbedderChoice("fake", "a test", loaded)
    embedding = EmbeddingService(storage, choice, PrometheusMeter(), PACE)
    task = asyncio.create_task(embedding.run_forever())

    await reached(embedding, "ready")

    failing = [("failing", f"no {number}") for number in (1, 2, 3)]
    assert tries == [("loading", ""), *failing]
    assert embedding.error == ""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await embedding.close()


async def test_the_same_model_embeds_nothing_twice(storage: StorageBackend) -> None:
    await store_memories(storage, memory("喝茶"))
    async with embedding_with(storage, Model()) as embedding:
        await filled(embedding)

    again = Model()
    async with embedding_with(storage, again) as embedding:
        await filled(embedding)

    assert again.seen == []


async def test_clearing_that_was_cut_short_is_finished(storage: StorageBackend) -> None:
    await store_memories(storage, *(memory(f"fact {n}") for n in range(10)))
    async with embedding_with(storage, Model()) as embedding:
        await filled(embedding)
    # As a process leaves it that was killed after its first step.
    await storage.write(lambda stores: stores.vectors.set_model(""))

    async with embedding_with(storage, Model("fake/2", dimension=32)) as embedding:
        await filled(embedding)

    assert {unpack_vectors(one or b"").shape for one in (await vectors(storage)).values()} == {
        (1, 32)
    }


async def test_what_another_process_changes_to_is_never_compared(
    storage: StorageBackend,
) -> None:
    async with embedding_with(storage, Model()) as embedding:
        await reached(embedding, "ready")
        await storage.write(lambda stores: stores.vectors.set_model("other/1#64"))

        await reached(embedding, "failing")

        assert (await ask(embedding, "tea", 10)).vector is None
        assert embedding.error == "Another process stores vectors of another model."
