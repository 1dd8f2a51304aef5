"""Memories in the embedded database."""

from __future__ import annotations

import logging
import math
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import apsw

from plastic_memories.adapters.sqlite.connection import execute, fetch, fetch_one, insert_all, run
from plastic_memories.adapters.sqlite.entry_store import SqliteEntryStore
from plastic_memories.adapters.sqlite.filters import OUTLINE, select
from plastic_memories.adapters.sqlite.queries import QUERIES
from plastic_memories.adapters.sqlite.rows import (
    memory_of,
    memory_params,
    outline_of,
    owner_params,
    to_json,
    view_params,
)
from plastic_memories.adapters.sqlite.text_index import Fts5Index, PartitionLookup
from plastic_memories.language.text.tokens import index_terms
from plastic_memories.model.entry import is_shared
from plastic_memories.model.memory import Draft, Memory, MemoryOutline, Status
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.model.recall import TextMatches
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.rules.ranking.searchable_text import searchable_text

logger = logging.getLogger(__name__)
# With this many rows it pays to look up how common each term is before searching for it.
_LARGE_PARTITION = 2000
# Without the index, this many of the newest rows are searched.
_MAX_SCANNED = 5000


class SqliteMemoryStore:
    def __init__(
        self,
        db: apsw.Connection,
        index: Fts5Index | None,
        partitions: PartitionLookup,
        entries: SqliteEntryStore,
    ) -> None:
        self._db = db
        self._index = index
        self._partitions = partitions
        self._entries = entries
        # What this transaction was told.
        self._first_end: float | None = None
        self._free: set[tuple[Owner, str, str]] = set()  # no live row has this type and key

    def get(self, owner: Owner, memory_id: int) -> Memory | None:
        row = fetch_one(self._db, QUERIES["get_memory"], {**owner_params(owner), "id": memory_id})
        return memory_of(row) if row else None

    def find(self, owner: Owner, wanted: MemoryFilter) -> list[Memory]:
        sql, params = select("memory_items", wanted)
        rows = fetch(self._db, sql, {**owner_params(owner), **params})
        return [memory_of(row) for row in rows]

    def outlines(self, owner: Owner, wanted: MemoryFilter) -> list[MemoryOutline]:
        sql, params = select("memory_items", wanted, columns=OUTLINE)
        rows = run(self._db, sql, {**owner_params(owner), **params})
        return [outline_of(owner, row) for row in rows]

    def find_global(self, owner: Owner, wanted: MemoryFilter) -> list[Memory]:
        sql, params = select("memory_items", wanted, all_personas=True)
        rows = fetch(self._db, sql, {**owner_params(owner), **params})
        return [memory_of(row) for row in rows]

    def find_same_key(self, owner: Owner, memory: Memory | Draft) -> list[Memory]:
        if (owner, memory.type.value, memory.key) in self._free:
            return []
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
        return [memory_of(row) for row in fetch(self._db, QUERIES["same_place"], params)]

    def prefetch_same_key(self, owner: Owner, drafts: Sequence[Draft]) -> None:
        # Only what JSON is sure to carry as it is; other keys are asked for one by one.
        wanted = {(d.type.value, d.key) for d in drafts if d.key.isprintable()}
        for kind in {kind for kind, _ in wanted}:
            keys = [key for its, key in wanted if its == kind]
            params = {**owner_params(owner), "type": kind, "keys": to_json(keys)}
            live = {row[0] for row in run(self._db, QUERIES["live_keys"], params)}
            self._free.update((owner, kind, key) for key in keys if key not in live)

    def core(self, view: Viewpoint, now: float) -> list[Memory]:
        rows = fetch(self._db, QUERIES["core_memories"], {**view_params(view), "now": now})
        return [memory_of(row) for row in rows]

    def search(self, view: Viewpoint, terms: Sequence[str], limit: int, now: float) -> TextMatches:
        if not terms:
            return TextMatches()
        if self._index is None:
            return self._scan(view, terms, limit, now)
        try:
            return self._search(self._index, view, terms, limit, now)
        except apsw.SQLError as error:
            # The index can be damaged or dropped while we run; the rows are still there.
            logger.warning("fts.fallback", extra={"fields": {"err": str(error)[:200]}})
            return self._scan(view, terms, limit, now)

    def visible(self, view: Viewpoint, memory_ids: Collection[int], now: float) -> list[Memory]:
        params = {**view_params(view), "now": now, "ids": to_json(list(memory_ids))}
        return [memory_of(row) for row in fetch(self._db, QUERIES["seen_memory"], params)]

    def ids_in_session(self, view: Viewpoint) -> list[int]:
        params = {**view_params(view), "only_session": True}
        return [row["id"] for row in fetch(self._db, QUERIES["ids_in_session"], params)]

    def next_expiry(self) -> float:
        """Return when the next of all memories expires.

        While a transaction writes, nobody else does: it asks once, and again when it has stored
        a memory that expires.
        """
        if self._first_end is None:
            row = run(self._db, QUERIES["first_end"]).fetchone()
            self._first_end = math.inf if row is None else float(row[0])
        return self._first_end

    def add(self, memory: Memory) -> Memory:
        [added] = self.add_all([memory])
        return added

    def add_all(self, memories: Sequence[Memory]) -> list[Memory]:
        ids = insert_all(self._db, QUERIES["add_memory"], map(memory_params, memories))
        added = [
            replace(memory, id=row_id, root_id=memory.root_id or row_id)
            for row_id, memory in zip(ids, memories, strict=True)
        ]
        for memory in added:
            self._free.discard((memory.owner, memory.type.value, memory.key))
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
        execute(self._db, QUERIES["save_memory"], memory_params(memory))
        self._free.clear()
        self._track_expiry(memory)
        self._index_rows([memory])

    def move(self, memory: Memory) -> None:
        before = self.get(memory.owner, memory.id)
        if before is None:
            return
        self._unindex(before)
        self._entries.remove(before)
        execute(self._db, QUERIES["move_memory"], memory_params(memory))
        self._free.clear()
        self._track_expiry(memory)
        self._index_rows([memory])

    def set_sources(self, memory: Memory, message_ids: Collection[int]) -> Memory:
        changed = replace(memory, source_message_ids=tuple(sorted(message_ids)))
        self._execute("erase_sources", changed)
        self._add_sources(changed)
        sources = to_json(changed.source_message_ids)
        self._execute("set_sources", changed, source_message_ids=sources)
        return changed

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
            texts: defaultdict[str, list[str]] = defaultdict(list)
            for memory in gone:
                texts[self._partition(memory)].append(searchable_text(memory))
            for partition, erased in texts.items():
                self._index.erase_words(partition, erased)

    def touch(self, recalled: Sequence[tuple[Owner, int]], now: float) -> None:
        for owner, memory_id in recalled:
            self._db.execute(
                QUERIES["touch_memory"], {**owner_params(owner), "id": memory_id, "now": now}
            )

    def reindex(self, owner: Owner, *, keep_vectors: bool = False) -> int:
        """Make the index entries of this owner's rows anew; return how many."""
        rows = self.find(owner, MemoryFilter())
        for memory in rows:
            self._unindex(memory)
            if memory.status is not Status.ACTIVE or not keep_vectors:
                self._entries.remove(memory)
        self._index_rows(rows, same_text=True)
        return sum(memory.status is Status.ACTIVE for memory in rows)

    def _track_expiry(self, memory: Memory) -> None:
        if memory.expires_at is not None:
            self._first_end = None

    def _execute(self, query: str, memory: Memory, **more: Any) -> None:
        params = {**owner_params(memory.owner), "id": memory.id, **more}
        self._db.execute(QUERIES[query], params)

    def _search(
        self, index: Fts5Index, view: Viewpoint, terms: Sequence[str], limit: int, now: float
    ) -> TextMatches:
        own = self._partitions.of_persona(view.owner)
        shared = self._partitions.of_user(view.owner.user)
        partitions = [part for part in (own, shared) if part]
        documents = self._count_up_to_large(view)
        if documents >= _LARGE_PARTITION:
            terms = index.without_common_terms(partitions, terms, documents)
        match = index.match_expression(partitions, terms)
        if not match:
            return TextMatches()
        params = {**view_params(view), "now": now, "match": match, "limit": limit}
        rows = fetch(self._db, QUERIES["search_memory"], params)
        return TextMatches([memory_of(row) for row in rows], [row["score"] for row in rows])

    def _count_up_to_large(self, view: Viewpoint) -> int:
        """Count the active rows, but no further than it takes to call them many."""
        row = fetch_one(
            self._db,
            QUERIES["count_active"],
            {**owner_params(view.owner), "limit": _LARGE_PARTITION},
        )
        return int(row["n"]) if row else 0

    def _scan(self, view: Viewpoint, terms: Sequence[str], limit: int, now: float) -> TextMatches:
        """Search without an index: the newest visible rows are looked at one by one."""
        params = {**view_params(view), "now": now, "limit": _MAX_SCANNED}
        rows = [memory_of(row) for row in fetch(self._db, QUERIES["scan_memory"], params)]
        wanted = frozenset(terms)
        scored = [
            (len(wanted.intersection(index_terms(searchable_text(row)))), row) for row in rows
        ]
        found = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])[:limit]
        return TextMatches(
            [row for _, row in found], [float(score) for score, _ in found], degraded=True
        )

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
        if self._index is not None and self._index.is_indexed(memory.id):
            self._index.remove(memory.id, self._partition(memory), searchable_text(memory))

    def _partition(self, memory: Memory) -> str:
        if is_shared(memory):
            partition = self._partitions.of_user(memory.owner.user)
        else:
            partition = self._partitions.of_persona(memory.owner)
        assert partition, "a persona exists from the first time it is named"
        return partition
