"""Vectors in an SQL database: a column of the entries, and the model's name beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from plastic_memories.adapters.sql.rows import memory_of, message_of
from plastic_memories.adapters.sql.sql_session import Row, SqlSession
from plastic_memories.adapters.sql.stores.entry_store import (
    SqlEntryStore,
    SqlTalkEntryStore,
    partition_params,
)
from plastic_memories.model.entry import EntryCursor, EntryKind, Partition, PendingEmbedding
from plastic_memories.model.owner import User
from plastic_memories.rules.ranking.searchable_text import searchable_text

_MODEL_KEY = "vector_model"
# How the statements about the entries of each kind are named.
_PREFIX = {EntryKind.MEMORY: "", EntryKind.MESSAGE: "talk_"}


class SqlVectorStore:
    def __init__(
        self, session: SqlSession, entries: SqlEntryStore, talk: SqlTalkEntryStore
    ) -> None:
        self._session = session
        self._next_revision = {
            EntryKind.MEMORY: entries.next_revision,
            EntryKind.MESSAGE: talk.next_revision,
        }

    def model(self) -> str:
        row = self._session.fetch_one("get_meta", {"key": _MODEL_KEY})
        return str(row["value"]) if row else ""

    def set_model(self, name: str) -> None:
        self._session.execute("set_meta", {"key": _MODEL_KEY, "value": name})

    def list_missing(
        self, after_id: int, limit: int, kind: EntryKind = EntryKind.MEMORY
    ) -> list[PendingEmbedding]:
        rows = self._session.fetch(
            f"{_PREFIX[kind]}unembedded", {"after_id": after_id, "limit": limit}
        )
        return [_pending(row, kind) for row in rows]

    def backlog(self, tenant_id: str | None = None) -> int:
        return self._count("unembedded", tenant_id)

    def count_stored(self, tenant_id: str | None = None) -> int:
        return self._count("entries", tenant_id) - self.backlog(tenant_id)

    def put(self, model: str, rows: Sequence[tuple[PendingEmbedding, bytes]]) -> int:
        if self.model() != model:
            return 0
        stored = 0
        for (kind, partition), some in _by_partition(rows).items():
            params = partition_params(partition)
            # One revision for all of them: a reader asks for what is newer than it knows.
            params["revision"] = self._next_revision[kind](partition, removed=False)
            for row, vector in some:
                more = {"entry_id": row.entry_id, "terms": row.terms, "vector": vector}
                stored += self._session.execute(f"put_{_PREFIX[kind]}vector", {**params, **more})
        return stored

    def clear(self, after: EntryCursor, limit: int) -> EntryCursor | None:
        params = {
            "after_tenant": after.tenant_id,
            "after_user": after.user_id,
            "after_partition": after.partition_id,
            "after_id": after.entry_id,
            "limit": limit,
        }
        rows = self._session.fetch(f"{_PREFIX[after.kind]}entries_after", params)
        ids: defaultdict[Partition, list[int]] = defaultdict(list)
        for row in rows:
            if row.pop("embedded"):
                user = User(row["tenant_id"], row["user_id"])
                ids[Partition(user, row["partition_id"])].append(row["entry_id"])
        for partition, some in ids.items():
            self._clear(after.kind, partition, some)
        if rows:
            return EntryCursor(**rows[-1], kind=after.kind)
        if after.kind is EntryKind.MEMORY:
            return self.clear(EntryCursor(kind=EntryKind.MESSAGE), limit)
        return None

    def _clear(self, kind: EntryKind, partition: Partition, entry_ids: Sequence[int]) -> None:
        params = partition_params(partition)
        params["revision"] = self._next_revision[kind](partition, removed=False)
        for entry_id in entry_ids:
            self._session.execute(f"clear_{_PREFIX[kind]}vector", {**params, "entry_id": entry_id})

    def _count(self, what: str, tenant_id: str | None) -> int:
        names = [f"count_{prefix}{what}" for prefix in _PREFIX.values()]
        rows = [self._session.fetch_one(name, {"tenant_id": tenant_id}) for name in names]
        return sum(int(row["n"]) for row in rows if row)


def _pending(row: Row, kind: EntryKind) -> PendingEmbedding:
    partition = Partition(User(row["tenant_id"], row["user_id"]), row.pop("partition_id"))
    terms = row.pop("terms")
    is_memory = kind is EntryKind.MEMORY
    text = searchable_text(memory_of(row)) if is_memory else message_of(row).visible_text
    return PendingEmbedding(partition, row["id"], text, terms, kind)


def _by_partition(
    rows: Sequence[tuple[PendingEmbedding, bytes]],
) -> dict[tuple[EntryKind, Partition], list[tuple[PendingEmbedding, bytes]]]:
    found: defaultdict[tuple[EntryKind, Partition], list[tuple[PendingEmbedding, bytes]]]
    found = defaultdict(list)
    for row, vector in rows:
        found[row.kind, row.partition].append((row, vector))
    return found
