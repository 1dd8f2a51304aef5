"""Consolidate memories in idle time: every change is in the audit log and can be undone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plastic_memories.hub.transactions.audit_events import app_of, hub_caller, record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.model.memory import Memory, Status
from plastic_memories.model.owner import Owner
from plastic_memories.ports.meter import Meter
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.rules.lifecycle.consolidation import (
    REASONS,
    ChangeKind,
    ConsolidationChange,
    plan_consolidation,
)
from plastic_memories.rules.lifecycle.transitions import end_memory
from plastic_memories.runtime.pacing import sleep_proportionally

# The limits of one step: owners, and per owner the rows read and changed.
_OWNER_BATCH = 20
_PAGE = 100
_MAX_ROWS = 20_000
_MAX_CHANGES = 100
_MAX_EVENTS = 10_000
_CURRENT_STATUSES = frozenset({Status.ACTIVE, Status.CANDIDATE})
# A change that a person has undone is not made again.
UNDO_EVENT = "memory.undo"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateOptions:
    enabled: bool = True
    # Between two rounds; rows that changed more recently than this are left alone.
    interval_s: float = 21_600.0


@dataclass(slots=True)
class Consolidate:
    storage: AuditedStorage
    meter: Meter
    options: ConsolidateOptions
    _cursor: int = 0
    _next_at: float = 0.0

    @property
    def is_due(self) -> bool:
        return self.options.enabled and self.storage.clock.now() >= self._next_at

    async def run_step(self, rest: float = 0.0) -> int:
        """Consolidate the next batch of owners if a round is due; return the number of changes.

        After each page of rows it sleeps `rest` times as long as reading them took.
        """
        if not self.is_due:
            return 0
        after = self._cursor
        owners = await self.storage.read(lambda stores: stores.upkeep.owners(after, _OWNER_BATCH))
        done = 0
        for row_id, owner in owners:
            done += await self.consolidate_owner(owner, rest)
            self._cursor = row_id
        if len(owners) < _OWNER_BATCH:
            self._cursor = 0
            self._next_at = self.storage.clock.now() + self.options.interval_s
        return done

    async def run_full_round(self) -> int:
        """Consolidate every owner if a round is due; return the number of changes."""
        done = 0
        while self.is_due:
            done += await self.run_step()
        return done

    async def consolidate_owner(self, owner: Owner, rest: float = 0.0) -> int:
        """Consolidate one owner's memories; return the number of changes."""
        now = self.storage.clock.now()
        rows = await self._unchanged_memories(owner, now, rest)
        branches = await self.storage.read(lambda stores: stores.branches.all(owner))
        branched = {branch.session_id for branch in branches}
        changes = await asyncio.to_thread(plan_consolidation, rows, now, branched)
        if not changes:
            return 0
        kinds = await self.storage.write(lambda stores: _apply_all(stores, changes, now))
        for kind in kinds:
            self.meter.count(owner.tenant_id, "memory_consolidations", change=kind.value)
        return len(kinds)

    async def _unchanged_memories(self, owner: Owner, now: float, rest: float) -> list[Memory]:
        rows: list[Memory] = []
        wanted = MemoryFilter(
            statuses=_CURRENT_STATUSES,
            not_expired_at=now,
            unchanged_since=now - self.options.interval_s,
            limit=_PAGE,
        )
        while len(rows) < _MAX_ROWS:
            started = time.monotonic()
            page = await self.storage.read(_memory_query(owner, wanted))
            rows += page
            if len(page) < _PAGE:
                break
            wanted = replace(wanted, before_id=page[-1].id)
            await sleep_proportionally(started, rest)
        return rows


def _memory_query(owner: Owner, wanted: MemoryFilter) -> Callable[[Stores], list[Memory]]:
    return lambda stores: stores.memories.find(owner, wanted)


def _apply_all(
    stores: Stores, changes: Sequence[ConsolidationChange], now: float
) -> list[ChangeKind]:
    applied: list[ChangeKind] = []
    for planned in changes:
        if len(applied) == _MAX_CHANGES:
            break
        change = _recheck(stores, planned)
        if change is not None:
            _APPLY[change.kind](stores, change, now)
            applied.append(change.kind)
    return applied


