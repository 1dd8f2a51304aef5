"""The embedder of a hub for tests: a model that does what it is told, and what to wait for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from embedding_parts import hashed
from plastic_memories.adapters.prometheus.meter import PrometheusMeter
from plastic_memories.hub.vectors.embedding import EmbeddingService, EmbeddingTimings
from plastic_memories.language.text.background_sentences import BACKGROUND_SENTENCES
from plastic_memories.model.entry import partitions_for
from plastic_memories.model.owner import Owner
from plastic_memories.ports.embedder import EmbedderChoice, Purpose, QueryVector, Vectors
from plastic_memories.ports.storage import StorageBackend
from plastic_memories.testing.samples import MINE

# Quick to try again; patient where a slow machine needs it.
PACE = EmbeddingTimings(settle_s=0, poll_s=0.02, first_retry_s=0.01, last_retry_s=0.02)
# What an embedder is tried with before it is trusted.
# What a model is tried with.
PROBES = ((".",), BACKGROUND_SENTENCES)


class Model:
    """An embedder that does what a test tells it to."""

    def __init__(self, name: str = "fake/1", dimension: int = 64) -> None:
        self.model = name
        self.dimension = dimension
        self.seen: list[list[str]] = []
        self.before: Callable[[Sequence[str]], None] = lambda _: None
        self.after: Callable[[Sequence[str], Vectors], Vectors] = lambda _, rows: rows

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        self.before(texts)
        if tuple(texts) not in PROBES:
            self.seen.append(list(texts))
        return self.after(texts, hashed(texts, self.dimension))


@asynccontextmanager
async def embedding_with(
    storage: StorageBackend, model: Model, pace: EmbeddingTimings = PACE
) -> AsyncGenerator[EmbeddingService]:
    choice = EmbedderChoice("fake", "a test", lambda: model)
    opened = EmbeddingService(storage, choice, PrometheusMeter(), pace)
    task = asyncio.create_task(opened.run_forever())
    try:
        yield opened
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await opened.close()


async def until(so: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(20):
        while not await so():  # noqa: ASYNC110 - what it waits for is in the database
            await asyncio.sleep(0.005)


async def ask(embedding: EmbeddingService, text: str, deadline_s: float) -> QueryVector:
    return await embedding.query_vector(text, deadline_s, tenant_id="default")


async def filled(embedding: EmbeddingService) -> None:
    async def so() -> bool:
        return embedding.status == "ready" and await embedding.backlog() == 0

    await until(so)


async def reached(embedding: EmbeddingService, status: str) -> None:
    async def so() -> bool:
        return embedding.status == status

    await until(so)


async def vectors(storage: StorageBackend, owner: Owner = MINE) -> dict[int, bytes | None]:
    own, _ = partitions_for(owner)
    news = await storage.read(lambda stores: stores.entries.changes_since(own))
    return {entry.memory_id: entry.vector for entry in news.entries}
