"""Recall by words, meaning, names, time and neighbours, ranked together. No model call."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from plastic_memories.adapters.recall.index_cache import IndexCache
from plastic_memories.adapters.recall.keyword import KeywordEngine
from plastic_memories.adapters.recall.owner_index import OwnerIndex
from plastic_memories.adapters.recall.scoring import Asked, Scores, score
from plastic_memories.model.memory import Memory
from plastic_memories.model.recall import Findings, Hit, NearMiss, RecallQuery
from plastic_memories.ports.embedder import QueryEmbedder
from plastic_memories.ports.recall_engine import RecallEngine
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.rules.fusion import repeats_last
from plastic_memories.rules.intent import intent_of
from plastic_memories.rules.named_times import named_times
from plastic_memories.rules.question import Question, understand
from plastic_memories.rules.weights import LEARNED, HybridWeights

logger = logging.getLogger(__name__)
# Shares of the whole deadline: what comes after must still have time.
_FOR_VECTORS = 0.4
_FOR_INDEX = 0.6
_NEAR_MISSES = 10


class RecallContext(Protocol):
    """What this engine is built from."""

    @property
    def storage(self) -> StorageBackend: ...
    @property
    def query_embedder(self) -> QueryEmbedder: ...
    @property
    def recall_cache_bytes(self) -> int: ...


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Positions in the order they are returned, best first, and what they repeat."""

    order: Sequence[int]
    repeated: dict[int, int]
    scores: Scores


class HybridEngine:
    def __init__(
        self,
        storage: StorageBackend,
        embedder: QueryEmbedder,
        cache: IndexCache,
        weights: HybridWeights = LEARNED,
    ) -> None:
        self._storage = storage
        self._embedder = embedder
        self._cache = cache
        self._weights = weights
        self._by_words = KeywordEngine(storage)

    async def find(self, query: RecallQuery) -> Findings:
        if not query.text.strip():
            return Findings((), intent_of(query.text))
        started = time.monotonic()
        question = understand(query.text, [content for _, content in query.recent])
        vectors, degraded = await self._vectors(question, query)
        try:
            async with asyncio.timeout(query.deadline_s * _FOR_INDEX):
                found = await self._ranked(query, question, vectors)
        except TimeoutError:
            degraded = (*degraded, "index")
        except Exception:
            logger.exception("memory.recall", extra={"fields": {"part": "index"}})
            degraded = (*degraded, "index")
        else:
            return replace(found, degraded=degraded)
        left = max(0.0, started + query.deadline_s - time.monotonic())
        found = await self._by_words.find(replace(query, deadline_s=left))
        return replace(found, degraded=(*degraded, *found.degraded))

    async def _vectors(
        self, question: Question, query: RecallQuery
    ) -> tuple[list[NDArray[np.float32] | None], tuple[str, ...]]:
        """Return a vector for each text that is compared by meaning; name the part if it failed."""
        tenant = query.viewpoint.owner.tenant_id
        deadline_s = query.deadline_s * _FOR_VECTORS
        found = await asyncio.gather(
            *(
                self._embedder.query_vector(text, deadline_s, tenant_id=tenant)
                for text in _compared(question)
            )
        )
        failed = any(each.vector is None and each.reason for each in found)
        return [each.vector for each in found], ("vectors",) if failed else ()

    async def _ranked(
        self,
        query: RecallQuery,
        question: Question,
        vectors: Sequence[NDArray[np.float32] | None],
    ) -> Findings:
        index = self._cache.get(query.viewpoint.owner)

        def work(stores: Stores) -> Findings:
            with index.lock:
                index.refresh(stores)
                asked = _asked(stores, query, question, vectors)
                return self._findings(stores, index, query, asked)

        found = await self._storage.read(work)
        self._cache.measure(index)
        return found

    def _findings(
        self, stores: Stores, index: OwnerIndex, query: RecallQuery, asked: Asked
    ) -> Findings:
        seen = index.seen_from(query.viewpoint, query.now)
        if not seen.any():
            return Findings((), intent_of(query.text))
        ranked = self._order(index, score(index, seen, asked, self._weights), query.limit)
        chosen = list(ranked.order[: query.limit])
        ids = index["memory_id"][chosen].tolist()
        rows = {row.id: row for row in stores.memories.seen(query.viewpoint, ids, query.now)}
        hits = [
            _hit(rows[memory_id], ranked, position)
            for memory_id, position in zip(ids, chosen, strict=True)
            if memory_id in rows
        ]
        misses = _near_misses(index, ranked, query.limit) if query.explain else ()
        return Findings(hits, intent_of(query.text), near_misses=misses)

    def _order(self, index: OwnerIndex, scores: Scores, limit: int) -> _Ranked:
        wanted = max(limit + _NEAR_MISSES, self._weights.looked_at)
        best = _largest(scores.total, wanted)
        found = [position for position in best if scores.found_by(position)]
        looked_at = found[: self._weights.looked_at]
        order, repeated = repeats_last(looked_at, lambda one, other: self._same(index, one, other))
        firsts = order[: len(order) - len(repeated)]
        # What was moved back scores no more than what now stands before it.
        ceiling = min((scores.total[position] for position in firsts), default=0.0)
        for position in repeated:
            scores.lower(position, float(ceiling))
        return _Ranked([*order, *found[len(looked_at) :]], repeated, scores)

    def _same(self, index: OwnerIndex, one: int, other: int) -> bool:
        """Say whether two entries tell the same, by words or by meaning."""
        ours, theirs = index.terms_of(one), index.terms_of(other)
        common = len(np.intersect1d(ours, theirs, assume_unique=True))
        if common >= self._weights.same_words * (len(ours) + len(theirs) - common):
            return True
        return index.vectors.alike(one, other) >= self._weights.same_meaning


