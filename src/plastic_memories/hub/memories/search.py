"""Look for memories across a user's personas: lists and searches that a filter narrows."""

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

# Asked for if the filter has left too little, before all is looked through.
_OVERFETCH_FACTOR = 8
_SEARCH_TIMEOUT_S = 5.0  # a list without holes is worth more than one in time
# Constraints and the user's name come along with every search; this is said to be their score.
CORE_SCORE = 0.1
_MAX_MERGED = 100
# The best match is among the first, whichever part of its score made it so.
_SCALE_SAMPLE = 10


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """One memory as it stands, when its first version was made, and how well it fits."""

    memory: Memory
    first_created_at: float
    score: float | None = None


@dataclass(frozen=True, slots=True)
class SearchPage:
    """Some of what was found, newest first, and how many there are in all."""

    items: Sequence[FoundMemory]
    count: int


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """A filter. What every row it holds for has in common is asked of the storage."""

    matches: Callable[[MemoryOutline], bool]
    session_id: str | None = None
    source_app: str | None = None

    def filter_rows(self, stores: Stores, owner: Owner, held: MemoryFilter) -> list[MemoryOutline]:
        """Return which of some rows of an owner the filter holds for, newest first."""
        narrowed = replace(held, session_id=self.session_id, source_app=self.source_app)
        return [row for row in stores.memories.outlines(owner, narrowed) if self.matches(row)]


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
        """Return a page (or all) of what these viewpoints see and the filter lets through."""
        now = self.storage.clock.now()

        def work(stores: Stores) -> SearchPage:
            rows = [
                row
                for view in views
                for row in _visible_outlines(stores, view, wanted, None if with_expired else now)
            ]
            passed = sorted(rows, key=lambda row: -row.id)
            end = None if size is None else start + size
            return SearchPage(_load_memories(stores, passed[start:end]), len(passed))

        return await self.storage.read_after_expiry(work)

    async def list_ids(self, view: Viewpoint, wanted: SearchFilter) -> list[int]:
        """Return the ids of all rows the filter lets through, in any status and realm."""

        def work(stores: Stores) -> list[int]:
            held = MemoryFilter(bot_id=view.bot_id, only_app=view.only_app or None)
            return [row.id for row in wanted.filter_rows(stores, view.owner, held)]

        return await self.storage.read(work)

    async def search_best(
        self, query: RecallQuery, views: Sequence[Viewpoint], wanted: SearchFilter
    ) -> list[FoundMemory]:
        """Return what bears on the query and passes the filter, best first, at most its limit.

        Scores lie between 0 and 1 and can be compared across personas.
        """
        by_view = await asyncio.gather(
            *(self._search_view(replace(query, viewpoint=view), wanted) for view in views)
        )
        found = sorted((one for some in by_view for one in some), key=_sort_key)
        chosen = found[: query.limit]
        # Now, whatever time the question is asked for.
        self.recall_counts.add([one.memory for one in chosen], self.storage.clock.now())
        return chosen

    async def get_memory(self, view: Viewpoint, memory_id: int) -> FoundMemory:
        """Return a memory as it stands now, named by any of its versions."""

        def work(stores: Stores) -> FoundMemory:
            memory = current_version(stores, view, memory_id)
            [row] = stores.memories.outlines(view.owner, MemoryFilter(ids={memory.id}))
            return FoundMemory(memory, row.made_at)

        return await self.storage.read_after_expiry(work)

    async def versions(self, view: Viewpoint, memory_id: int) -> list[Memory]:
        """Return what a memory has said, oldest first; what waits for a yes is not among it."""

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
        """Return how much is held of one user, or (None) of every user of the tenant."""
        now = self.storage.clock.now()
        return await self.storage.read(
            lambda stores: stores.personas.holdings(tenant_id, user_id, now, only_app)
        )

    async def _search_view(self, query: RecallQuery, wanted: SearchFilter) -> list[FoundMemory]:
        """Ask; if the filter leaves too little, ask for more, then among what it lets through."""
        hits: Sequence[Hit] = ()
        for limit in (query.limit, query.limit * _OVERFETCH_FACTOR):
            hits = (await self.engine.find(replace(query, limit=limit))).hits
            kept = await self.storage.read(
                partial(_hits_to_results, query=query, hits=hits, wanted=wanted)
            )
            if len(kept) >= query.limit or len(hits) < limit:
                return kept[: query.limit]
        passing = await self.storage.read(
            partial(_matching_ids, view=query.viewpoint, wanted=wanted)
        )
        if not passing:
            return []
        deadline_s = query.deadline_s * _SEARCH_TIMEOUT_S
        some = await self.engine.find(
            replace(query, only_memory_ids=passing, deadline_s=deadline_s)
        )
        narrowed = partial(_hits_to_results, query=query, hits=some.hits, wanted=wanted, best=hits)
        return (await self.storage.read(narrowed))[: query.limit]


