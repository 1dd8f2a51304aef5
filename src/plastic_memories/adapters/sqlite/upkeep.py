"""The server's own work on the embedded database, over all owners."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import apsw

from plastic_memories.adapters.sqlite.connection import Row, execute, fetch, fetch_one
from plastic_memories.adapters.sqlite.memory_store import SqliteMemoryStore
from plastic_memories.adapters.sqlite.message_store import SqliteMessageStore
from plastic_memories.adapters.sqlite.migrate import has_text_index
from plastic_memories.adapters.sqlite.queries import QUERIES
from plastic_memories.adapters.sqlite.rows import memory_of, owner_of, owner_params
from plastic_memories.model.memory import Memory
from plastic_memories.model.owner import Owner
from plastic_memories.ports.stores.message_store import MessageFilter

_COUNTED_TABLES = (
    "users", "personas", "messages", "memory_items", "sessions", "jobs", "goals", "api_keys",
    "audit",
)  # fmt: skip
# Rows that should be indexed but are not, or the other way round.
_CONSISTENCY_CHECKS = {
    "active memories missing from the text index": (
        "SELECT count(*) AS n FROM memory_items WHERE status = 'active' "
        "AND id NOT IN (SELECT id FROM fts_memory_docsize)"
    ),
    "text index entries without an active memory": (
        "SELECT count(*) AS n FROM fts_memory_docsize "
        "WHERE id NOT IN (SELECT id FROM memory_items WHERE status = 'active')"
    ),
    "active memories that ranking does not know": (
        "SELECT count(*) AS n FROM memory_items WHERE status = 'active' "
        "AND id NOT IN (SELECT memory_id FROM recall_entries)"
    ),
    "entries for ranking without an active memory": (
        "SELECT count(*) AS n FROM recall_entries "
        "WHERE memory_id NOT IN (SELECT id FROM memory_items WHERE status = 'active')"
    ),
    "messages missing from the text index": (
        "SELECT count(*) AS n FROM messages WHERE hidden_at IS NULL "
        "AND id NOT IN (SELECT id FROM fts_messages_docsize)"
    ),
    "text index entries without a visible message": (
        "SELECT count(*) AS n FROM fts_messages_docsize "
        "WHERE id NOT IN (SELECT id FROM messages WHERE hidden_at IS NULL)"
    ),
    "slots without an active memory": (
        "SELECT count(*) AS n FROM persona_slots s WHERE NOT EXISTS (SELECT 1 FROM memory_items m "
        "WHERE m.tenant_id = s.tenant_id AND m.user_id = s.user_id "
        "AND m.persona_id = s.persona_id AND m.bot_id = s.bot_id AND m.realm = s.realm "
        "AND m.type = s.slot_name AND m.status = 'active')"
    ),
}


class SqliteUpkeep:
    def __init__(
        self,
        db: apsw.Connection,
        memories: SqliteMemoryStore,
        messages: SqliteMessageStore,
        *,
        indexed: bool,
    ) -> None:
        self._db = db
        self._memories = memories
        self._messages = messages
        self._indexed = indexed

    def expired_memories(self, now: float, limit: int) -> list[Memory]:
        if self._memories.next_expiry() > now:
            return []
        rows = fetch(self._db, QUERIES["due_memories"], {"now": now, "limit": limit})
        return [memory_of(row) for row in rows]

    def owners(self, after: int, limit: int) -> list[tuple[int, Owner]]:
        rows = fetch(self._db, QUERIES["owners_after"], {"after": after, "limit": limit})
        return [(row["id"], owner_of(row)) for row in rows]

    def prune_messages(self, before_ts: float, max_per_persona: int | None, limit: int) -> int:
        rows = fetch(self._db, QUERIES["old_messages"], {"before_ts": before_ts, "limit": limit})
        pruned = self._erase(rows)
        if max_per_persona is not None and pruned < limit:
            pruned += self._prune_crowded(max_per_persona, limit - pruned)
        return pruned

    def prune_audit(self, before_ts: float) -> int:
        return execute(self._db, QUERIES["prune_audit"], {"before_ts": before_ts})

    def rebuild_index(self, owner: Owner) -> Mapping[str, int]:
        return {
            "memories": self._memories.reindex(owner),
            "messages": self._messages.reindex(owner),
        }

    def check(self) -> list[str]:
        if has_text_index(self._db):
            # A reader that has not searched for a while holds an old picture of the index, and
            # would call it damaged.
            for table in ("fts_memory", "fts_messages"):
                self._db.execute(f"SELECT rowid FROM {table} WHERE {table} MATCH 'x' LIMIT 1")  # noqa: S608
        found = [row["integrity_check"] for row in fetch(self._db, "PRAGMA integrity_check")]
        problems = [line for line in found if line != "ok"]
        if not has_text_index(self._db):
            return [*problems, "the text index is missing"] if self._indexed else problems
        for what, sql in _CONSISTENCY_CHECKS.items():
            if number := self._count(sql):
                problems.append(f"{number} {what}")
        return problems

    def counts(self) -> Mapping[str, int]:
        return {
            table: self._count(f"SELECT count(*) AS n FROM {table}")  # noqa: S608 - constants
            for table in _COUNTED_TABLES
        }

    def _prune_crowded(self, max_per_persona: int, limit: int) -> int:
        pruned = 0
        for crowd in fetch(self._db, QUERIES["crowded_personas"], {"max": max_per_persona}):
            owner = owner_of(crowd)
            surplus = min(crowd["surplus"], limit - pruned)
            params = {**owner_params(owner), "limit": surplus}
            rows = fetch(self._db, QUERIES["oldest_messages"], params)
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

    def _count(self, sql: str) -> int:
        row = fetch_one(self._db, sql)
        return int(row["n"]) if row else 0