def _recheck(stores: Stores, planned: ConsolidationChange) -> ConsolidationChange | None:
    """Return a change with its rows as stored now; None if a row changed or was undone before."""
    stored: list[Memory] = []
    for seen in planned.rows:
        row = stores.memories.get(seen.owner, seen.id)
        if row is None or _row_state(row) != _row_state(seen) or _was_undone(stores, row):
            return None
        stored.append(row)
    return replace(planned, memory=stored[0], survivor=stored[1] if planned.survivor else None)


def _was_undone(stores: Stores, row: Memory) -> bool:
    past = stores.audit.find(row.owner.user, memory_id=row.id, limit=_MAX_EVENTS)
    return any(event.event == UNDO_EVENT for event in past)


def _row_state(row: Memory) -> tuple[object, ...]:
    # A merge into this row in the same round changes only its sources and importance.
    return (row.status, row.content, row.key, row.tags, row.pinned, row.updated_at)


def _merge(stores: Stores, change: ConsolidationChange, now: float) -> None:
    """End a duplicate in favour of the surviving row, which takes over its sources."""
    row, survivor = change.memory, _other_row(change)
    sources = set(survivor.source_message_ids)
    # A row that a person wrote has no sources: an edited message must not retract it.
    added = set(row.source_message_ids) - sources if sources else set()
    if added:
        survivor = stores.memories.set_sources(survivor, sources | added)
    importance = max(survivor.importance, row.importance)
    if importance != survivor.importance:
        stores.memories.save(replace(survivor, importance=importance))
    _end(
        stores, change, now, survivor, added_sources=sorted(added),
        importance_was=survivor.importance, importance=importance,
    )  # fmt: skip


def _resolve(stores: Stores, change: ConsolidationChange, now: float) -> None:
    """End the older of two values; it is restored if the newer one is retracted."""
    row, newer = change.memory, _other_row(change)
    _end(stores, change, now, newer, supersedes_was=newer.supersedes_id)
    if newer.supersedes_id is None:
        stores.memories.save(replace(newer, supersedes_id=row.id))


def _end(
    stores: Stores, change: ConsolidationChange, now: float, survivor: Memory, **data: Any
) -> None:
    """End a row; its versions join the chain of the survivor, so that forget finds them all."""
    row = change.memory
    versions = stores.memories.find(row.owner, MemoryFilter(root_ids={row.root_id}))
    joining = [version for version in versions if version.root_id != survivor.root_id]
    for version in joining:
        stores.memories.save(replace(version, root_id=survivor.root_id))
    stores.memories.save(
        replace(end_memory(row, now, superseded_by=survivor.id), root_id=survivor.root_id)
    )
    _record_change(
        stores, change, now, into=survivor.id, was=row.status.value, root_was=row.root_id,
        versions=sorted(version.id for version in joining), **data,
    )  # fmt: skip


def _make_candidate(stores: Stores, change: ConsolidationChange, now: float) -> None:
    """Make an inferred value a candidate that names the row it would replace."""
    row, rival = change.memory, _other_row(change)
    candidate = replace(row, status=Status.CANDIDATE, supersedes_id=rival.id, updated_at=now)
    stores.memories.save(candidate)
    _record_change(stores, change, now, instead_of=rival.id, supersedes_was=row.supersedes_id)


def _archive(stores: Stores, change: ConsolidationChange, now: float) -> None:
    stores.memories.save(end_memory(change.memory, now))
    _record_change(stores, change, now, sources=len(change.memory.source_message_ids))


def _set_importance(stores: Stores, change: ConsolidationChange, now: float) -> None:
    row = change.memory
    stores.memories.save(replace(row, importance=change.importance, updated_at=now))
    _record_change(stores, change, now, importance_was=row.importance, importance=change.importance)


def _other_row(change: ConsolidationChange) -> Memory:
    assert change.survivor is not None, "a change of two rows"
    return change.survivor


def _record_change(stores: Stores, change: ConsolidationChange, now: float, **data: Any) -> None:
    row = change.memory
    record_event(
        stores,
        hub_caller(row.owner.user),
        f"memory.{change.kind.value}",
        row.owner.persona_id,
        now,
        memory_id=row.id,
        reason=REASONS[change.kind],
        **app_of(row),
        **data,
    )


_APPLY: dict[ChangeKind, Callable[[Stores, ConsolidationChange, float], None]] = {
    ChangeKind.MERGE: _merge,
    ChangeKind.RESOLVE: _resolve,
    ChangeKind.ASK: _make_candidate,
    ChangeKind.ARCHIVE: _archive,
    ChangeKind.WEIGH: _set_importance,
}
