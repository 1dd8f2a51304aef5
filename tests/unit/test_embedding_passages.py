"""Vectors for reading: of one model only, and not before it is loaded."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from pathlib import Path

import numpy as np
import pytest

from embedding_hub import PACE, Model, embedding_with
from embedding_parts import hashed
from plastic_memories.adapters.prometheus.meter import PrometheusMeter
from plastic_memories.adapters.sqlite.backend import open_sqlite
from plastic_memories.errors import Unavailable
from plastic_memories.hub.vectors.embedding import EmbeddingService
from plastic_memories.ports.embedder import EmbedderChoice
from plastic_memories.ports.storage import StorageBackend
from plastic_memories.settings import load_settings

PATIENCE_S = 20.0


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncGenerator[StorageBackend]:
    settings = load_settings({"PLASTIC_MEMORIES_DATA_DIR": str(tmp_path)})
    async with open_sqlite(settings) as opened:
        yield opened


async def test_reading_waits_until_the_model_is_loaded(storage: StorageBackend) -> None:
    may_load, model = threading.Event(), Model()

    def load() -> Model:
        may_load.wait()
        return model

    choice = EmbedderChoice("fake", "a test", load)
    embedding = EmbeddingService(storage, choice, PrometheusMeter(), PACE)
    running = asyncio.create_task(embedding.run_forever())
    asked = asyncio.create_task(embedding.passage_vectors(["tea"], "fake/1", PATIENCE_S))
    await asyncio.sleep(0)
    was_answered = asked.done()
    may_load.set()
    found = await asked
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await embedding.close()

    assert not was_answered
    assert found is not None
    assert np.array_equal(found, hashed(["tea"], model.dimension))


async def test_another_model_gives_no_vectors(storage: StorageBackend) -> None:
    async with embedding_with(storage, Model()) as embedding:
        found = await embedding.passage_vectors(["tea"], "fake/2", PATIENCE_S)

    assert found is None


async def test_a_model_known_by_name_is_not_waited_for(storage: StorageBackend) -> None:
    choice = EmbedderChoice("fake", "a test", Model, model="fake/1")
    embedding = EmbeddingService(storage, choice, PrometheusMeter(), PACE)

    found = await embedding.passage_vectors(["tea"], "fake/2", PATIENCE_S)

    assert found is None


async def test_without_an_embedder_there_are_none(storage: StorageBackend) -> None:
    embedding = EmbeddingService(storage, EmbedderChoice("none", "a test"), PrometheusMeter(), PACE)

    assert await embedding.passage_vectors(["tea"], "fake/1", PATIENCE_S) is None


async def test_a_model_that_fails_leaves_the_reading_without_vectors(
    storage: StorageBackend,
) -> None:
    def load() -> Model:
        raise Unavailable("broken")

    choice = EmbedderChoice("fake", "a test", load)
    embedding = EmbeddingService(storage, choice, PrometheusMeter(), PACE)
    running = asyncio.create_task(embedding.run_forever())
    found = await embedding.passage_vectors(["tea"], "fake/1", PATIENCE_S)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await embedding.close()

    assert found is None
