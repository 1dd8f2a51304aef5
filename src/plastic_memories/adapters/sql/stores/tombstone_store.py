"""Tombstones and pending forgets in an SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from plastic_memories.adapters.sql.record_columns import from_json, to_json
from plastic_memories.adapters.sql.rows import owner_of, owner_params
from plastic_memories.adapters.sql.sql_session import Row, SqlSession
from plastic_memories.model.console import TombstoneMark
from plastic_memories.model.message import PendingForget, PendingStatus
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


class SqlPendingForgetStore:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def add(self, pending: PendingForget) -> PendingForget:
        return replace(pending, id=self._session.insert("add_pending_forget", _params(pending)))

    def save(self, pending: PendingForget) -> None:
        self._session.execute("save_pending_forget", _params(pending))

    def get(self, owner: Owner, forget_id: int) -> PendingForget | None:
        params = {**owner_params(owner), "id": forget_id}
        row = self._session.fetch_one("get_pending_forget", params)
        return _pending(row) if row else None

    def find(self, owner: Owner, *, message_id: int | None = None) -> list[PendingForget]:
        params = {**owner_params(owner), "message_id": message_id}
        return [_pending(row) for row in self._session.fetch("find_pending_forgets", params)]

    def due_owners(self, now: float, limit: int) -> Sequence[Owner]:
        rows = self._session.fetch("owners_of_due_forgets", {"now": now, "limit": limit})
        return [owner_of(row) for row in rows]


def _params(pending: PendingForget) -> dict[str, Any]:
    changes = {
        "revoked": list(pending.revoked.items()),
        "restored": list(pending.restored),
        "hidden": list(pending.hidden.items()),
    }
    return {
        **owner_params(pending.owner),
        "id": pending.id,
        "message_id": pending.message_id,
        "status": pending.status.value,
        "requested_at": pending.requested_at,
        "final_at": pending.final_at,
        "changes": to_json(changes),
    }


def _pending(row: Row) -> PendingForget:
    changes = from_json(row["changes"])
    return PendingForget(
        owner=owner_of(row),
        id=row["id"],
        message_id=row["message_id"],
        status=PendingStatus(row["status"]),
        requested_at=row["requested_at"],
        final_at=row["final_at"],
        revoked=dict(changes["revoked"]),
        restored=tuple(changes["restored"]),
        hidden={
            message_id: tuple((start, end) for start, end in spans)
            for message_id, spans in changes["hidden"]
        },
    )
