"""Vectors in an SQL database: a column of the entries, and the model's name beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from plastic_memories.adapters.sql.rows import memory_of
from plastic_memories.adapters.sql.sql_session import Params, SqlSession
from plastic_memories.adapters.sql.stores.entry_store import SqlEntryStore, partition_params
from plastic_memories.model.entry import EntryCursor, Partition, PendingEmbedding
from plastic_memories.model.owner import User
from plastic_memories.rules.ranking.searchable_text import searchable_text

_MODEL_KEY = "vector_model"


class SqlVectorStore:
    def __init__(self, session: SqlSession, entries: SqlEntryStore) -> None:
        self._session = session
        self._entries = entries

    def model(self) -> str:
        row = self._session.fetch_one("get_meta", {"key": _MODEL_KEY})
        return str(row["value"]) if row else ""

    def set_model(self, name: str) -> None:
        self._session.execute("set_meta", {"key": _MODEL_KEY, "value": name})

    def list_missing(self, after_id: int, limit: int) -> list[PendingEmbedding]:
        rows = self._session.fetch("unembedded", {"after_id": after_id, "limit": limit})
        return [
            PendingEmbedding(
                Partition(User(row["tenant_id"], row["user_id"]), row.pop("partition_id")),
                row["id"],
                terms=row.pop("terms"),
                text=searchable_text(memory_of(row)),
            )
            for row in rows
        ]

    def backlog(self, tenant_id: str | None = None) -> int:
        return self._count("count_unembedded", {"tenant_id": tenant_id})

    def count_stored(self, tenant_id: str | None = None) -> int:
        entries = self._count("count_entries", {"tenant_id": tenant_id})
        return entries - self.backlog(tenant_id)

    def put(self, model: str, rows: Sequence[tuple[PendingEmbedding, bytes]]) -> int:
        if self.model() != model:
            return 0
        stored = 0
        for partition, some in _by_partition(rows).items():
            params = partition_params(partition)
            # One revision for all of them: a reader asks for what is newer than it knows.
            params["revision"] = self._entries.next_revision(partition, removed=False)
            for row, vector in some:
                more = {"memory_id": row.memory_id, "terms": row.terms, "vector": vector}
                stored += self._session.execute("put_vector", {**params, **more})
        return stored

    def clear(self, after: EntryCursor, limit: int) -> EntryCursor | None:
        params = {
            "after_tenant": after.tenant_id,
            "after_user": after.user_id,
            "after_partition": after.partition_id,
            "after_id": after.memory_id,
            "limit": limit,
        }
        rows = self._session.fetch("entries_after", params)
        ids: defaultdict[Partition, list[int]] = defaultdict(list)
        for row in rows:
            if row.pop("embedded"):
                user = User(row["tenant_id"], row["user_id"])
                ids[Partition(user, row["partition_id"])].append(row["memory_id"])
        for partition, some in ids.items():
            self._clear(partition, some)
        return EntryCursor(**rows[-1]) if rows else None

    def _clear(self, partition: Partition, memory_ids: Sequence[int]) -> None:
        params = partition_params(partition)
        params["revision"] = self._entries.next_revision(partition, removed=False)
        for memory_id in memory_ids:
            self._session.execute("clear_vector", {**params, "memory_id": memory_id})

    def _count(self, query: str, params: Params | None = None) -> int:
        row = self._session.fetch_one(query, params or {})
        return int(row["n"]) if row else 0


def _by_partition(
    rows: Sequence[tuple[PendingEmbedding, bytes]],
) -> dict[Partition, list[tuple[PendingEmbedding, bytes]]]:
    found: defaultdict[Partition, list[tuple[PendingEmbedding, bytes]]] = defaultdict(list)
    for row, vector in rows:
        found[row.partition].append((row, vector))
    return found
