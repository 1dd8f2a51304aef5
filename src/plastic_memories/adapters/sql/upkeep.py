"""The server's own work on an SQL database, over all owners."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from plastic_memories.adapters.sql.rows import memory_of, owner_of, owner_params
from plastic_memories.adapters.sql.sql_session import Row, SqlSession
from plastic_memories.adapters.sql.statement_builder import count_rows
from plastic_memories.adapters.sql.stores.memory_store import SqlMemoryStore
from plastic_memories.adapters.sql.stores.message_store import SqlMessageStore
from plastic_memories.model.memory import Memory
from plastic_memories.model.owner import Owner
from plastic_memories.ports.stores.message_store import MessageFilter

_COUNTED_TABLES = (
    "users", "personas", "messages", "memory_items", "sessions", "jobs", "goals", "api_keys",
    "audit",
)  # fmt: skip


class SqlUpkeep:
    def __init__(
        self,
        session: SqlSession,
        memories: SqlMemoryStore,
        messages: SqlMessageStore,
    ) -> None:
        self._session = session
        self._memories = memories
        self._messages = messages

    def expired_memories(self, now: float, limit: int) -> list[Memory]:
        if self._memories.next_expiry() > now:
            return []
        rows = self._session.fetch("due_memories", {"now": now, "limit": limit})
        return [memory_of(row) for row in rows]

    def owners(self, after: int, limit: int) -> list[tuple[int, Owner]]:
        rows = self._session.fetch("owners_after", {"after": after, "limit": limit})
        return [(row["id"], owner_of(row)) for row in rows]

    def prune_messages(self, before_ts: float, max_per_persona: int | None, limit: int) -> int:
        rows = self._session.fetch("old_messages", {"before_ts": before_ts, "limit": limit})
        pruned = self._erase(rows)
        if max_per_persona is not None and pruned < limit:
            pruned += self._prune_crowded(max_per_persona, limit - pruned)
        return pruned

    def prune_audit(self, before_ts: float) -> int:
        return self._session.execute("prune_audit", {"before_ts": before_ts})

    def rebuild_index(self, owner: Owner) -> Mapping[str, int]:
        return {
            "memories": self._memories.reindex(owner),
            "messages": self._messages.reindex(owner),
        }

    def check(self) -> list[str]:
        return self._session.find_problems()

    def counts(self) -> Mapping[str, int]:
        return {
            table: row["n"]
            for table in _COUNTED_TABLES
            for row in self._session.fetch(count_rows(self._session.dialect, table))
        }

    def _prune_crowded(self, max_per_persona: int, limit: int) -> int:
        pruned = 0
        for crowd in self._session.fetch("crowded_personas", {"max": max_per_persona}):
            owner = owner_of(crowd)
            surplus = min(crowd["surplus"], limit - pruned)
            params = {**owner_params(owner), "limit": surplus}
            rows = self._session.fetch("oldest_messages", params)
            pruned += self._erase({**row, **owner_params(owner)} for row in rows)
            if pruned >= limit:
                break
        return pruned

    def _erase(self, rows: Iterable[Row]) -> int:
        by_owner: defaultdict[Owner, list[int]] = defaultdict(list)
        for row in rows:
            by_owner[owner_of(row)].append(row["id"])
        for owner, ids in by_owner.items():
            self._messages.drop(owner, MessageFilter(ids=ids))
        return sum(map(len, by_owner.values()))
