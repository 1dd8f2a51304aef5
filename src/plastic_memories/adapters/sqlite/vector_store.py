"""Vectors in the embedded database: a column of the entries, and the model's name beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import apsw

from plastic_memories.adapters.sqlite.connection import Params, execute, fetch, fetch_one
from plastic_memories.adapters.sqlite.entry_store import SqliteEntryStore, partition_params
from plastic_memories.adapters.sqlite.migrate import note
from plastic_memories.adapters.sqlite.queries import QUERIES
from plastic_memories.adapters.sqlite.rows import memory_of
from plastic_memories.model.entry import Partition
from plastic_memories.model.owner import User
from plastic_memories.model.vector import EntryMark, Unembedded
from plastic_memories.rules.ranking.searchable_text import memory_text

_MODEL = "vector_model"


class SqliteVectorStore:
    def __init__(self, db: apsw.Connection, entries: SqliteEntryStore) -> None:
        self._db = db
        self._entries = entries

    def model(self) -> str:
        row = fetch_one(self._db, "SELECT value FROM meta WHERE key = ?", (_MODEL,))
        return str(row["value"]) if row else ""

    def set_model(self, name: str) -> None:
        note(self._db, _MODEL, name)

    def waiting(self, after_id: int, limit: int) -> list[Unembedded]:
        rows = fetch(self._db, QUERIES["unembedded"], {"after_id": after_id, "limit": limit})
        return [
            Unembedded(
                Partition(User(row["tenant_id"], row["user_id"]), row.pop("partition_id")),
                row["id"],
                terms=row.pop("terms"),
                text=memory_text(memory_of(row)),
            )
            for row in rows
        ]

    def backlog(self, tenant_id: str | None = None) -> int:
        return self._number("count_unembedded", {"tenant_id": tenant_id})

    def stored(self, tenant_id: str | None = None) -> int:
        entries = self._number("count_entries", {"tenant_id": tenant_id})
        return entries - self.backlog(tenant_id)

    def put(self, model: str, rows: Sequence[tuple[Unembedded, bytes]]) -> int:
        if self.model() != model:
            return 0
        stored = 0
        for partition, some in _by_partition(rows).items():
            params = partition_params(partition)
            # One revision for all of them: a reader asks for what is newer than it knows.
            params["revision"] = self._entries.next_revision(partition, removed=False)
            for row, vector in some:
                more = {"memory_id": row.memory_id, "terms": row.terms, "vector": vector}
                stored += execute(self._db, QUERIES["put_vector"], {**params, **more})
        return stored

    def clear(self, after: EntryMark, limit: int) -> EntryMark | None:
        params = {
            "after_tenant": after.tenant_id,
            "after_user": after.user_id,
            "after_partition": after.partition_id,
            "after_id": after.memory_id,
            "limit": limit,
        }
        rows = fetch(self._db, QUERIES["entries_after"], params)
        ids: defaultdict[Partition, list[int]] = defaultdict(list)
        for row in rows:
            if row.pop("embedded"):
                user = User(row["tenant_id"], row["user_id"])
                ids[Partition(user, row["partition_id"])].append(row["memory_id"])
        for partition, some in ids.items():
            self._clear(partition, some)
        return EntryMark(**rows[-1]) if rows else None

    def _clear(self, partition: Partition, memory_ids: Sequence[int]) -> None:
        params = partition_params(partition)
        params["revision"] = self._entries.next_revision(partition, removed=False)
        for memory_id in memory_ids:
            self._db.execute(QUERIES["clear_vector"], {**params, "memory_id": memory_id})

    def _number(self, query: str, params: Params | None = None) -> int:
        row = fetch_one(self._db, QUERIES[query], params or {})
        return int(row["n"]) if row else 0


def _by_partition(
    rows: Sequence[tuple[Unembedded, bytes]],
) -> dict[Partition, list[tuple[Unembedded, bytes]]]:
    found: defaultdict[Partition, list[tuple[Unembedded, bytes]]] = defaultdict(list)
    for row, vector in rows:
        found[row.partition].append((row, vector))
    return found
