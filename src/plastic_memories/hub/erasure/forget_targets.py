"""Which memories a request to forget means."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from plastic_memories.hub.transactions.version_chain import visible_memory
from plastic_memories.language.text.tokens import query_terms
from plastic_memories.model.memory import Memory, MemoryType
from plastic_memories.model.owner import Viewpoint
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.rules.lifecycle.retelling import query_share
from plastic_memories.rules.lifecycle.transitions import comparable_value

_DRY_RUN_LIMIT = 50
# A memory that a query means has so many of its words; failing that, the best one is shown.
_MIN_QUERY_SHARE = 0.75
_MIN_BEST_SHARE = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetRequest:
    """Which memories to forget: by type and key, by id, or (dry run only) by a query."""

    type: MemoryType | None = None
    key: str | None = None
    memory_ids: Collection[int] = ()
    query: str | None = None
    dry_run: bool = False
    never_again: bool = False
    include_messages: bool = False
    receipt: bool = True  # checking every place again takes longer than forgetting


@dataclass(frozen=True, slots=True)
class QueryMatches:
    """What a query means, and what else has some of its words."""

    meant: Sequence[Memory]
    others: Sequence[Memory]


def find_targets(stores: Stores, view: Viewpoint, request: ForgetRequest) -> list[Memory]:
    """Return the memories that a request names; raise `NotFound` for an unknown id."""
    if request.memory_ids:
        return [
            visible_memory(stores, view, memory_id) for memory_id in sorted(set(request.memory_ids))
        ]
    assert request.type is not None, "checked at the door"
    wanted = MemoryFilter(
        types={request.type},
        key=request.key,
        bot_id=None if view.all_bots else view.bot_id,
        only_app=view.only_app or None,
    )
    return stores.memories.find(view.owner, wanted)


def match_query(stores: Stores, view: Viewpoint, query: str, now: float) -> QueryMatches:
    """Return the memories a query means; a summary is never one of them, for it tells more."""
    found = stores.memory_search.search(view, query_terms(query), _DRY_RUN_LIMIT, now).memories
    # Another persona's own global row is visible here, but is forgotten in its own persona.
    homes = (view.owner, view.owner.for_all_personas)
    shares = {row.id: query_share(query, row) for row in found if row.owner in homes}
    best = max((shares.get(row.id, 0.0) for row in found if _is_statement(row)), default=0.0)
    least = _MIN_QUERY_SHARE if best >= _MIN_QUERY_SHARE else max(best, _MIN_BEST_SHARE)
    meant = [row for row in found if _is_statement(row) and shares.get(row.id, 0.0) >= least]
    ids = {row.id for row in meant}
    return QueryMatches(meant, [row for row in found if row.id not in ids])


def with_versions(stores: Stores, view: Viewpoint, chosen: Sequence[Memory]) -> list[Memory]:
    """Return the chosen rows with all their versions, and all rows with the same value."""
    if not chosen:
        return []
    roots = MemoryFilter(root_ids={memory.root_id for memory in chosen})
    versions = {memory.id: memory for memory in stores.memories.find(view.owner, roots)}
    for memory in chosen:
        same_key = MemoryFilter(types={memory.type}, key=memory.key, bot_id=memory.bot_id)
        for other in stores.memories.find(view.owner, same_key):
            if comparable_value(other) == comparable_value(memory):
                versions[other.id] = other
    return [versions[memory_id] for memory_id in sorted(versions)]


def _is_statement(memory: Memory) -> bool:
    return memory.type is not MemoryType.SUMMARY
