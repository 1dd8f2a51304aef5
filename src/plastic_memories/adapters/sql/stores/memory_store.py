"""Memories in an SQL database."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from plastic_memories.adapters.sql.partition_lookup import PartitionLookup
from plastic_memories.adapters.sql.record_columns import to_json
from plastic_memories.adapters.sql.rows import (
    memory_of,
    memory_params,
    owner_params,
)
from plastic_memories.adapters.sql.sql_session import SqlSession
from plastic_memories.adapters.sql.statement_builder import select
from plastic_memories.adapters.sql.stores.entry_store import SqlEntryStore
from plastic_memories.adapters.sql.text_index import TextIndex, TextPartition
from plastic_memories.language.text.tokens import index_terms
from plastic_memories.model.entry import is_shared
from plastic_memories.model.memory import RETRACTED_TEXT, Draft, Memory, MemoryType, Status
from plastic_memories.model.owner import Owner
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.rules.ranking.searchable_text import searchable_text

_LIVE = (Status.ACTIVE, Status.CANDIDATE)


class SqlMemoryStore:
    def __init__(
        self,
        session: SqlSession,
        index: TextIndex | None,
        partitions: PartitionLookup,
        entries: SqlEntryStore,
    ) -> None:
        self._session = session
        self._index = index
        self._partitions = partitions
        self._entries = entries
        self._next_expiry: float | None = None  # as this transaction has read it

    def get(self, owner: Owner, memory_id: int) -> Memory | None:
        row = self._session.fetch_one("get_memory", {**owner_params(owner), "id": memory_id})
        return memory_of(row) if row else None

    def find(self, owner: Owner, wanted: MemoryFilter) -> list[Memory]:
        sql, params = select(self._session.dialect, "memory_items", wanted)
        rows = self._session.fetch(sql, {**owner_params(owner), **params})
        return [memory_of(row) for row in rows]

    def find_same_key(self, owner: Owner, memory: Memory | Draft) -> list[Memory]:
        params = {
            **owner_params(owner),
            "type": memory.type,
            "mkey": memory.key,
            "bot_id": memory.bot_id,
            "realm": memory.realm,
            "scope": memory.scope,
            "scope_ref": memory.scope_ref,
            "branch_id": memory.branch_id,
        }
        return [memory_of(row) for row in self._session.fetch("same_place", params)]

    def find_live_keys(
        self, owner: Owner, keys: Collection[tuple[MemoryType, str]]
    ) -> set[tuple[MemoryType, str]]:
        live: set[tuple[MemoryType, str]] = set()
        for kind in {kind for kind, _ in keys}:
            of_kind = {key for its, key in keys if its is kind}
            # Not every engine's array carries unprintable text unchanged: such keys go one by one.
            many = [key for key in of_kind if key.isprintable()]
            params = {
                **owner_params(owner),
                "type": kind,
                "keys": self._session.dialect.array(many),
            }
            live.update((kind, row["mkey"]) for row in self._session.fetch("live_keys", params))
            odd = of_kind.difference(many)
            live.update((kind, key) for key in odd if self._is_live(owner, kind, key))
        return live

    def next_expiry(self) -> float:
        """Return when the next of all memories expires.

        A transaction reads it once, and again when it has stored a memory that expires.
        """
        if self._next_expiry is None:
            row = self._session.fetch_one("first_end")
            self._next_expiry = math.inf if row is None else float(row["expires_at"])
        return self._next_expiry

    def add(self, memory: Memory) -> Memory:
        [added] = self.add_all([memory])
        return added

    def add_all(self, memories: Sequence[Memory]) -> list[Memory]:
        ids = self._session.insert_many("add_memory", map(memory_params, memories))
        added = [
            replace(memory, id=row_id, root_id=memory.root_id or row_id)
            for row_id, memory in zip(ids, memories, strict=True)
        ]
        for memory in added:
            self._track_expiry(memory)
            self._add_sources(memory)
        self._index_rows(added)
        return added

    def save(self, memory: Memory) -> None:
        before = self.get(memory.owner, memory.id)
        if before is None:  # another owner's row, or none: neither is ours to change
            return
        self._unindex(before)
        if before.status is Status.ACTIVE is not memory.status:
            self._entries.remove(before)
        self._session.execute("save_memory", memory_params(memory))
        self._track_expiry(memory)
        self._index_rows([memory])

    def move(self, memory: Memory) -> None:
        before = self.get(memory.owner, memory.id)
        if before is None:
            return
        self._unindex(before)
        self._entries.remove(before)
        self._session.execute("move_memory", memory_params(memory))
        self._track_expiry(memory)
        self._index_rows([memory])

    def set_sources(self, memory: Memory, message_ids: Collection[int]) -> Memory:
        changed = replace(memory, source_message_ids=tuple(sorted(message_ids)))
        self._execute("erase_sources", changed)
        self._add_sources(changed)
        sources = to_json(changed.source_message_ids)
        self._execute("set_sources", changed, source_message_ids=sources)
        return changed

    def redact(self, memory: Memory) -> Memory:
        before = self.get(memory.owner, memory.id)
        if before is None or before.status in _LIVE:
            return memory
        redacted = replace(
            before,
            key=f"retracted.{before.id}",
            content=RETRACTED_TEXT,
            quote="",
            tags=(),
            metadata={},
            attributes={},
            idempotency_key="",
        )
        self._session.execute("redact_memory", memory_params(redacted))
        if self._index is not None:
            self._index.erase_words(self._partition(before), [searchable_text(before)])
        return redacted

    def erase(self, owner: Owner, memory_ids: Collection[int], now: float) -> None:
        gone = self.find(owner, MemoryFilter(ids=memory_ids))
        for memory in gone:
            self._unindex(memory)
            self._entries.remove(memory)
            self._execute("erase_sources", memory)
            self._execute("erase_links_to", memory)
            self._execute("erase_memory", memory)
            self._execute("note_erasure", memory, kind="memory", row_id=memory.id, now=now)
        if self._index is not None:
            texts: defaultdict[TextPartition, list[str]] = defaultdict(list)
            for memory in gone:
                texts[self._partition(memory)].append(searchable_text(memory))
            for partition, erased in texts.items():
                self._index.erase_words(partition, erased)

    def reindex(self, owner: Owner, *, keep_vectors: bool = False) -> int:
        """Make the index entries of this owner's rows anew; return how many."""
        rows = self.find(owner, MemoryFilter())
        for memory in rows:
            self._unindex(memory)
            if memory.status is not Status.ACTIVE or not keep_vectors:
                self._entries.remove(memory)
        self._index_rows(rows, same_text=True)
        return sum(memory.status is Status.ACTIVE for memory in rows)

    def _is_live(self, owner: Owner, kind: MemoryType, key: str) -> bool:
        return bool(self.find(owner, MemoryFilter(types=[kind], key=key, statuses=_LIVE, limit=1)))

    def _track_expiry(self, memory: Memory) -> None:
        if memory.expires_at is not None:
            self._next_expiry = None

    def _execute(self, query: str, memory: Memory, **more: Any) -> None:
        params = {**owner_params(memory.owner), "id": memory.id, **more}
        self._session.execute(query, params)

    def _add_sources(self, memory: Memory) -> None:
        for message_id in memory.source_message_ids:
            self._execute("add_source", memory, message_id=message_id, memory_id=memory.id)

    def _index_rows(self, memories: Sequence[Memory], *, same_text: bool = False) -> None:
        active = [
            (memory, index_terms(searchable_text(memory)))
            for memory in memories
            if memory.status is Status.ACTIVE
        ]
        self._entries.put(active, same_text=same_text)
        if self._index is not None:
            self._index.put((row.id, self._partition(row), terms) for row, terms in active)

    def _unindex(self, memory: Memory) -> None:
        if self._index is not None:
            self._index.remove(memory.id, self._partition(memory), searchable_text(memory))

    def _partition(self, memory: Memory) -> TextPartition:
        if is_shared(memory):
            partition = self._partitions.of_user(memory.owner.user)
        else:
            partition = self._partitions.of_persona(memory.owner)
        assert partition, "a persona exists from the first time it is named"
        return partition
