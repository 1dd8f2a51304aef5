"""Browse memories: list pages, single rows, version history, audit log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.version_chain import (
    is_visible,
    replaceable_by,
    visible_memory,
)
from plastic_memories.model.event import Event
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Memory, MemoryType, Scope, Status
from plastic_memories.model.owner import Realm, Viewpoint
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter, MemoryOrder, MemoryPosition


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFilter:
    """Which rows to list; `status=None` means every status."""

    status: Status | None = Status.ACTIVE
    type: MemoryType | None = None
    scope: Scope | None = None
    realm: Realm | None = None
    containing: str | None = None
    key_prefix: str | None = None
    event_type: str | None = None
    min_importance: float | None = None
    since: float | None = None  # created then or later
    until: float | None = None  # created before
    source_app: str | None = None
    order: MemoryOrder = MemoryOrder.NEWEST
    after: MemoryPosition | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True)
class MemoryListPage:
    memories: Sequence[Memory]
    next_position: MemoryPosition | None  # the last row, if more follow
    replaces: Mapping[int, Sequence[Memory]]  # candidate id → rows that confirming it would replace


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    memory: Memory
    changes: Sequence[Event]


@dataclass(frozen=True, slots=True)
class BrowseMemories:
    storage: AuditedStorage

    async def list_page(self, view: Viewpoint, wanted: ListFilter) -> MemoryListPage:
        """Return one page of what the persona knows: its own rows and the user's global ones."""
        chosen = self._memory_filter(view, wanted)

        def work(stores: Stores) -> MemoryListPage:
            rows = _known_rows(stores, view, chosen)
            shown = rows[: wanted.limit]
            return _list_page(stores, view, shown, has_more=len(rows) > wanted.limit)

        return await self.storage.read_after_expiry(work)

    async def get_memory(self, view: Viewpoint, memory_id: int) -> MemoryListPage:
        """Return one memory as a page of its own."""
        return await self.storage.read_after_expiry(
            lambda stores: _list_page(stores, view, [_known_memory(stores, view, memory_id)])
        )

    async def history(self, view: Viewpoint, memory_id: int) -> list[MemoryVersion]:
        """Return every version of a memory, oldest first, with its audit events."""

        def work(stores: Stores) -> list[MemoryVersion]:
            memory = _known_memory(stores, view, memory_id)
            chain = stores.memories.find(memory.owner, MemoryFilter(root_ids={memory.root_id}))
            user = view.owner.user
            return [
                MemoryVersion(row, stores.audit.find(user, memory_id=row.id))
                for row in sorted(chain, key=lambda row: row.id)
                if is_visible(view, row)
            ]

        return await self.storage.read_after_expiry(work)

    async def audit_events(
        self, caller: Caller, *, since: float, after_id: int, memory_id: int | None, limit: int
    ) -> list[Event]:
        """Return the audit events of this user, oldest first."""
        return await self.storage.read(
            lambda stores: stores.audit.find(
                caller.user,
                since=since,
                after_id=after_id,
                memory_id=memory_id,
                only_app=caller.key.limits.source_app,
                limit=limit,
            )
        )

    def _memory_filter(self, view: Viewpoint, wanted: ListFilter) -> MemoryFilter:
        live = wanted.status in (Status.ACTIVE, Status.CANDIDATE)
        return MemoryFilter(
            statuses=None if wanted.status is None else {wanted.status},
            types=None if wanted.type is None else {wanted.type},
            scope=wanted.scope,
            realm=wanted.realm,
            bot_id=None if view.all_bots else view.bot_id,
            containing=wanted.containing,
            only_app=view.only_app or None,
            learned_in=view.session_id if view.only_session else None,
            key_prefix=wanted.key_prefix,
            event_type=wanted.event_type,
            min_importance=wanted.min_importance,
            created_since=wanted.since,
            created_before=wanted.until,
            source_app=wanted.source_app,
            order=wanted.order,
            after=wanted.after,
            # An expired row counts as expired whether or not the expiry sweep has run.
            not_expired_at=self.storage.clock.now() if live else None,
            limit=wanted.limit + 1,
        )


def _list_page(
    stores: Stores, view: Viewpoint, shown: Sequence[Memory], *, has_more: bool = False
) -> MemoryListPage:
    replaces = {
        row.id: [rival for rival in replaceable_by(stores, row) if is_visible(view, rival)]
        for row in shown
        if row.status is Status.CANDIDATE
    }
    next_position = MemoryPosition(shown[-1].id, shown[-1].importance) if has_more else None
    return MemoryListPage(shown, next_position, replaces)


def _known_rows(stores: Stores, view: Viewpoint, wanted: MemoryFilter) -> list[Memory]:
    if wanted.scope is Scope.GLOBAL:
        return stores.memory_search.find_global(view.owner, wanted)
    own = stores.memories.find(view.owner, wanted)
    if wanted.scope is not None:
        return own
    # Candidates of another persona are confirmed there.
    statuses = set(Status if wanted.statuses is None else wanted.statuses) - {Status.CANDIDATE}
    shared = stores.memory_search.find_global(view.owner, replace(wanted, statuses=statuses))
    known = {row.id for row in own}
    rows = [*own, *(row for row in shared if row.id not in known)]
    return _sorted_rows(rows, wanted.order)[: wanted.limit]


def _sorted_rows(rows: Sequence[Memory], order: MemoryOrder | None) -> list[Memory]:
    if order is MemoryOrder.OLDEST:
        return sorted(rows, key=lambda row: row.id)
    by_importance = order is MemoryOrder.IMPORTANCE
    return sorted(rows, key=lambda row: (-row.importance if by_importance else 0.0, -row.id))


def _known_memory(stores: Stores, view: Viewpoint, memory_id: int) -> Memory:
    """Return one row that a list may show; raise `NotFound` for any other."""
    shared = stores.memory_search.find_global(view.owner, MemoryFilter(ids={memory_id}))
    seen = [row for row in shared if is_visible(view, row) and row.status is not Status.CANDIDATE]
    return seen[0] if seen else visible_memory(stores, view, memory_id)
