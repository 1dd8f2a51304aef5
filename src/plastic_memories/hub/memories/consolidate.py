"""Put memories in order while nobody talks: every change is in the log and can be undone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plastic_memories.hub.transactions.audit_events import app_of, record, the_hub
from plastic_memories.hub.transactions.audited_storage import Ledger
from plastic_memories.model.memory import Memory, Status
from plastic_memories.model.owner import Owner
from plastic_memories.ports.meter import Meter
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.rules.lifecycle.consolidation import REASONS, Change, ChangeKind, plan
from plastic_memories.rules.lifecycle.transitions import ended
from plastic_memories.runtime.pacing import rest_since

# The work of one step: so many owners, and of each so many rows read and changed.
_OWNERS = 20
_PAGE = 100
_MOST_ROWS = 20_000
_MOST_CHANGES = 100
_MOST_EVENTS = 10_000
_LIVE = frozenset({Status.ACTIVE, Status.CANDIDATE})
# What a person has taken back once is not done again.
UNDONE = "memory.undo"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateOptions:
    enabled: bool = True
    # Between two rounds; what changed more recently than this is left alone.
    interval_s: float = 21_600.0


@dataclass(slots=True)
class Consolidate:
    ledger: Ledger
    meter: Meter
    options: ConsolidateOptions
    _after: int = 0
    _next_at: float = 0.0

    @property
    def is_due(self) -> bool:
        return self.options.enabled and self.ledger.clock.now() >= self._next_at

    async def step(self, rest: float = 0.0) -> int:
        """Put a few owners in order, if it is time; return how many changes that took.

        After each page of rows it rests `rest` times as long as reading them took.
        """
        if not self.is_due:
            return 0
        after = self._after
        owners = await self.ledger.read(lambda stores: stores.upkeep.owners(after, _OWNERS))
        done = 0
        for number, owner in owners:
            done += await self.owner(owner, rest)
            self._after = number
        if len(owners) < _OWNERS:
            self._after = 0
            self._next_at = self.ledger.clock.now() + self.options.interval_s
        return done

    async def whole_round(self) -> int:
        """Put every owner in order, if it is time; return how many changes that took."""
        done = 0
        while self.is_due:
            done += await self.step()
        return done

    async def owner(self, owner: Owner, rest: float = 0.0) -> int:
        """Put one owner's memories in order; return how many changes that took."""
        now = self.ledger.clock.now()
        rows = await self._at_rest(owner, now, rest)
        branches = await self.ledger.read(lambda stores: stores.sessions.branches(owner))
        branched = {branch.session_id for branch in branches}
        changes = await asyncio.to_thread(plan, rows, now, branched)
        if not changes:
            return 0
        kinds = await self.ledger.write(lambda stores: _apply_all(stores, changes, now))
        for kind in kinds:
            self.meter.count(owner.tenant_id, "memory_consolidations", change=kind.value)
        return len(kinds)

    async def _at_rest(self, owner: Owner, now: float, rest: float) -> list[Memory]:
        rows: list[Memory] = []
        wanted = MemoryFilter(
            statuses=_LIVE,
            not_expired_at=now,
            unchanged_since=now - self.options.interval_s,
            limit=_PAGE,
        )
        while len(rows) < _MOST_ROWS:
            started = time.monotonic()
            page = await self.ledger.read(_finder(owner, wanted))
            rows += page
            if len(page) < _PAGE:
                break
            wanted = replace(wanted, before_id=page[-1].id)
            await rest_since(started, rest)
        return rows


def _finder(owner: Owner, wanted: MemoryFilter) -> Callable[[Stores], list[Memory]]:
    return lambda stores: stores.memories.find(owner, wanted)


def _apply_all(stores: Stores, changes: Sequence[Change], now: float) -> list[ChangeKind]:
    done: list[ChangeKind] = []
    for planned in changes:
        if len(done) == _MOST_CHANGES:
            break
        change = _looked_at_again(stores, planned)
        if change is not None:
            _APPLY[change.kind](stores, change, now)
            done.append(change.kind)
    return done


