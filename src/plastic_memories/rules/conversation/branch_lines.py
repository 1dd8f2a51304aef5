"""Which part of a branched conversation is whose past. Pure: rows in, decisions out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from plastic_memories.model.memory import Memory
from plastic_memories.model.message import Message
from plastic_memories.model.recall import Hit, NearMiss
from plastic_memories.model.session import Branch

MAIN = ""


@dataclass(frozen=True, slots=True)
class Lines:
    """For each branched session the line that counts: its branches, each up to a message."""

    of_session: Mapping[str, Mapping[str, int | None]] = field(default_factory=dict)

    def hold(self, session_id: str, branch_id: str, message_id: int) -> bool:
        """Say whether a message is part of the line of its session."""
        line = self.of_session.get(session_id)
        if line is None or not message_id:
            return True
        if branch_id not in line:
            return False
        upto = line[branch_id]
        return upto is None or message_id <= upto

    def messages(self, rows: Iterable[Message]) -> list[Message]:
        return [row for row in rows if self.hold(row.session_id, row.branch_id, row.id)]

    def hits(self, found: Sequence[Hit]) -> Sequence[Hit]:
        """Leave out what a viewpoint must not see; the order stays."""
        if not self.of_session:
            return found
        kept = {memory.id for memory in self.memories([hit.memory for hit in found])}
        return [hit for hit in found if hit.memory.id in kept]

    def misses(self, found: Sequence[NearMiss], hits: Sequence[Hit]) -> Sequence[NearMiss]:
        """Leave out what a viewpoint must not see, by itself or as what another repeats.

        The hits beside them count where two branches say one thing.
        """
        if not self.of_session:
            return found
        rows = [*(hit.memory for hit in hits), *(miss.memory for miss in found)]
        kept = {memory.id for memory in self.memories(rows)}
        return [
            miss if miss.repeats is None or miss.repeats in kept else replace(miss, repeats=None)
            for miss in found
            if miss.memory.id in kept
        ]

    def memories(self, rows: Sequence[Memory]) -> list[Memory]:
        """Leave out what was learned elsewhere; of one thing said on two branches the newer counts.

        What was not learned from a message is known on every line.
        """
        if not self.of_session:
            return list(rows)
        seen = [row for row in rows if self.hold(row.session_id, row.branch_id, first_source(row))]
        newest: dict[tuple[object, ...], Memory] = {}
        for row in seen:
            other = newest.setdefault(_place(row), row)
            if said_at(row) > said_at(other):
                newest[_place(row)] = row
        branched = {_place(row) for row in seen if row.branch_id != MAIN}
        return [row for row in seen if _place(row) not in branched or newest[_place(row)] is row]


def line_of(branches: Iterable[Branch], branch_id: str) -> dict[str, int | None]:
    """Return a branch with its ancestors, each with the message up to which it is the past.

    >>> line_of([], "")
    {'': None}
    """
    known = {branch.branch_id: branch for branch in branches}
    line: dict[str, int | None] = {branch_id: None}
    while branch_id in known:
        branch = known[branch_id]
        branch_id = branch.parent_id
        line[branch_id] = branch.from_message_id
    return line


def lines_of(branches: Iterable[Branch], branch_ids: Iterable[str]) -> dict[str, int | None]:
    """Return several branches with their ancestors: all that at least one of them still says.

    >>> lines_of([], [])
    {}
    """
    known = list(branches)
    together: dict[str, int | None] = {}
    for branch_id in branch_ids:
        for part, upto in line_of(known, branch_id).items():
            other = together.get(part, 0)
            together[part] = None if upto is None or other is None else max(upto, other)
    return together


def said_at(memory: Memory) -> float:
    """Return when a memory's statement was made: its message's time, or that of the write."""
    if memory.source_message_ids and memory.occurred_at is not None:
        return memory.occurred_at
    return memory.created_at


def first_source(memory: Memory) -> int:
    return min(memory.source_message_ids, default=0)


def _place(memory: Memory) -> tuple[object, ...]:
    return (
        memory.owner,
        memory.bot_id,
        memory.scope,
        memory.scope_ref,
        memory.realm,
        memory.type,
        memory.key,
    )
