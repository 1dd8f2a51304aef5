"""Tombstones in an SQL database."""

from __future__ import annotations

from plastic_memories.adapters.sql.rows import owner_params
from plastic_memories.adapters.sql.sql_session import SqlSession
from plastic_memories.model.console import TombstoneMark
from plastic_memories.model.owner import Owner
from plastic_memories.rules.lifecycle.tombstones import TombstoneDigests


class SqlTombstoneStore:
    def __init__(self, session: SqlSession) -> None:
        self._session = session
        self._known: dict[Owner, bool] = {}  # what this transaction was told

    def has_any(self, owner: Owner) -> bool:
        if owner not in self._known:
            row = self._session.fetch_one("has_tombstones", owner_params(owner))
            self._known[owner] = row is not None
        return self._known[owner]

    def add(self, owner: Owner, marks: TombstoneDigests, now: float) -> None:
        self._known.pop(owner, None)
        for digest in marks.digests:
            params = {**owner_params(owner), "digest": digest, "key_digest": marks.key_digest}
            self._session.execute("add_tombstone", {**params, "now": now})

    def covers(self, owner: Owner, marks: TombstoneDigests) -> bool:
        params = {
            **owner_params(owner),
            "digests": self._session.dialect.array(marks.lookup_digests),
        }
        row = self._session.fetch_one("covering_tombstones", params)
        return bool(row and row["n"])

    def lift(self, owner: Owner, marks: TombstoneDigests) -> int:
        self._known.pop(owner, None)
        params = {
            **owner_params(owner),
            "digests": self._session.dialect.array(marks.lookup_digests),
            "key_digest": marks.key_digest if marks.covers_key else "",
        }
        return self._session.execute("lift_tombstones", params)

    def secret(self) -> bytes:
        row = self._session.fetch_one("get_meta", {"key": "tombstone_secret"})
        assert row, "made with the database"
        return bytes.fromhex(row["value"])

    def all(self, owner: Owner, limit: int) -> list[TombstoneMark]:
        rows = self._session.fetch("list_tombstones", {**owner_params(owner), "limit": limit})
        return [TombstoneMark(digest=row["digest"], created_at=row["created_at"]) for row in rows]

    def lift_mark(self, owner: Owner, digest: str) -> int:
        self._known.pop(owner, None)
        return self._session.execute("lift_tombstone", {**owner_params(owner), "digest": digest})
