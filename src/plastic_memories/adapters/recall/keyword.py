"""Keyword recall engine: text search ranked by bm25, recency and importance."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Protocol

from plastic_memories.adapters.recall.talk import utterances_by_words
from plastic_memories.language.questions.intent import detect_intent
from plastic_memories.language.text.tokens import query_terms
from plastic_memories.model.recall import Findings, RecallQuery, TextMatches, Utterance
from plastic_memories.ports.recall_engine import RecallEngine
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.rules.ranking.recency_ranking import rank_by_recency

logger = logging.getLogger(__name__)
# More than requested, so that recency and importance can choose among relevant rows.
_OVERFETCH_FACTOR = 3
# If only some memories or types are allowed, this many candidates are searched for them.
_MAX_CANDIDATES = 20_000


class KeywordEngineContext(Protocol):
    """The dependencies of the engine."""

    @property
    def storage(self) -> StorageBackend: ...


class KeywordEngine:
    def __init__(self, storage: StorageBackend) -> None:
        self._storage = storage

    async def find(self, query: RecallQuery) -> Findings:
        intent = detect_intent(query.text)
        terms = query_terms("\n".join((query.text, *query.rephrasings)))
        if not terms:
            return Findings((), intent)
        try:
            async with asyncio.timeout(query.deadline_s):
                matches, said = await self._search(query, terms)
        except TimeoutError:
            return Findings((), intent, ("text",))
        except Exception:
            logger.exception("memory.recall", extra={"fields": {"part": "text"}})
            return Findings((), intent, ("text",))
        ranked = rank_by_recency(matches, query.now)
        if query.only_memory_ids is not None:
            ranked = [hit for hit in ranked if hit.memory.id in query.only_memory_ids]
        if query.types is not None:
            ranked = [hit for hit in ranked if hit.memory.type in query.types]
        degraded = ("text_index",) if matches.degraded else ()
        return Findings(ranked[: query.limit], intent, degraded, utterances=said)

    async def _search(
        self, query: RecallQuery, terms: list[str]
    ) -> tuple[TextMatches, Sequence[Utterance]]:
        is_narrow = query.only_memory_ids is not None or query.types is not None
        limit = _MAX_CANDIDATES if is_narrow else query.limit * _OVERFETCH_FACTOR

        def work(stores: Stores) -> tuple[TextMatches, Sequence[Utterance]]:
            found = stores.memory_search.search(query.viewpoint, terms, limit, query.now)
            return found, utterances_by_words(stores, query) if query.quote_limit else ()

        return await self._storage.read(work)


def keyword_engine(context: KeywordEngineContext) -> RecallEngine:
    return KeywordEngine(context.storage)
