"""Hybrid recall engine: ranks by words, meaning, names, time and neighbours; no model call."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol
from zoneinfo import ZoneInfo

import numpy as np

from plastic_memories.adapters.recall.index_cache import IndexCache
from plastic_memories.adapters.recall.keyword import KeywordEngine
from plastic_memories.adapters.recall.ordering import Ranking, rank_positions
from plastic_memories.adapters.recall.owner_index import OwnerIndex, TalkIndex
from plastic_memories.adapters.recall.scoring import ScoringQuery, matched_searches, score_entries
from plastic_memories.adapters.recall.talk import find_utterances, utterances_by_words
from plastic_memories.adapters.recall.visibility import VisibleEntries
from plastic_memories.errors import Unavailable
from plastic_memories.language.dates.past_references import mentioned_time_spans
from plastic_memories.language.questions.intent import detect_intent
from plastic_memories.language.questions.question import ParsedQuestion, parse_question
from plastic_memories.model.memory import Memory
from plastic_memories.model.owner import Viewpoint
from plastic_memories.model.recall import Findings, Hit, NearMiss, RecallQuery, Utterance
from plastic_memories.ports.embedder import QueryEmbedder, QueryVector
from plastic_memories.ports.recall_engine import RecallEngine
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.rules.ranking.hybrid_weights import LEARNED_WEIGHTS, HybridWeights

logger = logging.getLogger(__name__)
# Shares of the whole deadline: later steps must still have time.
_RECENT_DEADLINE_SHARE = 0.15
_VECTOR_DEADLINE_SHARE = 0.3
_INDEX_DEADLINE_SHARE = 0.5
_LOCK_DEADLINE_SHARE = 0.2
_MAX_NEAR_MISSES = 10
# More changed messages than this are read in the background.
_MAX_READ_AT_ONCE = 3000
_LOAD_LOCK_S = 60.0


class HybridEngineContext(Protocol):
    """The dependencies of this engine."""

    @property
    def storage(self) -> StorageBackend: ...
    @property
    def query_embedder(self) -> QueryEmbedder: ...
    @property
    def recall_cache_bytes(self) -> int: ...


class HybridEngine:
    def __init__(
        self,
        storage: StorageBackend,
        embedder: QueryEmbedder,
        cache: IndexCache,
        weights: HybridWeights = LEARNED_WEIGHTS,
    ) -> None:
        self._storage = storage
        self._embedder = embedder
        self._cache = cache
        self._weights = weights
        self._by_words = KeywordEngine(storage)
        self._loads: dict[TalkIndex, asyncio.Task[None]] = {}

    async def find(self, query: RecallQuery) -> Findings:
        if not query.text.strip():
            return Findings((), detect_intent(query.text))
        started = time.monotonic()
        search = await self._prepare_search(query)
        try:
            async with asyncio.timeout(query.deadline_s * _INDEX_DEADLINE_SHARE):
                return await self._storage.read(lambda stores: search(stores, query.viewpoint))
        except TimeoutError:
            missed = (*search.degraded, "index")
        except Exception:
            logger.exception("memory.recall", extra={"fields": {"part": "index"}})
            missed = (*search.degraded, "index")
        left_s = max(0.0, started + query.deadline_s - time.monotonic())
        found = await self._by_words.find(replace(query, deadline_s=left_s))
        return replace(found, degraded=(*missed, *found.degraded))

    def load_talk(self, index: TalkIndex) -> None:
        """Read a large index of messages in the background."""
        if index in self._loads:
            return
        task = asyncio.create_task(self._load_talk(index), name="load-talk")
        self._loads[index] = task
        task.add_done_callback(lambda _: self._loads.pop(index, None))

    async def _load_talk(self, index: TalkIndex) -> None:
        def work(stores: Stores) -> None:
            with index.lock(_LOAD_LOCK_S):
                index.refresh(stores)
            self._cache.update_size(index)

        try:
            await self._storage.read(work)
        except Exception:
            logger.exception("memory.recall", extra={"fields": {"part": "talk"}})

    def is_backed_by(self, storage: StorageBackend) -> bool:
        return storage is self._storage

    async def prepare(self, query: RecallQuery) -> Callable[[Stores, Viewpoint], Findings]:
        if not query.text.strip():
            return lambda _stores, _view: Findings((), detect_intent(query.text))
        return await self._prepare_search(query)

    async def _prepare_search(self, query: RecallQuery) -> _PreparedSearch:
        question = parse_question(query.text, [line for _, line in query.recent], query.rephrasings)
        await self._embedder.embed_recent(
            query.viewpoint.owner, query.deadline_s * _RECENT_DEADLINE_SHARE
        )
        vectors = await self._query_vectors(question, query)
        failed = any(each.vector is None and each.reason for each in vectors)
        degraded = ("vectors",) if failed else ()
        loop = asyncio.get_running_loop()
        return _PreparedSearch(
            self._cache,
            self._weights,
            query,
            question,
            vectors,
            degraded,
            lambda index: loop.call_soon_threadsafe(self.load_talk, index),
        )

    async def _query_vectors(
        self, question: ParsedQuestion, query: RecallQuery
    ) -> list[QueryVector]:
        """Return a vector for each text that is compared by meaning, or why there is none."""
        tenant = query.viewpoint.owner.tenant_id
        deadline_s = query.deadline_s * _VECTOR_DEADLINE_SHARE
        requests = [
            self._embedder.query_vector(text, deadline_s, tenant_id=tenant)
            for text in question.texts
        ]
        return [await requests[0]] if len(requests) == 1 else await asyncio.gather(*requests)


@dataclass(frozen=True, slots=True)
class _PreparedSearch:
    """One question with its vectors, ready to run in a snapshot."""

    cache: IndexCache
    weights: HybridWeights
    query: RecallQuery
    question: ParsedQuestion
    vectors: Sequence[QueryVector]
    degraded: tuple[str, ...]
    load_talk: Callable[[TalkIndex], object]

    def __call__(self, stores: Stores, view: Viewpoint) -> Findings:
        query = self.query
        if query.viewpoint is not view:
            query = replace(query, viewpoint=view)
        found = self._find_memories(stores, query)
        return self._with_talk(stores, query, found) if query.quote_limit else found

    def _find_memories(self, stores: Stores, query: RecallQuery) -> Findings:
        if query.types == frozenset():
            return Findings((), detect_intent(query.text), self.degraded)
        index = self.cache.get(query.viewpoint.owner)
        # A thread that reads a large partition for the first time must not block every reader.
        with index.lock(query.deadline_s * _LOCK_DEADLINE_SHARE):
            index.refresh(stores)
            scoring_query = _scoring_query(stores, query, self.question, self.vectors)
            found = self._rank_findings(stores, index, query, scoring_query)
        self.cache.update_size(index)
        return found

    def _with_talk(self, stores: Stores, query: RecallQuery, found: Findings) -> Findings:
        """Return the findings with what was said; by words alone until a large index is read."""
        index = self.cache.get_talk(query.viewpoint.owner)
        try:
            return replace(found, utterances=self._find_utterances(stores, query, index))
        except Unavailable as error:
            fields = {"part": "talk", "why": error.message}
            logger.info("memory.recall", extra={"fields": fields})
        except Exception:
            logger.exception("memory.recall", extra={"fields": {"part": "talk"}})
        said = utterances_by_words(stores, query)
        return replace(found, utterances=said, degraded=(*found.degraded, "talk"))

    def _find_utterances(
        self, stores: Stores, query: RecallQuery, index: TalkIndex
    ) -> list[Utterance]:
        if index.count_pending(stores, _MAX_READ_AT_ONCE) >= _MAX_READ_AT_ONCE:
            self.load_talk(index)
            raise Unavailable("The messages of this persona are being read.")
        with index.lock(query.deadline_s * _LOCK_DEADLINE_SHARE):
            index.refresh(stores)
            scoring_query = _scoring_query(stores, query, self.question, self.vectors)
            said = find_utterances(stores, index, query, scoring_query, self.weights)
        self.cache.update_size(index)
        return said

    def _rank_findings(
        self, stores: Stores, index: OwnerIndex, query: RecallQuery, scoring_query: ScoringQuery
    ) -> Findings:
        sight = index.visible_entries(query.viewpoint, query.now)
        if query.viewpoint.only_session:
            inside = stores.memory_search.ids_in_session(query.viewpoint)
            sight = VisibleEntries.from_mask(sight.mask & np.isin(index["memory_id"], inside))
        if not sight.number:
            return Findings((), detect_intent(query.text), self.degraded)
        scores = score_entries(index, sight, scoring_query, self.weights)
        if query.types is not None:
            inside = stores.memory_search.ids_of_types(query.viewpoint.owner, query.types)
            np.copyto(scores.total, -np.inf, where=~np.isin(index["memory_id"], inside))
        if query.only_memory_ids is not None:
            others = ~np.isin(index["memory_id"], list(query.only_memory_ids))
            np.copyto(scores.total, -np.inf, where=others)
        ranked = rank_positions(index, scores, self.weights, query.limit + _MAX_NEAR_MISSES)
        chosen = ranked.order[: query.limit]
        missed = ranked.order[query.limit :][:_MAX_NEAR_MISSES] if query.explain else []
        ids = index["memory_id"][[*chosen, *missed]].tolist()
        rows = {
            row.id: row for row in stores.memory_search.visible(query.viewpoint, ids, query.now)
        }
        # Only on request: computing the parts takes as long as finding the rows.
        parts = scores.parts_at(chosen) if query.explain else [{}] * len(chosen)
        hits = [
            _hit_of(rows[memory_id], float(scores.total[position]), hit_parts)
            for memory_id, position, hit_parts in zip(ids, chosen, parts, strict=False)
            if memory_id in rows
        ]
        misses = _near_misses(index, ranked, missed, rows) if missed else ()
        return Findings(hits, detect_intent(query.text), self.degraded, misses)


def _scoring_query(
    stores: Stores,
    query: RecallQuery,
    question: ParsedQuestion,
    vectors: Sequence[QueryVector],
) -> ScoringQuery:
    zone = ZoneInfo(stores.personas.settings(query.viewpoint.owner.user).time_zone)
    return ScoringQuery(
        text=query.text,
        question=question,
        now=query.now,
        vectors=[each.vector for each in vectors],
        last_line=vectors[-1].vector if question.is_dialogue else None,
        background_vectors=next(
            (each.background for each in vectors if each.vector is not None), None
        ),
        spans=mentioned_time_spans(question.last_line, query.now, zone),
    )


def _hit_of(memory: Memory, total: float, parts: Mapping[str, float]) -> Hit:
    return Hit(memory, total, parts, matched_searches(parts) if parts else ())


def _near_misses(
    index: OwnerIndex, ranked: Ranking, missed: Sequence[int], rows: Mapping[int, Memory]
) -> list[NearMiss]:
    """Return the best entries below the limit, with the reason why each was left out."""
    misses = []
    for position, parts in zip(missed, ranked.scores.parts_at(missed), strict=True):
        memory_id = int(index["memory_id"][position])
        duplicate_of = ranked.near_duplicates.get(position)
        if memory_id in rows:
            misses.append(
                NearMiss(
                    memory=rows[memory_id],
                    score=float(ranked.scores.total[position]),
                    parts=parts,
                    found_by=matched_searches(parts),
                    reason="below the limit" if duplicate_of is None else "says nearly the same",
                    repeats=None if duplicate_of is None else int(index["memory_id"][duplicate_of]),
                )
            )
    return misses


def hybrid_engine(context: HybridEngineContext) -> RecallEngine:
    cache = IndexCache(context.recall_cache_bytes)
    return HybridEngine(context.storage, context.query_embedder, cache)