def _compared(question: Question) -> list[str]:
    texts = [probe.text for probe in question.probes]
    if question.is_dialogue:
        texts.append(texts[0].strip().splitlines()[-1])
    return texts


def _asked(
    stores: Stores,
    query: RecallQuery,
    question: Question,
    vectors: Sequence[NDArray[np.float32] | None],
) -> Asked:
    zone = ZoneInfo(stores.personas.settings(query.viewpoint.owner.user).time_zone)
    return Asked(
        text=query.text,
        question=question,
        now=query.now,
        vectors=vectors,
        last_line=vectors[-1] if question.is_dialogue else None,
        spans=_spans(question.probes[-1].text.strip().splitlines()[-1], query.now, zone),
    )


def _spans(text: str, now: float, zone: ZoneInfo) -> list[tuple[float, float]]:
    """Return the times a question names, as epoch seconds: from, up to."""
    here = datetime.fromtimestamp(now, UTC).astimezone(zone)
    return [
        (
            datetime.combine(span.start, datetime.min.time(), zone).timestamp(),
            (datetime.combine(span.end, datetime.min.time(), zone) + timedelta(days=1)).timestamp(),
        )
        for span in named_times(text, here)
    ]


def _largest(scores: NDArray[np.float64], number: int) -> list[int]:
    """Return the positions of the best, best first; the later of two equals first."""
    if number < len(scores):
        some = np.argpartition(-scores, number)[:number]
    else:
        some = np.arange(len(scores))
    order = some[np.lexsort((-some, -scores[some]))]
    return [int(position) for position in order if np.isfinite(scores[position])]


def _hit(memory: Memory, ranked: _Ranked, position: int) -> Hit:
    scores = ranked.scores
    parts = scores.parts_at(position)
    return Hit(memory, float(scores.total[position]), parts, scores.found_by(position))


def _near_misses(index: OwnerIndex, ranked: _Ranked, limit: int) -> list[NearMiss]:
    """Say of the next ones why they were left out."""
    return [
        NearMiss(
            memory_id=int(index["memory_id"][position]),
            score=float(ranked.scores.total[position]),
            parts=ranked.scores.parts_at(position),
            found_by=ranked.scores.found_by(position),
            why=_why(index, ranked, position),
        )
        for position in ranked.order[limit : limit + _NEAR_MISSES]
    ]


def _why(index: OwnerIndex, ranked: _Ranked, position: int) -> str:
    if position in ranked.repeated:
        return f"says the same as memory {index['memory_id'][ranked.repeated[position]]}"
    return "below the limit"


def hybrid_engine(context: RecallContext) -> RecallEngine:
    cache = IndexCache(context.recall_cache_bytes)
    return HybridEngine(context.storage, context.query_embedder, cache)
