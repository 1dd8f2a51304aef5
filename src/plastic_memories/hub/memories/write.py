"""Write memories: stated by a person, in batches, or extracted from a conversation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from plastic_memories.errors import Conflict, NotFound
from plastic_memories.hub.transactions.audit_events import record_memories, record_memory
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.hub.transactions.version_chain import add_replacing, is_visible, refresh_slot
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Draft, Memory, MemoryType, SourceType, Status
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.rules.lifecycle.tombstones import NEVER_AGAIN, tombstone_digests
from plastic_memories.rules.lifecycle.transitions import memory_from_draft, plan_write
from plastic_memories.rules.lifecycle.user_facts import as_stored, is_user_fact, with_user_scope


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """The outcome of one draft: its row, or the reason why there is none."""

    memory: Memory | None
    updated: bool
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class BatchWriteOutcome:
    written: Sequence[WriteOutcome]
    skipped: Sequence[tuple[int, str]] = field(default=())  # (index, reason)
    job_id: int | None = None  # the job in which a model reads the same messages again


@dataclass(frozen=True, slots=True)
class WriteMemory:
    storage: AuditedStorage
    screening: Screening

    async def write_one(self, caller: Caller, owner: Owner, draft: Draft) -> WriteOutcome:
        """Store one draft that a person or program stated."""
        now = self.storage.clock.now()
        screened = self.screening.screen_draft(draft)
        return await self.storage.write(
            lambda stores: write_in_transaction(stores, caller, owner, screened, now)
        )

    async def write_many(
        self, caller: Caller, owner: Owner, drafts: Sequence[Draft]
    ) -> BatchWriteOutcome:
        """Store a batch of drafts in one transaction; an invalid one is skipped with a reason."""
        now = self.storage.clock.now()
        screened, skipped = self.screening.screen_drafts(drafts)

        def work(stores: Stores) -> BatchWriteOutcome:
            keys = {(draft.type, draft.key) for _, draft in screened}
            batch = _WriteBatch(stores, caller, owner, now, keys)
            for index, draft in screened:
                batch.add_draft(index, draft)
            return batch.finish(skipped)

        return await self.storage.write(work)


def write_in_transaction(
    stores: Stores,
    caller: Caller,
    owner: Owner,
    draft: Draft,
    now: float,
    *,
    learned: bool = False,
) -> WriteOutcome:
    """Apply the write rules to one draft in the caller's transaction."""
    plan = _apply_write_rules(stores, _seen_by(caller, owner, draft), draft, now, learned=learned)
    if isinstance(plan, WriteOutcome):
        return plan
    stores.personas.ensure(owner, now)
    return _store_new_row(stores, caller, plan, now)


@dataclass(frozen=True, slots=True)
class _NewRow:
    """A row to store, and the rows it replaces."""

    memory: Memory
    replaced: Sequence[Memory]


class _WriteBatch:
    """The drafts of one request. New rows that replace nothing are buffered and stored at once."""

    def __init__(
        self,
        stores: Stores,
        caller: Caller,
        owner: Owner,
        now: float,
        keys: Collection[tuple[MemoryType, str]],
    ) -> None:
        self._stores = stores
        self._caller = caller
        self._owner = owner
        self._now = now
        # One query for all drafts: most have a key that no row has.
        self._live_keys = stores.memories.find_live_keys(owner, keys)
        self._waiting: dict[tuple[MemoryType, str], tuple[int, Memory]] = {}
        self._idempotency_keys: set[str] = set()  # of the buffered rows
        self._outcomes: dict[int, WriteOutcome] = {}

    def add_draft(self, index: int, draft: Draft) -> None:
        """Apply the write rules to the draft at this index of the request."""
        slot = draft.type, draft.key
        is_known = slot in self._waiting or draft.idempotency_key in self._idempotency_keys
        if is_known or draft.supersedes_id is not None:
            self._flush()  # the rules may need to find a buffered row
        try:
            view = _seen_by(self._caller, self._owner, draft)
            # Another persona may have been told a user fact.
            is_new = slot not in self._live_keys and not is_user_fact(draft)
            plan = _apply_write_rules(
                self._stores, view, draft, self._now, learned=False, is_new_key=is_new
            )
        except (Conflict, NotFound) as error:
            plan = WriteOutcome(None, updated=False, skipped=error.message)
        if isinstance(plan, WriteOutcome):
            self._outcomes[index] = plan
        elif plan.replaced:
            self._flush()  # earlier drafts get smaller ids
            self._stores.personas.ensure(self._owner, self._now)
            self._outcomes[index] = _store_new_row(self._stores, self._caller, plan, self._now)
            self._live_keys.add(slot)
        else:
            self._waiting[slot] = index, plan.memory
            if draft.idempotency_key:
                self._idempotency_keys.add(draft.idempotency_key)

    def finish(self, skipped: Sequence[tuple[int, str]]) -> BatchWriteOutcome:
        """Store the buffered rows; return all outcomes, with `skipped` drafts added."""
        self._flush()
        outcomes = sorted(self._outcomes.items())
        refused = [(index, outcome.skipped) for index, outcome in outcomes if outcome.skipped]
        return BatchWriteOutcome(
            [outcome for _, outcome in outcomes if not outcome.skipped],
            sorted([*skipped, *refused]),
        )

    def _flush(self) -> None:
        if not self._waiting:
            return
        indexes, rows = zip(*self._waiting.values(), strict=True)
        self._live_keys.update(self._waiting)
        self._waiting.clear()
        self._idempotency_keys.clear()
        self._stores.personas.ensure(self._owner, self._now)
        added = self._stores.memories.add_all(rows)
        record_memories(self._stores, self._caller, "memory.write", added, self._now)
        for index, memory in zip(indexes, added, strict=True):
            self._outcomes[index] = WriteOutcome(memory, updated=True)


