"""Browse memories: list pages, single rows, version history, audit log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
from plastic_memories.ports.stores.memory_store import MemoryFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFilter:
    """Which rows to list; `status=None` means every status."""

    status: Status | None = Status.ACTIVE
    type: MemoryType | None = None
    scope: Scope | None = None
    realm: Realm | None = None
    containing: str | None = None
    before_id: int | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True)
class MemoryListPage:
    memories: Sequence[Memory]
    next_before_id: int | None
    replaces: Mapping[int, Sequence[Memory]]  # candidate id → rows that confirming it would replace


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    memory: Memory
    changes: Sequence[Event]


@dataclass(frozen=True, slots=True)
class BrowseMemories:
    storage: AuditedStorage

    async def list_page(self, view: Viewpoint, wanted: ListFilter) -> MemoryListPage:
        """Return one page of rows, newest first, with the cursor of the next page."""
        chosen = self._memory_filter(view, wanted)

        def work(stores: Stores) -> MemoryListPage:
            is_global = wanted.scope is Scope.GLOBAL
            find = stores.memory_search.find_global if is_global else stores.memories.find
            rows = find(view.owner, chosen)
            has_more = len(rows) > wanted.limit
            shown = rows[: wanted.limit]
            return _list_page(stores, view, shown, shown[-1].id if has_more else None)

        return await self.storage.read_after_expiry(work)

    async def get_memory(self, view: Viewpoint, memory_id: int) -> MemoryListPage:
        """Return one memory as a page of its own."""
        return await self.storage.read_after_expiry(
            lambda stores: _list_page(stores, view, [visible_memory(stores, view, memory_id)])
        )

    async def history(self, view: Viewpoint, memory_id: int) -> list[MemoryVersion]:
        """Return every version of a memory, oldest first, with its audit events."""

        def work(stores: Stores) -> list[MemoryVersion]:
            memory = visible_memory(stores, view, memory_id)
            chain = stores.memories.find(view.owner, MemoryFilter(root_ids={memory.root_id}))
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
            before_id=wanted.before_id,
            # An expired row counts as expired whether or not the expiry sweep has run.
            not_expired_at=self.storage.clock.now() if live else None,
            limit=wanted.limit + 1,
        )


def _list_page(
    stores: Stores, view: Viewpoint, shown: Sequence[Memory], next_before_id: int | None = None
) -> MemoryListPage:
    replaces = {
        row.id: [rival for rival in replaceable_by(stores, row) if is_visible(view, rival)]
        for row in shown
        if row.status is Status.CANDIDATE
    }
    return MemoryListPage(shown, next_before_id, replaces)
