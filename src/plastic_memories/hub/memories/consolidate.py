"""Put memories in order while nobody talks: every change is in the log and can be undone."""

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

# The work of one step: so many owners, and of each so many rows read and changed.
_OWNER_BATCH = 20
_PAGE = 100
_MAX_ROWS = 20_000
_MAX_CHANGES = 100
_MAX_EVENTS = 10_000
_CURRENT_STATUSES = frozenset({Status.ACTIVE, Status.CANDIDATE})
# What a person has taken back once is not done again.
UNDO_EVENT = "memory.undo"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateOptions:
    enabled: bool = True
    # Between two rounds; what changed more recently than this is left alone.
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
        """Put a few owners in order, if it is time; return how many changes that took.

        After each page of rows it rests `rest` times as long as reading them took.
        """
        if not self.is_due:
            return 0
        after = self._cursor
        owners = await self.storage.read(lambda stores: stores.upkeep.owners(after, _OWNER_BATCH))
        done = 0
        for number, owner in owners:
            done += await self.consolidate_owner(owner, rest)
            self._cursor = number
        if len(owners) < _OWNER_BATCH:
            self._cursor = 0
            self._next_at = self.storage.clock.now() + self.options.interval_s
        return done

    async def run_full_round(self) -> int:
        """Put every owner in order, if it is time; return how many changes that took."""
        done = 0
        while self.is_due:
            done += await self.run_step()
        return done

    async def consolidate_owner(self, owner: Owner, rest: float = 0.0) -> int:
        """Put one owner's memories in order; return how many changes that took."""
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
    done: list[ChangeKind] = []
    for planned in changes:
        if len(done) == _MAX_CHANGES:
            break
        change = _recheck(stores, planned)
        if change is not None:
            _APPLY[change.kind](stores, change, now)
            done.append(change.kind)
    return done


def _recheck(stores: Stores, planned: ConsolidationChange) -> ConsolidationChange | None:
    """Return a change with its rows as they are stored; None if they changed or may not."""
    stored: list[Memory] = []
    for before in planned.rows:
        row = stores.memories.get(before.owner, before.id)
        if row is None or _row_state(row) != _row_state(before) or _was_undone(stores, row):
            return None
        stored.append(row)
    return replace(planned, memory=stored[0], survivor=stored[1] if planned.survivor else None)


def _was_undone(stores: Stores, row: Memory) -> bool:
    past = stores.audit.find(row.owner.user, memory_id=row.id, limit=_MAX_EVENTS)
    return any(event.event == UNDO_EVENT for event in past)


def _row_state(row: Memory) -> tuple[object, ...]:
    # A merge into the row in the same round changes its sources and its weight, no more.
    return (row.status, row.content, row.key, row.tags, row.pinned, row.updated_at)


def _merge(stores: Stores, change: ConsolidationChange, now: float) -> None:
    """End a row in favour of one that says the same; what it was known from goes there."""
    row, kept = change.memory, _other_row(change)
    sources = set(kept.source_message_ids)
    # A row that a person has written stands by itself: it is not made to hang on messages.
    added = set(row.source_message_ids) - sources if sources else set()
    if added:
        kept = stores.memories.set_sources(kept, sources | added)
    weight = max(kept.importance, row.importance)
    if weight != kept.importance:
        stores.memories.save(replace(kept, importance=weight))
    _end(
        stores, change, now, kept, added_sources=sorted(added), importance_was=kept.importance,
        importance=weight,
    )  # fmt: skip


def _resolve(stores: Stores, change: ConsolidationChange, now: float) -> None:
    """End the older of two values; it comes back if the newer one is taken back."""
    row, newer = change.memory, _other_row(change)
    _end(stores, change, now, newer, supersedes_was=newer.supersedes_id)
    if newer.supersedes_id is None:
        stores.memories.save(replace(newer, supersedes_id=row.id))


def _end(
    stores: Stores, change: ConsolidationChange, now: float, kept: Memory, **data: Any
) -> None:
    """End a row; its versions join those of the row that stays, so that forget finds them all."""
    row = change.memory
    versions = stores.memories.find(row.owner, MemoryFilter(root_ids={row.root_id}))
    joining = [one for one in versions if one.root_id != kept.root_id]
    for one in joining:
        stores.memories.save(replace(one, root_id=kept.root_id))
    stores.memories.save(replace(end_memory(row, now, superseded_by=kept.id), root_id=kept.root_id))
    _record_change(
        stores, change, now, into=kept.id, was=row.status.value, root_was=row.root_id,
        versions=sorted(one.id for one in joining), **data,
    )  # fmt: skip


def _make_candidate(stores: Stores, change: ConsolidationChange, now: float) -> None:
    """Put an inferred value into the inbox; it names what it would replace."""
    row, kept = change.memory, _other_row(change)
    asked = replace(row, status=Status.CANDIDATE, supersedes_id=kept.id, updated_at=now)
    stores.memories.save(asked)
    _record_change(stores, change, now, instead_of=kept.id, supersedes_was=row.supersedes_id)


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