def _seen_by(caller: Caller, owner: Owner, draft: Draft) -> Viewpoint:
    """Return the viewpoint of a writer: it sees rows of its bot and of its app."""
    return Viewpoint(owner, bot_id=draft.bot_id, only_app=caller.key.limits.source_app)


def _apply_write_rules(
    stores: Stores,
    view: Viewpoint,
    draft: Draft,
    now: float,
    *,
    learned: bool,
    is_new_key: bool = False,
) -> WriteOutcome | _NewRow:
    """Return the row to store for a draft, or the outcome if nothing is to be stored.

    If its key is known to be new, no row is looked up that it could repeat or replace.
    """
    owner = view.owner
    earlier = _find_idempotent(stores, view, draft)
    if earlier is not None:
        return WriteOutcome(earlier, updated=False)
    stated = not learned and draft.source_type is SourceType.USER_EXPLICIT
    if not stated and has_tombstone(stores, owner, draft):
        return WriteOutcome(None, updated=False, skipped=NEVER_AGAIN)
    rivals = [] if is_new_key else stores.memories.find_same_key(owner, with_user_scope(draft))
    plan = plan_write(draft, rivals)
    replaced = plan.replaces
    if plan.status is Status.ACTIVE and draft.supersedes_id is not None:
        replaced = (*replaced, *_explicitly_replaced(stores, view, draft, replaced))
    if stated:
        _lift_tombstones(stores, owner, draft)
    if plan.duplicate is not None:
        return WriteOutcome(plan.duplicate, updated=False)
    return _NewRow(as_stored(memory_from_draft(owner, draft, now, plan.status)), replaced)


def _store_new_row(stores: Stores, caller: Caller, new: _NewRow, now: float) -> WriteOutcome:
    added = add_replacing(stores, new.memory, new.replaced, now)
    for row in new.replaced:
        refresh_slot(stores, caller, row, now)
    record_memory(stores, caller, "memory.write", added, now)
    return WriteOutcome(added, updated=True)


def _find_idempotent(stores: Stores, view: Viewpoint, draft: Draft) -> Memory | None:
    """Return the memory that an earlier call with the same idempotency key stored."""
    if not draft.idempotency_key:
        return None
    wanted = MemoryFilter(idempotency_key=draft.idempotency_key, bot_id=view.bot_id)
    found = stores.memories.find(view.owner, wanted)
    if found and not is_visible(view, found[0]):
        raise Conflict("This idempotency_key is in use.")
    return found[0] if found else None


def has_tombstone(stores: Stores, owner: Owner, draft: Draft) -> bool:
    """Return whether the user has forbidden to learn this again."""
    if not stores.tombstones.has_any(owner):
        return False
    return stores.tombstones.covers(
        owner, tombstone_digests(stores.tombstones.secret(), owner, draft)
    )


def _lift_tombstones(stores: Stores, owner: Owner, draft: Draft) -> None:
    """Remove matching tombstones: a person's explicit statement overrides a "never again"."""
    if stores.tombstones.has_any(owner):
        stores.tombstones.lift(owner, tombstone_digests(stores.tombstones.secret(), owner, draft))


def _explicitly_replaced(
    stores: Stores, view: Viewpoint, draft: Draft, replaced: Sequence[Memory]
) -> tuple[Memory, ...]:
    """Return the row the caller wants replaced, unless it is replaced anyway."""
    memory_id = draft.supersedes_id
    assert memory_id is not None
    if any(row.id == memory_id for row in replaced):
        return ()
    row = stores.memories.get(view.owner, memory_id)
    if row is None or row.status is not Status.ACTIVE or not is_visible(view, row):
        raise NotFound(f"There is no active memory {memory_id} to supersede.")
    return (row,)
