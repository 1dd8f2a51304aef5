"""Store what was found in talk, in the order in which it was said, and take it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from plastic_memories.hub.memories.write import WriteOutcome, has_tombstone, write_in_transaction
from plastic_memories.hub.transactions.audit_events import record_memory
from plastic_memories.hub.transactions.version_chain import refresh_slot
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Draft, Memory, MemoryType, SourceType, Status
from plastic_memories.model.message import Message
from plastic_memories.model.owner import Owner
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.rules.conversation.branch_lines import (
    BranchAncestry,
    branch_ancestry,
    first_source_message_id,
    statement_time,
)
from plastic_memories.rules.lifecycle.transitions import (
    comparable_value,
    end_memory,
    memory_from_draft,
)


@dataclass(frozen=True, slots=True)
class RetractionOutcome:
    """What went with a message, what came back for it, and which summaries need a new text."""

    retracted: list[Memory] = field(default_factory=list)
    restored: list[Memory] = field(default_factory=list)
    kept: list[Memory] = field(default_factory=list)


def store_learned_draft(
    stores: Stores, caller: Caller, owner: Owner, draft: Draft, now: float, *, echo: bool = False
) -> WriteOutcome:
    """Store a draft that was found in talk.

    The same thing said again is one more source of what is known. What was said before the
    value that holds now does not replace it: it goes into the past of it. An echo of what the
    hub has injected may support what is known, and makes nothing new.
    """
    if has_tombstone(stores, owner, draft):
        return WriteOutcome(None, updated=False, skipped="forgotten, never again")
    live = stores.memories.find_same_key(owner, draft)
    for row in live:
        if _is_repeat(draft, row):
            return WriteOutcome(_add_sources(stores, row, draft), updated=False)
    if echo:
        return WriteOutcome(None, updated=False, skipped="an echo of what was recalled")
    if _was_learned(stores, owner, draft):
        return WriteOutcome(None, updated=False, skipped="learned from this message before")
    later = [row for row in live if row.status is Status.ACTIVE and _is_later(row, draft)]
    if later and draft.type is not MemoryType.SUMMARY:
        return WriteOutcome(_add_past_value(stores, owner, draft, later[0], now), updated=False)
    written = write_in_transaction(stores, caller, owner, draft, now, learned=True)
    if written.memory is not None and written.updated:
        _copy_to_branches(stores, written.memory)
    return written


def retract(
    stores: Stores, caller: Caller, owner: Owner, message_ids: Sequence[int], now: float
) -> RetractionOutcome:
    """Take back what was learned from messages, unless another source supports it.

    A value that had been replaced comes back; a summary always goes, for it may repeat them.
    """
    done = RetractionOutcome()
    gone = set(message_ids)
    replaced_others: list[Memory] = []
    for row in stores.memories.find(owner, MemoryFilter(source_message_ids=gone)):
        left = [source for source in row.source_message_ids if source not in gone]
        if row.type is not MemoryType.SUMMARY and (left or _is_confirmed(stores, row)):
            done.kept.append(_without_quote(stores, stores.memories.set_sources(row, left), now))
            continue
        was_active = row.status is Status.ACTIVE
        is_live = row.status in (Status.ACTIVE, Status.CANDIDATE)
        bare = stores.memories.set_sources(row, left if row.type is MemoryType.SUMMARY else ())
        # Without a successor it cannot be brought back either.
        over = replace(end_memory(bare, now) if is_live else bare, superseded_by=None)
        stores.memories.save(over)
        if not is_live:
            continue
        refresh_slot(stores, caller, over, now)
        record_memory(stores, caller, "memory.retract", over, now)
        done.retracted.append(over)
        replaced_others += [over] if was_active else []
    # Only now: what comes back must not be something that goes as well.
    back = [_restore_previous(stores, caller, over, now) for over in replaced_others]
    done.restored.extend(row for row in back if row is not None)
    return done


def end_summaries(stores: Stores, caller: Caller, instead: Draft, owner: Owner, now: float) -> None:
    """End summaries of the same messages: the talk was read again, in other stretches."""
    wanted = MemoryFilter(
        statuses={Status.ACTIVE},
        types={MemoryType.SUMMARY},
        source_message_ids=set(instead.source_message_ids),
    )
    for row in stores.memories.find(owner, wanted):
        if row.key != instead.key:
            over = end_memory(row, now)
            stores.memories.save(over)
            record_memory(stores, caller, "memory.retract", over, now)


def _is_repeat(draft: Draft, row: Memory) -> bool:
    same_day = draft.attributes.get("date") == row.attributes.get("date")
    return same_day and comparable_value(draft) == comparable_value(row)


def _was_learned(stores: Stores, owner: Owner, draft: Draft) -> bool:
    """Say whether the same message has taught this already, and it holds no longer.

    Talk may be read again: what somebody has revoked or replaced since stays so.
    """
    if not draft.source_message_ids or draft.type is MemoryType.SUMMARY:
        return False
    wanted = MemoryFilter(types={draft.type}, source_message_ids=set(draft.source_message_ids))
    return any(
        (row.key, row.realm) == (draft.key, draft.realm) and _is_repeat(draft, row)
        for row in stores.memories.find(owner, wanted)
    )


def _add_sources(stores: Stores, row: Memory, draft: Draft) -> Memory:
    """Add the draft's messages to what a row is known from.

    A row that a person has written stands by itself, and is never made to hang on messages.
    """
    if not row.source_message_ids and row.source_type is SourceType.USER_EXPLICIT:
        return row
    sources = {*row.source_message_ids, *draft.source_message_ids}
    if sources == set(row.source_message_ids):
        return row
    return stores.memories.set_sources(row, sources)


def _is_later(row: Memory, draft: Draft) -> bool:
    return draft.occurred_at is not None and statement_time(row) > draft.occurred_at


def _add_past_value(
    stores: Stores, owner: Owner, draft: Draft, later: Memory, now: float
) -> Memory:
    """Store what held before `later`: it comes back if that one is retracted."""
    old = memory_from_draft(owner, draft, now, Status.REVOKED)
    before = _predecessor(stores, later)
    while before is not None and statement_time(before) > statement_time(old):
        later, before = before, _predecessor(stores, before)
    added = stores.memories.add(
        replace(
            old,
            superseded_by=later.id,
            supersedes_id=before.id if before else None,
            root_id=later.root_id,
        )
    )
    stores.memories.save(replace(later, supersedes_id=added.id))
    if before is not None:
        stores.memories.save(replace(before, superseded_by=added.id))
    return added


def _predecessor(stores: Stores, memory: Memory) -> Memory | None:
    if memory.supersedes_id is None:
        return None
    return stores.memories.get(memory.owner, memory.supersedes_id)


def _restore_previous(stores: Stores, caller: Caller, over: Memory, now: float) -> Memory | None:
    """Make the last value before `over` that still has a source hold again."""
    if any(row.status is Status.ACTIVE for row in stores.memories.find_same_key(over.owner, over)):
        return None
    before = _predecessor(stores, over)
    while before is not None:
        may = before.status is Status.REVOKED and before.superseded_by is not None
        if may and not before.is_expired_at(now):
            back = replace(before, status=Status.ACTIVE, superseded_by=None, updated_at=now)
            stores.memories.save(back)
            refresh_slot(stores, caller, back, now)
            record_memory(stores, caller, "memory.restore", back, now)
            return back
        before = _predecessor(stores, before)
    return None


def _is_confirmed(stores: Stores, memory: Memory) -> bool:
    """Say whether a person has said yes to it: that is a source of its own."""
    changes = stores.audit.find(memory.owner.user, memory_id=memory.id)
    return any(change.event == "memory.confirm" for change in changes)


def _without_quote(stores: Stores, memory: Memory, now: float) -> Memory:
    """Drop a quote that stands in none of the messages left: its words may not stay."""
    wanted = MessageFilter(ids=memory.source_message_ids)
    rows: list[Message] = stores.messages.find(memory.owner, wanted)
    if not memory.quote or any(memory.quote in row.content for row in rows):
        return memory
    bare = replace(memory, quote="", updated_at=now)
    stores.memories.save(bare)
    return bare


def _copy_to_branches(stores: Stores, new: Memory) -> None:
    """What a new row has replaced still holds on branches that left before it was said."""
    replaced = _predecessor(stores, new)
    branches = stores.branches.all(new.owner) if replaced is not None else ()
    for branch in branches:
        if (branch.session_id, branch.parent_id) != (new.session_id, new.branch_id):
            continue
        if branch.from_message_id < first_source_message_id(new):
            assert replaced is not None
            copy_to_branch(stores, replaced, branch.session_id, branch.branch_id)


def copy_to_branch(stores: Stores, memory: Memory, session_id: str, branch_id: str) -> None:
    """Let a branch keep what its past knew, if it was known there and nothing newer is."""
    own = [row for row in stores.branches.all(memory.owner) if row.session_id == session_id]
    line = BranchAncestry({session_id: branch_ancestry(own, branch_id)})
    if not line.includes(memory.session_id, memory.branch_id, first_source_message_id(memory)):
        return
    copied = replace(
        memory,
        id=0,
        root_id=0,
        session_id=session_id,
        branch_id=branch_id,
        status=Status.ACTIVE,
        supersedes_id=None,
        superseded_by=None,
        idempotency_key="",
    )
    if not stores.memories.find_same_key(memory.owner, copied):
        stores.memories.add(copied)
