"""Store memories extracted from a conversation in chronological order, and retract them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from plastic_memories.hub.formation.correcting_messages import restore_corrected
from plastic_memories.hub.memories.write import WriteOutcome, has_tombstone, write_in_transaction
from plastic_memories.hub.transactions.audit_events import record_memory
from plastic_memories.hub.transactions.version_chain import refresh_slot
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Draft, Memory, MemoryType, SourceType, Status
from plastic_memories.model.owner import Owner
from plastic_memories.model.session import Branch
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.rules.conversation.branch_lines import (
    BranchAncestry,
    branch_ancestry,
    first_source_message_id,
    statement_time,
)
from plastic_memories.rules.lifecycle.tombstones import NEVER_AGAIN
from plastic_memories.rules.lifecycle.transitions import (
    comparable_value,
    end_memory,
    memory_from_draft,
)
from plastic_memories.rules.lifecycle.user_facts import as_stored, with_user_scope


@dataclass(frozen=True, slots=True)
class RetractionOutcome:
    """What a retraction ended, what it restored, and what other sources still support."""

    retracted: list[Memory] = field(default_factory=list)
    restored: list[Memory] = field(default_factory=list)
    kept: list[Memory] = field(default_factory=list)


def store_learned_draft(
    stores: Stores, caller: Caller, owner: Owner, draft: Draft, now: float, *, echo: bool = False
) -> WriteOutcome:
    """Store a draft extracted from a conversation.

    A repeated statement is one more source of the known memory. A statement older than the
    current value does not replace it: it is inserted into its version history. An echo of
    injected text may add a source, but makes no new memory.
    """
    if has_tombstone(stores, owner, draft):
        return WriteOutcome(None, updated=False, skipped=NEVER_AGAIN)
    live = stores.memories.find_same_key(owner, with_user_scope(draft))
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
        _copy_to_branches(stores, owner, written.memory)
    return written


def retract(
    stores: Stores, caller: Caller, owner: Owner, message_ids: Sequence[int], now: float
) -> RetractionOutcome:
    """Retract what was learned from messages, unless another source supports it.

    A value that had been replaced is restored; a summary always ends, for it may quote them. What
    ends keeps none of its words: the messages that said them are gone.
    """
    outcome = RetractionOutcome()
    removed = set(message_ids)
    replaced_others: list[Memory] = []
    all_ended: list[Memory] = []
    for row in stores.memories.find(owner, MemoryFilter(source_message_ids=removed)):
        left = [source for source in row.source_message_ids if source not in removed]
        if row.type is not MemoryType.SUMMARY and (left or _is_confirmed(stores, row)):
            detached = stores.memories.set_sources(row, left)
            outcome.kept.append(without_hidden_quote(stores, owner, detached, now))
            continue
        was_active = row.status is Status.ACTIVE
        is_live = row.status in (Status.ACTIVE, Status.CANDIDATE)
        detached = stores.memories.set_sources(row, left if row.type is MemoryType.SUMMARY else ())
        # Without a successor it cannot be restored later either.
        ended = replace(end_memory(detached, now) if is_live else detached, superseded_by=None)
        stores.memories.save(ended)
        all_ended.append(ended)
        if not is_live:
            continue
        refresh_slot(stores, caller, ended, now)
        record_memory(stores, caller, "memory.retract", ended, now)
        outcome.retracted.append(ended)
        replaced_others += [ended] if was_active else []
    # Only after the loop: a restored value must not be one that is retracted as well.
    restored_rows = [restore_previous(stores, caller, ended, now) for ended in replaced_others]
    outcome.restored.extend(row for row in restored_rows if row is not None)
    outcome.restored.extend(restore_corrected(stores, caller, owner, message_ids, now))
    for ended in all_ended:
        stores.memories.redact(ended)
    return outcome


def end_summaries(stores: Stores, caller: Caller, instead: Draft, owner: Owner, now: float) -> None:
    """End other summaries of the same messages: they were read again in different windows."""
    wanted = MemoryFilter(
        statuses={Status.ACTIVE},
        types={MemoryType.SUMMARY},
        source_message_ids=set(instead.source_message_ids),
    )
    for row in stores.memories.find(owner, wanted):
        if row.key != instead.key:
            ended = end_memory(row, now)
            stores.memories.save(ended)
            record_memory(stores, caller, "memory.retract", ended, now)


def _is_repeat(draft: Draft, row: Memory) -> bool:
    same_day = draft.attributes.get("date") == row.attributes.get("date")
    return same_day and comparable_value(draft) == comparable_value(row)


def _was_learned(stores: Stores, owner: Owner, draft: Draft) -> bool:
    """Return whether the same message has taught this before, and it is no longer active.

    A conversation may be read again: what was revoked or replaced since stays so.
    """
    if not draft.source_message_ids or draft.type is MemoryType.SUMMARY:
        return False
    wanted = MemoryFilter(types={draft.type}, source_message_ids=set(draft.source_message_ids))
    return any(
        (row.key, row.realm) == (draft.key, draft.realm) and _is_repeat(draft, row)
        for row in stores.memories.find(owner, wanted)
    )


def _add_sources(stores: Stores, row: Memory, draft: Draft) -> Memory:
    """Add the draft's messages to the sources of a memory.

    A memory that a person wrote has no sources: an edited message must not retract it.
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
    """Insert an older value before `later` in its history; it is restored if that is retracted."""
    past = as_stored(memory_from_draft(owner, draft, now, Status.REVOKED))
    before = _predecessor(stores, later)
    while before is not None and statement_time(before) > statement_time(past):
        later, before = before, _predecessor(stores, before)
    added = stores.memories.add(
        replace(
            past,
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


def restore_previous(stores: Stores, caller: Caller, ended: Memory, now: float) -> Memory | None:
    """Reactivate the latest value before `ended` that still has a source."""
    if any(
        row.status is Status.ACTIVE for row in stores.memories.find_same_key(ended.owner, ended)
    ):
        return None
    previous = _predecessor(stores, ended)
    while previous is not None:
        was_replaced = previous.status is Status.REVOKED and previous.superseded_by is not None
        if was_replaced and not previous.is_expired_at(now):
            restored = replace(previous, status=Status.ACTIVE, superseded_by=None, updated_at=now)
            stores.memories.save(restored)
            refresh_slot(stores, caller, restored, now)
            record_memory(stores, caller, "memory.restore", restored, now)
            return restored
        previous = _predecessor(stores, previous)
    return None


def _is_confirmed(stores: Stores, memory: Memory) -> bool:
    """Return whether a person has confirmed it: that counts as a source."""
    changes = stores.audit.find(memory.owner.user, memory_id=memory.id)
    return any(change.event == "memory.confirm" for change in changes)


def without_hidden_quote(stores: Stores, owner: Owner, memory: Memory, now: float) -> Memory:
    """Drop a quote that no remaining source shows: its text may not stay."""
    wanted = MessageFilter(ids=memory.source_message_ids)
    # A user fact may have been told to two personas.
    owners = {owner, replace(owner, persona_id=memory.told_to or owner.persona_id)}
    rows = [row for one in owners for row in stores.messages.find(one, wanted)]
    if not memory.quote or any(memory.quote in row.visible_text for row in rows):
        return memory
    unquoted = replace(memory, quote="", updated_at=now)
    stores.memories.save(unquoted)
    return unquoted


def _copy_to_branches(stores: Stores, owner: Owner, new: Memory) -> None:
    """Copy the replaced value to branches that split off before the new one was stated."""
    replaced = _predecessor(stores, new)
    branches = stores.branches.all(owner) if replaced is not None else ()
    for branch in branches:
        if (branch.session_id, branch.parent_id) != (new.session_id, new.branch_id):
            continue
        if branch.from_message_id < first_source_message_id(new):
            assert replaced is not None
            copy_to_branch(stores, replaced, branch)


def copy_to_branch(stores: Stores, memory: Memory, branch: Branch) -> None:
    """Copy a memory to a branch if the branch's past contains it and nothing newer exists."""
    session_id, branch_id = branch.session_id, branch.branch_id
    own = [row for row in stores.branches.all(branch.owner) if row.session_id == session_id]
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
