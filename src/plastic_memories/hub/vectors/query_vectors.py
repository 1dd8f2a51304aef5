"""Cache of query vectors: one embedding per distinct text, and no wait beyond a deadline."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from plastic_memories.errors import InvalidInput, PlasticMemoriesError
from plastic_memories.hub.vectors.embedder_probe import check_shape
from plastic_memories.language.text.tokens import normalised_length, truncate_normalised
from plastic_memories.ports.embedder import Embedder, QueryVector, Vectors
from plastic_memories.rules.ranking.vector_codec import usable_rows
from plastic_memories.runtime.model_thread import ModelThread

_CACHE_SIZE = 2048
# A query is cut to this length: one vector says little about more, and other queries wait.
_MAX_CHARS = 2000
# Queries that wait at the same time share a batch, as long as the batch takes no longer than
# one long query. When the queue is full, its longest query is evicted.
_BATCH_SIZE = 32
_BATCH_CHARS = 2000
_MAX_QUEUED = 256
_MODEL_TIMEOUT_S = 5.0
BUSY = QueryVector(None, "too many questions wait for the embedder")


@dataclass(frozen=True, slots=True)
class _QueuedQuestion:
    size: int
    answer: asyncio.Future[QueryVector]


@dataclass(slots=True)
class QueryVectorCache:
    """Embeds queries on a thread of its own and caches their vectors."""

    embedder: Embedder
    model_thread: ModelThread
    on_failure: Callable[[str], None]
    patience_s: float = _MODEL_TIMEOUT_S
    background: Vectors | None = None  # attached to every answer
    _cache: OrderedDict[str, QueryVector] = field(default_factory=OrderedDict)
    _queue: dict[str, _QueuedQuestion] = field(default_factory=dict)
    _in_flight: Sequence[str] = ()  # the queued texts that are being embedded
    _task: asyncio.Task[None] | None = None

    async def get(self, text: str, deadline_s: float) -> QueryVector:
        """Return the vector of a query; the text itself is the key, so no entry goes stale."""
        text = truncate_normalised(text, _MAX_CHARS)
        if text in self._cache:
            self._cache.move_to_end(text)
            return self._cache[text]
        if text not in self._queue:
            size = normalised_length(text)
            if len(self._queue) >= _MAX_QUEUED and not self._evict_longest(size):
                return BUSY
            self._queue[text] = _QueuedQuestion(size, asyncio.get_running_loop().create_future())
        answer = self._queue[text].answer
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._drain_queue(), name="embed-queries")
        done, _ = await asyncio.wait((answer,), timeout=deadline_s)
        return answer.result() if done else QueryVector(None, "the embedder was too slow")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self.model_thread.close()

    async def _drain_queue(self) -> None:
        while self._queue:
            texts = self._in_flight = self._next_batch()
            for text, answer in zip(texts, await self._embed_questions(texts), strict=True):
                self._queue.pop(text).answer.set_result(answer)
                if answer.vector is not None:
                    self._cache_vector(text, answer)

    def _next_batch(self) -> list[str]:
        """Return the next batch, shortest first: short queries never wait for long ones."""
        chosen: list[str] = []
        chars = 0
        sizes = sorted((queued.size, text) for text, queued in self._queue.items())
        for size, text in sizes[:_BATCH_SIZE]:
            chars += size
            if chosen and chars > _BATCH_CHARS:
                break
            chosen.append(text)
        return chosen

    def _evict_longest(self, size: int) -> bool:
        """Evict the longest waiting query if it is longer than `size`; return whether it was.

        Its caller has usually timed out long ago, yet it would hold its place for as long as
        shorter queries arrive.
        """
        waiting = self._queue.keys() - self._in_flight
        longest = max(waiting, key=lambda text: self._queue[text].size)
        if self._queue[longest].size <= size:
            return False
        self._queue.pop(longest).answer.set_result(BUSY)
        return True

    async def _embed_questions(self, texts: Sequence[str]) -> list[QueryVector]:
        try:
            rows, usable = await self.model_thread.run(
                lambda: self._embed_texts(texts), self.patience_s
            )
        except InvalidInput as error:
            if len(texts) == 1:
                return [QueryVector(None, error.message)]
            return [answer for text in texts for answer in await self._embed_questions([text])]
        except PlasticMemoriesError as error:
            return self._unavailable_vectors(texts, error.message)
        # A plug-in's model may raise anything; recall continues without a vector.
        except Exception as error:  # noqa: BLE001
            return self._unavailable_vectors(texts, f"The embedder raised {type(error).__name__}.")
        # Each row is copied: one cached row must not keep its whole batch in memory.
        return [
            QueryVector(row.copy(), background=self.background)
            if good
            else QueryVector(None, "the question has no vector")
            for row, good in zip(rows, usable, strict=True)
        ]

    def _embed_texts(self, texts: Sequence[str]) -> tuple[Vectors, NDArray[np.bool_]]:
        rows = self.embedder.embed(texts, purpose="query")
        check_shape(rows, (len(texts), self.embedder.dimension))
        return rows, usable_rows(rows)

    def _unavailable_vectors(self, texts: Sequence[str], reason: str) -> list[QueryVector]:
        self.on_failure(reason)
        return [QueryVector(None, reason)] * len(texts)

    def _cache_vector(self, text: str, answer: QueryVector) -> None:
        self._cache[text] = answer
        while len(self._cache) > _CACHE_SIZE:
            self._cache.popitem(last=False)
