"""List and search memories across a user's personas, narrowed by a filter."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from plastic_memories.errors import NotFound
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.reader_lines import reader_lines
from plastic_memories.hub.transactions.version_chain import is_visible
from plastic_memories.language.text.tokens import index_terms, query_terms
from plastic_memories.model.memory import Memory, MemoryOutline, Status
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.model.persona import PersonaMemoryCount
from plastic_memories.model.recall import Hit, RecallQuery
from plastic_memories.ports.recall_engine import RecallEngine
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.rules.conversation.branch_lines import statement_time
from plastic_memories.rules.prompt.blocks import BlockSection, section_of
from plastic_memories.rules.ranking.searchable_text import searchable_text
from plastic_memories.runtime.recall_counts import RecallCountBuffer

# How much more to fetch if the filter leaves too few, before searching only matching rows.
_OVERFETCH_FACTOR = 8
_FILTERED_DEADLINE_FACTOR = 5.0  # a complete list matters more than a fast one
# Constraints and the user's name are part of every result; they get this score.
CORE_SCORE = 0.1
_MAX_MERGED = 100
# The best match is among the first hits, whatever part of its score put it there.
_SCALE_SAMPLE = 10


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory's current version, the creation time of its first version, and its score."""

    memory: Memory
    first_created_at: float
    score: float | None = None


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One page of results, newest first, and the total number of matches."""

    items: Sequence[FoundMemory]
    count: int


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """A predicate on memories; the fields below are conditions the storage can check itself."""

    matches: Callable[[MemoryOutline], bool]
    session_id: str | None = None
    source_app: str | None = None

    def filter_rows(self, stores: Stores, owner: Owner, base: MemoryFilter) -> list[MemoryOutline]:
        """Return those of an owner's rows that match both filters, newest first."""
        narrowed = replace(base, session_id=self.session_id, source_app=self.source_app)
        return [row for row in stores.memory_search.outlines(owner, narrowed) if self.matches(row)]