def _looked_at_again(stores: Stores, planned: Change) -> Change | None:
    """Return a change with its rows as they are stored; None if they changed or may not."""
    stored: list[Memory] = []
    for before in planned.rows:
        row = stores.memories.get(before.owner, before.id)
        if row is None or _state(row) != _state(before) or _was_undone(stores, row):
            return None
        stored.append(row)
    return replace(planned, memory=stored[0], other=stored[1] if planned.other else None)


def _was_undone(stores: Stores, row: Memory) -> bool:
    past = stores.audit.find(row.owner.user, memory_id=row.id, limit=_MOST_EVENTS)
    return any(event.event == UNDONE for event in past)


def _state(row: Memory) -> tuple[object, ...]:
    # A merge into the row in the same round changes its sources and its weight, no more.
    return (row.status, row.content, row.key, row.tags, row.pinned, row.updated_at)


def _merge(stores: Stores, change: Change, now: float) -> None:
    """End a row in favour of one that says the same; what it was known from goes there."""
    row, kept = change.memory, _other(change)
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


def _resolve(stores: Stores, change: Change, now: float) -> None:
    """End the older of two values; it comes back if the newer one is taken back."""
    row, newer = change.memory, _other(change)
    _end(stores, change, now, newer, supersedes_was=newer.supersedes_id)
    if newer.supersedes_id is None:
        stores.memories.save(replace(newer, supersedes_id=row.id))


def _end(stores: Stores, change: Change, now: float, kept: Memory, **data: Any) -> None:
    """End a row; its versions join those of the row that stays, so that forget finds them all."""
    row = change.memory
    versions = stores.memories.find(row.owner, MemoryFilter(root_ids={row.root_id}))
    joining = [one for one in versions if one.root_id != kept.root_id]
    for one in joining:
        stores.memories.save(replace(one, root_id=kept.root_id))
    stores.memories.save(replace(ended(row, now, superseded_by=kept.id), root_id=kept.root_id))
    _note(
        stores, change, now, into=kept.id, was=row.status.value, root_was=row.root_id,
        versions=sorted(one.id for one in joining), **data,
    )  # fmt: skip


def _ask(stores: Stores, change: Change, now: float) -> None:
    """Put an inferred value into the inbox; it names what it would replace."""
    row, kept = change.memory, _other(change)
    asked = replace(row, status=Status.CANDIDATE, supersedes_id=kept.id, updated_at=now)
    stores.memories.save(asked)
    _note(stores, change, now, instead_of=kept.id, supersedes_was=row.supersedes_id)


def _archive(stores: Stores, change: Change, now: float) -> None:
    stores.memories.save(ended(change.memory, now))
    _note(stores, change, now, sources=len(change.memory.source_message_ids))


def _weigh(stores: Stores, change: Change, now: float) -> None:
    row = change.memory
    stores.memories.save(replace(row, importance=change.importance, updated_at=now))
    _note(stores, change, now, importance_was=row.importance, importance=change.importance)


def _other(change: Change) -> Memory:
    assert change.other is not None, "a change of two rows"
    return change.other


def _note(stores: Stores, change: Change, now: float, **data: Any) -> None:
    row = change.memory
    record(
        stores,
        the_hub(row.owner.user),
        f"memory.{change.kind.value}",
        row.owner.persona_id,
        now,
        memory_id=row.id,
        reason=REASONS[change.kind],
        **app_of(row),
        **data,
    )


_APPLY: dict[ChangeKind, Callable[[Stores, Change, float], None]] = {
    ChangeKind.MERGE: _merge,
    ChangeKind.RESOLVE: _resolve,
    ChangeKind.ASK: _ask,
    ChangeKind.ARCHIVE: _archive,
    ChangeKind.WEIGH: _weigh,
}
