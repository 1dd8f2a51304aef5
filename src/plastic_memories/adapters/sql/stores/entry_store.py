"""What ranking reads, in an SQL database: one table, clustered by partition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from plastic_memories.adapters.sql.rows import user_params
from plastic_memories.adapters.sql.sql_session import Params, SqlSession
from plastic_memories.language.text.tokens import is_question, term_codes
from plastic_memories.model.entry import (
    EntryVisibility,
    IndexEntry,
    Partition,
    PartitionChanges,
    partition_of,
)
from plastic_memories.model.memory import Memory, Scope
from plastic_memories.model.owner import Realm
from plastic_memories.rules.prompt.always_told import is_exempt_from_decay


class SqlEntryStore:
    def __init__(self, session: SqlSession) -> None:
        self._session = session
        self._revisions: dict[tuple[Partition, bool], int] = {}

    def changes_since(self, partition: Partition, known: int = 0) -> PartitionChanges:
        params = partition_params(partition)
        now = self._session.fetch_one("get_partition", params)
        if now is None or now["revision"] <= known:
            return PartitionChanges(known)
        params["known"] = known
        entries = [_entry(row) for row in self._session.fetch_tuples("changed_entries", params)]
        if known == 0 or now["removed"] <= known:
            return PartitionChanges(now["revision"], entries)
        present = [row["memory_id"] for row in self._session.fetch("present_entries", params)]
        return PartitionChanges(now["revision"], entries, present)

    def put(self, memories: Iterable[tuple[Memory, list[str]]], *, same_text: bool = False) -> None:
        """Add the entries of active memories, or bring them up to date: each with its terms.

        A vector stays as long as the terms are the same, or the text is said to be.
        """
        rows = (self._params(memory, terms, same_text) for memory, terms in memories)
        self._session.execute_many("put_entry", rows)

    def _params(self, memory: Memory, terms: list[str], same_text: bool) -> Params:
        partition = partition_of(memory)
        happened = memory.created_at if memory.occurred_at is None else memory.occurred_at
        return {
            **partition_params(partition),
            "memory_id": memory.id,
            "revision": self.next_revision(partition, removed=False),
            "bot_id": memory.bot_id,
            "branch_id": memory.branch_id,
            "realm": memory.realm,
            "scope": memory.scope,
            "scope_ref": memory.scope_ref,
            "session_id": memory.session_id,
            "speaker": memory.speaker,
            "happened_at": happened,
            "expires_at": memory.expires_at,
            "importance": memory.importance,
            "ageless": int(is_exempt_from_decay(memory)),
            "same_text": same_text,
            "terms": term_codes(terms, asks=is_question(memory.content)),
        }

    def remove(self, memory: Memory) -> None:
        partition = partition_of(memory)
        params = {**partition_params(partition), "memory_id": memory.id}
        if self._session.execute("remove_entry", params):
            self.next_revision(partition, removed=True)

    def next_revision(self, partition: Partition, *, removed: bool) -> int:
        """Return the number of a change to this partition; return whether it takes something away.

        All changes of a transaction share one: nobody sees the first of them without the last.
        """
        change = partition, removed
        if change not in self._revisions:
            params = {**partition_params(partition), "removed": removed}
            if not self._session.execute("next_revision", params):
                self._session.execute("first_revision", params)
            [row] = self._session.fetch("get_partition", params)
            self._revisions[change] = int(row["revision"])
        return self._revisions[change]


def partition_params(partition: Partition) -> dict[str, Any]:
    return {**user_params(partition.user), "partition_id": partition.persona_id}


def _entry(row: Sequence[Any]) -> IndexEntry:
    # By position: a partition may have a hundred thousand of these.
    (
        memory_id, bot_id, branch_id, realm, scope, scope_ref, session_id, speaker,
        happened_at, expires_at, importance, ageless, terms, vector,
    ) = row  # fmt: skip
    return IndexEntry(
        memory_id=memory_id,
        place=_entry_place(bot_id, branch_id, realm, scope, scope_ref),
        session_id=session_id,
        speaker=speaker,
        happened_at=happened_at,
        expires_at=expires_at,
        importance=importance,
        ageless=bool(ageless),
        terms=terms,
        vector=vector,
    )


@lru_cache(maxsize=1024)
def _entry_place(
    bot_id: str, branch_id: str, realm: str, scope: str, scope_ref: str
) -> EntryVisibility:
    return EntryVisibility(bot_id, branch_id, Realm(realm), Scope(scope), scope_ref)
