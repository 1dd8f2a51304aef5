"""Look for memories across a user's personas: lists and searches that a filter narrows."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from plastic_memories.errors import NotFound
from plastic_memories.hub.transactions.audited_storage import Ledger
from plastic_memories.hub.transactions.reader_lines import lines_for
from plastic_memories.hub.transactions.version_chain import sees
from plastic_memories.language.text.tokens import index_terms, query_terms
from plastic_memories.model.memory import Memory, Status
from plastic_memories.model.outline import Outline
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.model.persona import Holding
from plastic_memories.model.recall import Hit, RecallQuery
from plastic_memories.ports.recall_engine import RecallEngine
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.rules.conversation.branch_lines import said_at
from plastic_memories.rules.prompt.blocks import Section, section_of
from plastic_memories.rules.ranking.searchable_text import memory_text
from plastic_memories.runtime.recall_counts import Touches

# Asked for if the filter has left too little, before all is looked through.
_MORE = 8
_PATIENCE = 5.0  # a list without holes is worth more than one in time
# Constraints and the user's name come along with every search; this is said to be their score.
ALWAYS = 0.1
_MERGES = 100
# The best match is among the first, whichever part of its score made it so.
_LOOKED_AT = 10


@dataclass(frozen=True, slots=True)
class Found:
    """One memory as it stands, when its first version was made, and how well it fits."""

    memory: Memory
    made_at: float
    score: float | None = None


@dataclass(frozen=True, slots=True)
class FoundPage:
    """Some of what was found, newest first, and how many there are in all."""

    found: Sequence[Found]
    count: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """A filter. What every row it holds for has in common is asked of the storage."""

    holds: Callable[[Outline], bool]
    session_id: str | None = None
    source_app: str | None = None

    def among(self, stores: Stores, owner: Owner, held: MemoryFilter) -> list[Outline]:
        """Return which of some rows of an owner the filter holds for, newest first."""
        narrowed = replace(held, session_id=self.session_id, source_app=self.source_app)
        return [row for row in stores.memories.outlines(owner, narrowed) if self.holds(row)]


@dataclass(frozen=True, slots=True)
class SearchMemories:
    ledger: Ledger
    engine: RecallEngine
    touches: Touches

    async def page(
        self,
        views: Sequence[Viewpoint],
        wanted: Wanted,
        *,
        start: int = 0,
        size: int | None = None,
        with_expired: bool = False,
    ) -> FoundPage:
        """Return a page (or all) of what these viewpoints see and the filter lets through."""
        now = self.ledger.clock.now()

        def work(stores: Stores) -> FoundPage:
            rows = [
                row
                for view in views
                for row in _seen(stores, view, wanted, None if with_expired else now)
            ]
            passed = sorted(rows, key=lambda row: -row.id)
            end = None if size is None else start + size
            return FoundPage(_read(stores, passed[start:end]), len(passed))

        return await self.ledger.read_swept(work)

    async def everything(self, view: Viewpoint, wanted: Wanted) -> list[int]:
        """Return the ids of all rows the filter lets through, in any status and realm."""

        def work(stores: Stores) -> list[int]:
            held = MemoryFilter(bot_id=view.bot_id, only_app=view.only_app or None)
            return [row.id for row in wanted.among(stores, view.owner, held)]

        return await self.ledger.read(work)

    async def best(
        self, query: RecallQuery, views: Sequence[Viewpoint], wanted: Wanted
    ) -> list[Found]:
        """Return what bears on the query and passes the filter, best first, at most its limit.

        Scores lie between 0 and 1 and can be compared across personas.
        """
        by_view = await asyncio.gather(
            *(self._of_view(replace(query, viewpoint=view), wanted) for view in views)
        )
        found = sorted((one for some in by_view for one in some), key=_best_first)
        chosen = found[: query.limit]
        # Now, whatever time the question is asked for.
        self.touches.add([one.memory for one in chosen], self.ledger.clock.now())
        return chosen

    async def one(self, view: Viewpoint, memory_id: int) -> Found:
        """Return a memory as it stands now, named by any of its versions."""

        def work(stores: Stores) -> Found:
            memory = current_in(stores, view, memory_id)
            [row] = stores.memories.outlines(view.owner, MemoryFilter(ids={memory.id}))
            return Found(memory, row.made_at)

        return await self.ledger.read_swept(work)

    async def versions(self, view: Viewpoint, memory_id: int) -> list[Memory]:
        """Return what a memory has said, oldest first; what waits for a yes is not among it."""

        def work(stores: Stores) -> list[Memory]:
            named = stores.memories.get(view.owner, memory_id)
            if named is None or not sees(view, named):
                raise NotFound("Memory not found")
            chain = stores.memories.find(view.owner, MemoryFilter(root_ids={named.root_id}))
            past = [row for row in chain if row.status is not Status.CANDIDATE and sees(view, row)]
            return sorted(past, key=lambda row: (said_at(row), row.id))

        return await self.ledger.read_swept(work)

    async def holdings(
        self, tenant_id: str, user_id: str | None, only_app: str = ""
    ) -> list[Holding]:
        """Return how much is held of one user, or (None) of every user of the tenant."""
        now = self.ledger.clock.now()
        return await self.ledger.read(
            lambda stores: stores.personas.holdings(tenant_id, user_id, now, only_app)
        )

    async def _of_view(self, query: RecallQuery, wanted: Wanted) -> list[Found]:
        """Ask; if the filter leaves too little, ask for more, then among what it lets through."""
        hits: Sequence[Hit] = ()
        for limit in (query.limit, query.limit * _MORE):
            hits = (await self.engine.find(replace(query, limit=limit))).hits
            kept = await self.ledger.read(partial(_kept, query=query, hits=hits, wanted=wanted))
            if len(kept) >= query.limit or len(hits) < limit:
                return kept[: query.limit]
        passing = await self.ledger.read(partial(_passing, view=query.viewpoint, wanted=wanted))
        if not passing:
            return []
        deadline_s = query.deadline_s * _PATIENCE
        some = await self.engine.find(replace(query, among=passing, deadline_s=deadline_s))
        narrowed = partial(_kept, query=query, hits=some.hits, wanted=wanted, best=hits)
        return (await self.ledger.read(narrowed))[: query.limit]


def _passing(stores: Stores, view: Viewpoint, wanted: Wanted) -> frozenset[int]:
    held = MemoryFilter(
        statuses={Status.ACTIVE},
        realm=view.realm,
        bot_id=view.bot_id,
        only_app=view.only_app or None,
    )
    return frozenset(row.id for row in wanted.among(stores, view.owner, held))


def _kept(
    stores: Stores,
    query: RecallQuery,
    hits: Sequence[Hit],
    wanted: Wanted,
    best: Sequence[Hit] | None = None,
) -> list[Found]:
    """Return what of the hits belongs to the persona and passes the filter, with its score.

    Scores are measured by the best of all hits, whatever the filter lets through.
    """
    view = query.viewpoint
    lines = lines_for(stores, view)
    scale = _scale(query.text, lines.hits(hits if best is None else best))
    scores = {hit.memory.id: _comparable(hit.score, scale) for hit in lines.hits(hits)}
    rows = {hit.memory.id: hit.memory for hit in hits if hit.memory.id in scores}
    for memory in lines.memories(stores.memories.core(view, query.now)):
        if section_of(memory) <= Section.IDENTITY and memory.status is Status.ACTIVE:
            rows.setdefault(memory.id, memory)
    own = {row.id: row for row in rows.values() if row.owner == view.owner and sees(view, row)}
    passing = wanted.among(stores, view.owner, MemoryFilter(ids=set(own)))
    made = {row.id: row.made_at for row in passing}
    return [
        Found(row, made[row.id], scores.get(row.id, ALWAYS))
        for row in own.values()
        if row.id in made
    ]


def current_in(stores: Stores, view: Viewpoint, memory_id: int) -> Memory:
    """Return the version that holds now; raise `NotFound` if none does.

    A memory that was merged into another lives on in that one.
    """
    following: int | None = memory_id
    for _ in range(_MERGES):
        named = None if following is None else stores.memories.get(view.owner, following)
        if named is None or not sees(view, named):
            break
        chain = stores.memories.find(view.owner, MemoryFilter(root_ids={named.root_id}))
        active = [row for row in chain if row.status is Status.ACTIVE and sees(view, row)]
        if active:
            return active[0]
        own = {row.id for row in chain}
        others = (row.superseded_by for row in chain if row.superseded_by not in own)
        following = next((other for other in others if other is not None), None)
    raise NotFound("Memory not found")


def _seen(stores: Stores, view: Viewpoint, wanted: Wanted, now: float | None) -> Sequence[Outline]:
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
    rows = wanted.among(stores, view.owner, held)
    lines = lines_for(stores, view)
    if not lines.of_session:
        return rows
    seen = {row.id for row in lines.memories(stores.memories.find(view.owner, held))}
    return [row for row in rows if row.id in seen]


def _read(stores: Stores, rows: Sequence[Outline]) -> list[Found]:
    """Read the whole of some memories, in their order."""
    memories: dict[int, Memory] = {}
    for owner in {row.owner for row in rows}:
        ids = {row.id for row in rows if row.owner == owner}
        found = stores.memories.find(owner, MemoryFilter(ids=ids))
        memories.update((memory.id, memory) for memory in found)
    return [Found(memories[row.id], row.made_at) for row in rows]


def _comparable(score: float, scale: float) -> float:
    return 1.0 - math.exp(-max(score, 0.0) * scale)


def _scale(text: str, hits: Sequence[Hit]) -> float:
    """Return what brings the scores of one persona between 0 and 1, in their order.

    An engine's scores compare memories of one answer: the best match has the same whether it
    holds all the words of the question or one of them. The share of words that it does hold
    makes them comparable with those of another persona.
    """
    asked = frozenset(query_terms(text))
    held = max((_share(asked, hit.memory) for hit in hits[:_LOOKED_AT]), default=0.0)
    return (1.0 + held) / 2.0


def _share(asked: frozenset[str], memory: Memory) -> float:
    if not asked:
        return 0.0
    return len(asked.intersection(index_terms(memory_text(memory)))) / len(asked)


def _best_first(found: Found) -> tuple[float, int]:
    return -(found.score or 0.0), -found.memory.id