@dataclass(frozen=True, slots=True)
class SearchMemories:
    storage: AuditedStorage
    engine: RecallEngine
    recall_counts: RecallCountBuffer

    async def list_page(
        self,
        views: Sequence[Viewpoint],
        wanted: SearchFilter,
        *,
        start: int = 0,
        size: int | None = None,
        with_expired: bool = False,
    ) -> SearchPage:
        """Return a page (or all) of the rows these viewpoints see and the filter matches."""
        now = self.storage.clock.now()

        def work(stores: Stores) -> SearchPage:
            rows = [
                row
                for view in views
                for row in _visible_outlines(stores, view, wanted, None if with_expired else now)
            ]
            # Every persona lists a user fact.
            once = {row.id: row for row in rows}.values()
            matching = sorted(once, key=lambda row: -row.id)
            end = None if size is None else start + size
            return SearchPage(_load_memories(stores, matching[start:end]), len(matching))

        return await self.storage.read_after_expiry(work)

    async def list_ids(self, view: Viewpoint, wanted: SearchFilter) -> list[int]:
        """Return the ids of the persona's rows that the filter matches, in any status and realm.

        A user fact belongs to the persona that was told it.
        """

        def work(stores: Stores) -> list[int]:
            base = MemoryFilter(bot_id=view.bot_id, only_app=view.only_app or None)
            rows = wanted.filter_rows(stores, view.owner, base)
            return [row.id for row in rows if row.told_to in ("", view.owner.persona_id)]

        return await self.storage.read(work)

    async def search_best(
        self, query: RecallQuery, views: Sequence[Viewpoint], wanted: SearchFilter
    ) -> list[FoundMemory]:
        """Return the best matches of the query that pass the filter, best first, up to its limit.

        Scores lie between 0 and 1 and can be compared across personas.
        """
        by_view = await asyncio.gather(
            *(self._search_view(replace(query, viewpoint=view), wanted) for view in views)
        )
        found = sorted((item for results in by_view for item in results), key=_sort_key)
        # Every persona finds a user fact; the best score counts.
        chosen = list({item.memory.id: item for item in reversed(found)}.values())[::-1]
        chosen = sorted(chosen, key=_sort_key)[: query.limit]
        # Counted at the current time, whatever time the query asks about.
        self.recall_counts.add([item.memory for item in chosen], self.storage.clock.now())
        return chosen

    async def get_memory(self, view: Viewpoint, memory_id: int) -> FoundMemory:
        """Return the current version of a memory, given the id of any version."""

        def work(stores: Stores) -> FoundMemory:
            memory = current_version(stores, view, memory_id)
            [row] = stores.memory_search.outlines(view.owner, MemoryFilter(ids={memory.id}))
            return FoundMemory(memory, row.made_at)

        return await self.storage.read_after_expiry(work)

    async def versions(self, view: Viewpoint, memory_id: int) -> list[Memory]:
        """Return the versions of a memory, oldest first, without candidates."""

        def work(stores: Stores) -> list[Memory]:
            named = stores.memories.get(view.owner, memory_id)
            if named is None or not is_visible(view, named):
                raise NotFound("Memory not found")
            chain = stores.memories.find(view.owner, MemoryFilter(root_ids={named.root_id}))
            past = [
                row for row in chain if row.status is not Status.CANDIDATE and is_visible(view, row)
            ]
            return sorted(past, key=lambda row: (statement_time(row), row.id))

        return await self.storage.read_after_expiry(work)

    async def holdings(
        self, tenant_id: str, user_id: str | None, only_app: str = ""
    ) -> list[PersonaMemoryCount]:
        """Return the memory counts of one user, or (None) of every user of the tenant."""
        now = self.storage.clock.now()
        return await self.storage.read(
            lambda stores: stores.personas.holdings(tenant_id, user_id, now, only_app)
        )

    async def _search_view(self, query: RecallQuery, wanted: SearchFilter) -> list[FoundMemory]:
        """Search; if the filter leaves too few, overfetch, then search only matching rows."""
        hits: Sequence[Hit] = ()
        for limit in (query.limit, query.limit * _OVERFETCH_FACTOR):
            hits = (await self.engine.find(replace(query, limit=limit))).hits
            results = await self.storage.read(
                partial(_hits_to_results, query=query, hits=hits, wanted=wanted)
            )
            if len(results) >= query.limit or len(hits) < limit:
                return results[: query.limit]
        passing = await self.storage.read(
            partial(_matching_ids, view=query.viewpoint, wanted=wanted)
        )
        if not passing:
            return []
        deadline_s = query.deadline_s * _FILTERED_DEADLINE_FACTOR
        matching = await self.engine.find(
            replace(query, only_memory_ids=passing, deadline_s=deadline_s)
        )
        narrowed = partial(
            _hits_to_results, query=query, hits=matching.hits, wanted=wanted, best=hits
        )
        return (await self.storage.read(narrowed))[: query.limit]


def _matching_ids(stores: Stores, view: Viewpoint, wanted: SearchFilter) -> frozenset[int]:
    base = MemoryFilter(
        statuses={Status.ACTIVE},
        realm=view.realm,
        bot_id=view.bot_id,
        only_app=view.only_app or None,
    )
    return frozenset(row.id for row in wanted.filter_rows(stores, view.owner, base))