def _matching_ids(stores: Stores, view: Viewpoint, wanted: SearchFilter) -> frozenset[int]:
    held = MemoryFilter(
        statuses={Status.ACTIVE},
        realm=view.realm,
        bot_id=view.bot_id,
        only_app=view.only_app or None,
    )
    return frozenset(row.id for row in wanted.filter_rows(stores, view.owner, held))


def _hits_to_results(
    stores: Stores,
    query: RecallQuery,
    hits: Sequence[Hit],
    wanted: SearchFilter,
    best: Sequence[Hit] | None = None,
) -> list[FoundMemory]:
    """Return what of the hits belongs to the persona and passes the filter, with its score.

    Scores are measured by the best of all hits, whatever the filter lets through.
    """
    view = query.viewpoint
    lines = reader_lines(stores, view)
    scale = _score_scale(query.text, lines.visible_hits(hits if best is None else best))
    scores = {hit.memory.id: _scaled_score(hit.score, scale) for hit in lines.visible_hits(hits)}
    rows = {hit.memory.id: hit.memory for hit in hits if hit.memory.id in scores}
    for memory in lines.visible_memories(stores.memories.core(view, query.now)):
        if section_of(memory) <= BlockSection.IDENTITY and memory.status is Status.ACTIVE:
            rows.setdefault(memory.id, memory)
    own = {
        row.id: row for row in rows.values() if row.owner == view.owner and is_visible(view, row)
    }
    passing = wanted.filter_rows(stores, view.owner, MemoryFilter(ids=set(own)))
    made = {row.id: row.made_at for row in passing}
    return [
        FoundMemory(row, made[row.id], scores.get(row.id, CORE_SCORE))
        for row in own.values()
        if row.id in made
    ]


def current_version(stores: Stores, view: Viewpoint, memory_id: int) -> Memory:
    """Return the version that holds now; raise `NotFound` if none does.

    A memory that was merged into another lives on in that one.
    """
    following: int | None = memory_id
    for _ in range(_MAX_MERGED):
        named = None if following is None else stores.memories.get(view.owner, following)
        if named is None or not is_visible(view, named):
            break
        chain = stores.memories.find(view.owner, MemoryFilter(root_ids={named.root_id}))
        active = [row for row in chain if row.status is Status.ACTIVE and is_visible(view, row)]
        if active:
            return active[0]
        own = {row.id for row in chain}
        others = (row.superseded_by for row in chain if row.superseded_by not in own)
        following = next((other for other in others if other is not None), None)
    raise NotFound("Memory not found")


def _visible_outlines(
    stores: Stores, view: Viewpoint, wanted: SearchFilter, now: float | None
) -> Sequence[MemoryOutline]:
    """Return what a viewpoint sees and wants, newest first; without a time, expired or not."""
    held = MemoryFilter(
        statuses={Status.ACTIVE, Status.EXPIRED} if now is None else {Status.ACTIVE},
        realm=view.realm,
        bot_id=view.bot_id,
        for_app=view.source_app,
        only_app=view.only_app or None,
        for_session=view.session_id,
        not_expired_at=now,
        is_superseded=False,
    )
    rows = wanted.filter_rows(stores, view.owner, held)
    lines = reader_lines(stores, view)
    if not lines.limits_by_session:
        return rows
    seen = {row.id for row in lines.visible_memories(stores.memories.find(view.owner, held))}
    return [row for row in rows if row.id in seen]


def _load_memories(stores: Stores, rows: Sequence[MemoryOutline]) -> list[FoundMemory]:
    """Read the whole of some memories, in their order."""
    memories: dict[int, Memory] = {}
    for owner in {row.owner for row in rows}:
        ids = {row.id for row in rows if row.owner == owner}
        found = stores.memories.find(owner, MemoryFilter(ids=ids))
        memories.update((memory.id, memory) for memory in found)
    return [FoundMemory(memories[row.id], row.made_at) for row in rows]


def _scaled_score(score: float, scale: float) -> float:
    return 1.0 - math.exp(-max(score, 0.0) * scale)


def _score_scale(text: str, hits: Sequence[Hit]) -> float:
    """Return what brings the scores of one persona between 0 and 1, in their order.

    An engine's scores compare memories of one answer: the best match has the same whether it
    holds all the words of the question or one of them. The share of words that it does hold
    makes them comparable with those of another persona.
    """
    asked = frozenset(query_terms(text))
    held = max((_term_share(asked, hit.memory) for hit in hits[:_SCALE_SAMPLE]), default=0.0)
    return (1.0 + held) / 2.0


def _term_share(asked: frozenset[str], memory: Memory) -> float:
    if not asked:
        return 0.0
    return len(asked.intersection(index_terms(searchable_text(memory)))) / len(asked)


def _sort_key(found: FoundMemory) -> tuple[float, int]:
    return -(found.score or 0.0), -found.memory.id
