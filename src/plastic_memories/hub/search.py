"""Look for memories across a user's personas: lists and searches that a filter narrows."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from plastic_memories.errors import NotFound
from plastic_memories.hub.chain import sees
from plastic_memories.hub.ledger import Ledger
from plastic_memories.hub.lines import lines_for
from plastic_memories.hub.touches import Touches
from plastic_memories.model.entry import Place
from plastic_memories.model.memory import Memory, Status
from plastic_memories.model.owner import Viewpoint
from plastic_memories.model.persona import Holding
from plastic_memories.model.recall import Hit, RecallQuery
from plastic_memories.ports.memory_store import MemoryFilter
from plastic_memories.ports.recall_engine import RecallEngine
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.blocks import Section, section_of
from plastic_memories.rules.lines import said_at
from plastic_memories.rules.searchable import memory_text
from plastic_memories.rules.text import index_terms, query_terms

# What is asked for again if the filter has left too little of it, and where that ends.
_MORE = 8
_MOST = 20_000
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


Wanted = Callable[[Found], bool]


@dataclass(frozen=True, slots=True)
class SearchMemories:
    ledger: Ledger
    engine: RecallEngine
    touches: Touches

    async def all(
        self, views: Sequence[Viewpoint], wanted: Wanted, *, with_expired: bool = False
    ) -> list[Found]:
        """Return what these viewpoints see and the filter lets through, newest first."""
        now = self.ledger.clock.now()

        def work(stores: Stores) -> list[Found]:
            rows = [row for view in views for row in _rows(stores, view, now, with_expired)]
            found = _dated(stores, sorted(rows, key=lambda row: -row.id))
            return [one for one in found if wanted(one)]

        return await self.ledger.read_swept(work)

    async def everything(self, view: Viewpoint, wanted: Wanted) -> list[Memory]:
        """Return every row the filter lets through, whatever its status and realm, newest first."""

        def work(stores: Stores) -> list[Memory]:
            held = MemoryFilter(bot_id=view.bot_id, for_app=view.only_app or None)
            found = _dated(stores, stores.memories.find(view.owner, held))
            return [one.memory for one in found if wanted(one)]

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
        return await self.ledger.read_swept(
            lambda stores: _dated(stores, [current_in(stores, view, memory_id)])[0]
        )

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

    async def holdings(self, tenant_id: str, user_id: str | None) -> list[Holding]:
        """Return how much is held of one user, or (None) of every user of the tenant."""
        now = self.ledger.clock.now()
        return await self.ledger.read(
            lambda stores: stores.personas.holdings(tenant_id, user_id, now)
        )

    async def _of_view(self, query: RecallQuery, wanted: Wanted) -> list[Found]:
        """Ask for more until the filter has left enough, or there is no more."""
        limit, asked = query.limit, query
        while True:
            hits = (await self.engine.find(asked)).hits
            kept = await self.ledger.read(partial(_kept, query=query, hits=hits, wanted=wanted))
            if len(kept) >= query.limit or len(hits) < limit or limit >= _MOST:
                return kept[: query.limit]
            limit = min(limit * _MORE, _MOST)
            asked = replace(query, limit=limit, deadline_s=query.deadline_s * _PATIENCE)


def _kept(stores: Stores, query: RecallQuery, hits: Sequence[Hit], wanted: Wanted) -> list[Found]:
    """Return what of the hits belongs to the persona and passes the filter, with its score."""
    view = query.viewpoint
    lines = lines_for(stores, view)
    scores = _comparable(query.text, lines.hits(hits))
    rows = {hit.memory.id: hit.memory for hit in hits if hit.memory.id in scores}
    for memory in lines.memories(stores.memories.core(view, query.now)):
        if section_of(memory) <= Section.IDENTITY and memory.status is Status.ACTIVE:
            rows.setdefault(memory.id, memory)
    own = [row for row in rows.values() if row.owner == view.owner and sees(view, row)]
    found = _dated(stores, own)
    scored = [replace(one, score=scores.get(one.memory.id, ALWAYS)) for one in found]
    return [one for one in scored if wanted(one)]


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


def _rows(stores: Stores, view: Viewpoint, now: float, with_expired: bool) -> list[Memory]:
    statuses = {Status.ACTIVE, Status.EXPIRED} if with_expired else {Status.ACTIVE}
    wanted = MemoryFilter(
        statuses=statuses,
        realm=view.realm,
        bot_id=view.bot_id,
        for_app=view.only_app or None,
        not_expired_at=None if with_expired else now,
    )
    rows = lines_for(stores, view).memories(stores.memories.find(view.owner, wanted))
    return [row for row in rows if _is_in_reach(row, view) and row.superseded_by is None]


def _is_in_reach(row: Memory, view: Viewpoint) -> bool:
    place = Place(row.bot_id, row.branch_id, row.realm, row.scope, row.scope_ref)
    return place.seen_from(view)


def _dated(stores: Stores, rows: Sequence[Memory]) -> list[Found]:
    """Say of each when its first version was made."""
    owners = {row.owner for row in rows if row.root_id != row.id}
    made: dict[int, float] = {}
    for owner in owners:
        roots = {row.root_id for row in rows if row.owner == owner and row.root_id != row.id}
        firsts = stores.memories.find(owner, MemoryFilter(ids=roots))
        made.update((row.id, row.created_at) for row in firsts)
    return [Found(row, _first_time(row, made)) for row in rows]


def _first_time(row: Memory, made: Mapping[int, float]) -> float:
    return min(row.created_at, made.get(row.root_id, row.created_at))


def _comparable(text: str, hits: Sequence[Hit]) -> dict[int, float]:
    """Return the scores of one persona between 0 and 1, in their order.

    An engine's scores compare memories of one answer: the best match has the same whether it
    holds all the words of the question or one of them. The share of words that it does hold
    makes them comparable with those of another persona.
    """
    asked = frozenset(query_terms(text))
    held = max((_share(asked, hit.memory) for hit in hits[:_LOOKED_AT]), default=0.0)
    scale = (1.0 + held) / 2.0
    return {hit.memory.id: 1.0 - math.exp(-max(hit.score, 0.0) * scale) for hit in hits}


def _share(asked: frozenset[str], memory: Memory) -> float:
    if not asked:
        return 0.0
    return len(asked.intersection(index_terms(memory_text(memory)))) / len(asked)


def _best_first(found: Found) -> tuple[float, int]:
    return -(found.score or 0.0), -found.memory.id
