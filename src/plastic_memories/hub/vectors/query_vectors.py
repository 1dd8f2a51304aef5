"""Vectors of questions: remembered, shared, and never waited for beyond a deadline."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from plastic_memories.errors import InvalidInput, PlasticMemoriesError
from plastic_memories.hub.vectors.embedder_probe import check_shape
from plastic_memories.language.text.tokens import plain_length, start_of
from plastic_memories.ports.embedder import Embedder, QueryVector, Vectors
from plastic_memories.rules.ranking.vector_codec import is_usable
from plastic_memories.runtime.model_thread import Lane

_REMEMBERED = 2048
# What a question is compared by; of more, one vector says little, and somebody else waits for it.
_MOST_CHARS = 2000
# Questions that wait at the same time are embedded together, as long as that takes no longer than
# one long question; beyond the last number the longest of them are not embedded.
_TOGETHER = 32
_TOGETHER_CHARS = 2000
_MOST_WAITING = 256
_PATIENCE_S = 5.0
BUSY = QueryVector(None, "too many questions wait for the embedder")


@dataclass(frozen=True, slots=True)
class _Waiting:
    size: int
    answer: asyncio.Future[QueryVector]


@dataclass(slots=True)
class QueryVectors:
    """Asks one embedder, in a thread of its own."""

    embedder: Embedder
    lane: Lane
    failed: Callable[[str], None]
    patience_s: float = _PATIENCE_S
    ordinary: Vectors | None = None  # comes with every answer
    _known: OrderedDict[str, QueryVector] = field(default_factory=OrderedDict)
    _waiting: dict[str, _Waiting] = field(default_factory=dict)
    _asked: Sequence[str] = ()  # those of them that the embedder has now
    _asking: asyncio.Task[None] | None = None

    async def get(self, text: str, deadline_s: float) -> QueryVector:
        """Return the vector of a question; the text itself is the key, so nothing goes stale."""
        text = start_of(text, _MOST_CHARS)
        if text in self._known:
            self._known.move_to_end(text)
            return self._known[text]
        if text not in self._waiting:
            size = plain_length(text)
            if len(self._waiting) >= _MOST_WAITING and not self._made_room(size):
                return BUSY
            self._waiting[text] = _Waiting(size, asyncio.get_running_loop().create_future())
        answer = self._waiting[text].answer
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask(), name="embed-queries")
        done, _ = await asyncio.wait((answer,), timeout=deadline_s)
        return answer.result() if done else QueryVector(None, "the embedder was too slow")

    async def close(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)
        await self.lane.close()

    async def _ask(self) -> None:
        while self._waiting:
            texts = self._asked = self._next()
            for text, answer in zip(texts, await self._embedded(texts), strict=True):
                self._waiting.pop(text).answer.set_result(answer)
                if answer.vector is not None:
                    self._remember(text, answer)

    def _next(self) -> list[str]:
        """Choose what is embedded next, short ones first: they wait for nobody's long ones."""
        chosen: list[str] = []
        chars = 0
        sizes = sorted((one.size, text) for text, one in self._waiting.items())
        for size, text in sizes[:_TOGETHER]:
            chars += size
            if chosen and chars > _TOGETHER_CHARS:
                break
            chosen.append(text)
        return chosen

    def _made_room(self, size: int) -> bool:
        """Send away the longest that waits, if it is longer than this: its turn comes last.

        Its caller has gone long ago, as a rule; but it would keep its place for as long as
        shorter ones arrive.
        """
        waiting = self._waiting.keys() - self._asked
        longest = max(waiting, key=lambda text: self._waiting[text].size)
        if self._waiting[longest].size <= size:
            return False
        self._waiting.pop(longest).answer.set_result(BUSY)
        return True

    async def _embedded(self, texts: Sequence[str]) -> list[QueryVector]:
        try:
            rows, usable = await self.lane.run(lambda: self._rows(texts), self.patience_s)
        except InvalidInput as error:
            if len(texts) == 1:
                return [QueryVector(None, error.message)]
            return [answer for text in texts for answer in await self._embedded([text])]
        except PlasticMemoriesError as error:
            return self._none(texts, error.message)
        # A plug-in's model may raise anything; a recall goes on without it.
        except Exception as error:  # noqa: BLE001
            return self._none(texts, f"The embedder raised {type(error).__name__}.")
        # Each a copy: one row that is remembered must not keep its whole company.
        return [
            QueryVector(row.copy(), ordinary=self.ordinary)
            if good
            else QueryVector(None, "the question has no vector")
            for row, good in zip(rows, usable, strict=True)
        ]

    def _rows(self, texts: Sequence[str]) -> tuple[Vectors, NDArray[np.bool_]]:
        rows = self.embedder.embed(texts, purpose="query")
        check_shape(rows, (len(texts), self.embedder.dimension))
        return rows, is_usable(rows)

    def _none(self, texts: Sequence[str], reason: str) -> list[QueryVector]:
        self.failed(reason)
        return [QueryVector(None, reason)] * len(texts)

    def _remember(self, text: str, answer: QueryVector) -> None:
        self._known[text] = answer
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