def _hits_to_results(
    stores: Stores,
    query: RecallQuery,
    hits: Sequence[Hit],
    wanted: SearchFilter,
    best: Sequence[Hit] | None = None,
) -> list[FoundMemory]:
    """Return the hits that belong to the persona and pass the filter, with their scores.

    Scores are scaled by the best of all hits, including those the filter drops.
    """
    view = query.viewpoint
    lines = reader_lines(stores, view)
    scale = _score_scale(query.text, lines.visible_hits(hits if best is None else best))
    scores = {hit.memory.id: _scaled_score(hit.score, scale) for hit in lines.visible_hits(hits)}
    rows = {hit.memory.id: hit.memory for hit in hits if hit.memory.id in scores}
    for memory in lines.visible_memories(stores.memory_search.core(view, query.now)):
        if section_of(memory) <= BlockSection.IDENTITY and memory.status is Status.ACTIVE:
            rows.setdefault(memory.id, memory)
    homes = (view.owner, view.owner.for_all_personas)
    own = {row.id: row for row in rows.values() if row.owner in homes and is_visible(view, row)}
    passing = wanted.filter_rows(stores, view.owner, MemoryFilter(ids=set(own)))
    created_at = {row.id: row.made_at for row in passing}
    return [
        FoundMemory(row, created_at[row.id], scores.get(row.id, CORE_SCORE))
        for row in own.values()
        if row.id in created_at
    ]


def current_version(stores: Stores, view: Viewpoint, memory_id: int) -> Memory:
    """Return the active version; raise `NotFound` if there is none.

    A memory that was merged into another resolves to that one.
    """
    next_id: int | None = memory_id
    for _ in range(_MAX_MERGED):
        named = None if next_id is None else stores.memories.get(view.owner, next_id)
        if named is None or not is_visible(view, named):
            break
        chain = stores.memories.find(view.owner, MemoryFilter(root_ids={named.root_id}))
        active = [row for row in chain if row.status is Status.ACTIVE and is_visible(view, row)]
        if active:
            return active[0]
        own = {row.id for row in chain}
        others = (row.superseded_by for row in chain if row.superseded_by not in own)
        next_id = next((other for other in others if other is not None), None)
    raise NotFound("Memory not found")


def _visible_outlines(
    stores: Stores, view: Viewpoint, wanted: SearchFilter, now: float | None
) -> Sequence[MemoryOutline]:
    """Return matching rows a viewpoint sees, newest first; `now=None` includes expired ones."""
    base = MemoryFilter(
        statuses={Status.ACTIVE, Status.EXPIRED} if now is None else {Status.ACTIVE},
        realm=view.realm,
        bot_id=view.bot_id,
        for_app=view.source_app,
        only_app=view.only_app or None,
        for_session=view.session_id,
        not_expired_at=now,
        is_superseded=False,
    )
    rows = wanted.filter_rows(stores, view.owner, base)
    lines = reader_lines(stores, view)
    if not lines.limits_by_session:
        return rows
    seen = {row.id for row in lines.visible_memories(stores.memories.find(view.owner, base))}
    return [row for row in rows if row.id in seen]


def _load_memories(stores: Stores, rows: Sequence[MemoryOutline]) -> list[FoundMemory]:
    """Load full memories, in the order of their outlines."""
    memories: dict[int, Memory] = {}
    for owner in {row.owner for row in rows}:
        ids = {row.id for row in rows if row.owner == owner}
        found = stores.memories.find(owner, MemoryFilter(ids=ids))
        memories.update((memory.id, memory) for memory in found)
    return [FoundMemory(memories[row.id], row.made_at) for row in rows]


def _scaled_score(score: float, scale: float) -> float:
    return 1.0 - math.exp(-max(score, 0.0) * scale)


def _score_scale(text: str, hits: Sequence[Hit]) -> float:
    """Return the factor that maps the scores of one persona to 0..1, in the same order.

    An engine's scores rank the memories of one answer: the best match scores the same whether
    it contains all terms of the query or one. The share of terms it contains makes scores
    comparable across personas.
    """
    terms = frozenset(query_terms(text))
    share = max((_term_share(terms, hit.memory) for hit in hits[:_SCALE_SAMPLE]), default=0.0)
    return (1.0 + share) / 2.0


def _term_share(terms: frozenset[str], memory: Memory) -> float:
    if not terms:
        return 0.0
    return len(terms.intersection(index_terms(searchable_text(memory)))) / len(terms)


def _sort_key(found: FoundMemory) -> tuple[float, int]:
    return -(found.score or 0.0), -found.memory.id
