"""Branch ancestry: which messages and memories are visible on a branch of a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from plastic_memories.model.memory import Memory, MemoryType
from plastic_memories.model.message import Message
from plastic_memories.model.recall import Hit, NearMiss, Utterance
from plastic_memories.model.session import Branch

MAIN_BRANCH = ""


@dataclass(frozen=True, slots=True)
class BranchAncestry:
    """For each branched session, its visible branches, each up to a message id."""

    limits_by_session: Mapping[str, Mapping[str, int | None]] = field(default_factory=dict)

    def includes(self, session_id: str, branch_id: str, message_id: int) -> bool:
        """Return whether a message is visible in its session."""
        limits = self.limits_by_session.get(session_id)
        if limits is None or not message_id:
            return True
        if branch_id not in limits:
            return False
        last_id = limits[branch_id]
        return last_id is None or message_id <= last_id

    def visible_messages(self, rows: Iterable[Message]) -> list[Message]:
        return [row for row in rows if self.includes(row.session_id, row.branch_id, row.id)]

    def visible_utterances(self, found: Sequence[Utterance]) -> Sequence[Utterance]:
        """Return the utterances on this branch in the same order."""
        visible_ids = {row.id for row in self.visible_messages(one.message for one in found)}
        return [one for one in found if one.message.id in visible_ids]

    def visible_hits(self, hits: Sequence[Hit]) -> Sequence[Hit]:
        """Return the visible hits in the same order."""
        if not self.limits_by_session:
            return hits
        visible_ids = {memory.id for memory in self.visible_memories([hit.memory for hit in hits])}
        return [hit for hit in hits if hit.memory.id in visible_ids]

    def visible_near_misses(
        self, misses: Sequence[NearMiss], hits: Sequence[Hit]
    ) -> Sequence[NearMiss]:
        """Return the visible near misses; a `repeats` that is not visible becomes None.

        The hits take part where two branches state the same key.
        """
        if not self.limits_by_session:
            return misses
        rows = [*(hit.memory for hit in hits), *(miss.memory for miss in misses)]
        visible_ids = {memory.id for memory in self.visible_memories(rows)}
        return [
            miss
            if miss.repeats is None or miss.repeats in visible_ids
            else replace(miss, repeats=None)
            for miss in misses
            if miss.memory.id in visible_ids
        ]

    def visible_memories(self, rows: Sequence[Memory]) -> list[Memory]:
        """Return the memories of visible messages; of one key stated on two branches, the newest.

        A memory that was not learned from a message is visible on every branch.
        """
        if not self.limits_by_session:
            return list(rows)
        seen = [
            row
            for row in rows
            if self.includes(row.session_id, row.branch_id, _deciding_message_id(row))
        ]
        newest: dict[tuple[object, ...], Memory] = {}
        for row in seen:
            other = newest.setdefault(_identity_key(row), row)
            if statement_time(row) > statement_time(other):
                newest[_identity_key(row)] = row
        branched = {_identity_key(row) for row in seen if row.branch_id != MAIN_BRANCH}
        return [
            row
            for row in seen
            if _identity_key(row) not in branched or newest[_identity_key(row)] is row
        ]


def branch_ancestry(branches: Iterable[Branch], branch_id: str) -> dict[str, int | None]:
    """Return a branch and its ancestors, each with the last message id that belongs to the branch.

    >>> branch_ancestry([], "")
    {'': None}
    """
    by_id = {branch.branch_id: branch for branch in branches}
    limits: dict[str, int | None] = {branch_id: None}
    while branch_id in by_id:
        branch = by_id[branch_id]
        branch_id = branch.parent_id
        limits[branch_id] = branch.from_message_id
    return limits


def merged_ancestry(branches: Iterable[Branch], branch_ids: Iterable[str]) -> dict[str, int | None]:
    """Return several branches with their ancestors, each up to the last message any of them sees.

    >>> merged_ancestry([], [])
    {}
    """
    all_branches = list(branches)
    limits: dict[str, int | None] = {}
    for branch_id in branch_ids:
        for ancestor, last_id in branch_ancestry(all_branches, branch_id).items():
            other = limits.get(ancestor, 0)
            limits[ancestor] = None if last_id is None or other is None else max(last_id, other)
    return limits


def statement_time(memory: Memory) -> float:
    """Return when the statement was made: the time of its message, else of the write."""
    if memory.source_message_ids and memory.occurred_at is not None:
        return memory.occurred_at
    return memory.created_at


def first_source_message_id(memory: Memory) -> int:
    return min(memory.source_message_ids, default=0)


def _deciding_message_id(memory: Memory) -> int:
    """Return the message that must be visible: a summary tells all of its messages."""
    if memory.type is MemoryType.SUMMARY:
        return max(memory.source_message_ids, default=0)
    return first_source_message_id(memory)


def _identity_key(memory: Memory) -> tuple[object, ...]:
    return (
        memory.owner,
        memory.bot_id,
        memory.scope,
        memory.scope_ref,
        memory.realm,
        memory.type,
        memory.key,
    )
