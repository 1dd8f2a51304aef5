"""Keys, audit log and tombstones in the embedded database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace

import apsw

from plastic_memories.adapters.sqlite.connection import (
    Row,
    execute,
    fetch,
    fetch_one,
    insert,
    insert_all,
)
from plastic_memories.adapters.sqlite.queries import QUERIES
from plastic_memories.adapters.sqlite.rows import (
    event_of,
    event_params,
    owner_params,
    to_json,
    user_params,
)
from plastic_memories.model.event import Event
from plastic_memories.model.key import ApiKey, KeyLimits
from plastic_memories.model.owner import Owner, User
from plastic_memories.rules.lifecycle.tombstones import TombstoneDigests


class SqliteKeyStore:
    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def add(self, key: ApiKey) -> ApiKey:
        params = {
            "digest": key.digest,
            "tenant_id": key.tenant_id,
            "user_id": key.user_id,
            "label": key.label,
            "limits": to_json(asdict(key.limits)),
            "created_at": key.created_at,
        }
        return replace(key, id=insert(self._db, QUERIES["add_key"], params))

    def find_by_digest(self, digest: str) -> ApiKey | None:
        row = fetch_one(self._db, QUERIES["key_by_digest"], {"digest": digest})
        return _key(row) if row else None

    def all(self) -> list[ApiKey]:
        return [_key(row) for row in fetch(self._db, QUERIES["all_keys"])]

    def revoke(self, key_id: int, now: float) -> bool:
        return execute(self._db, QUERIES["revoke_key"], {"id": key_id, "now": now}) > 0


class SqliteAuditLog:
    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._recorded: list[Event] = []

    def record(self, events: Sequence[Event]) -> list[Event]:
        ids = insert_all(self._db, QUERIES["record_event"], map(event_params, events))
        recorded = [replace(event, id=row) for row, event in zip(ids, events, strict=True)]
        self._recorded += recorded
        return recorded

    @property
    def recorded_events(self) -> Sequence[Event]:
        return tuple(self._recorded)

    def find(
        self,
        user: User,
        *,
        after_id: int = 0,
        since: float = 0.0,
        memory_id: int | None = None,
        only_app: str = "",
        limit: int = 200,
    ) -> list[Event]:
        params = {
            **user_params(user),
            "after_id": after_id,
            "since": since,
            "memory_id": memory_id,
            "only_app": only_app,
            "limit": limit,
        }
        name = "find_events" if memory_id is None else "find_events_of"
        return [event_of(row) for row in fetch(self._db, QUERIES[name], params)]


class SqliteTombstoneStore:
    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._known: dict[Owner, bool] = {}  # what this transaction was told

    def has_any(self, owner: Owner) -> bool:
        if owner not in self._known:
            row = fetch_one(self._db, QUERIES["has_tombstones"], owner_params(owner))
            self._known[owner] = row is not None
        return self._known[owner]

    def add(self, owner: Owner, marks: TombstoneDigests, now: float) -> None:
        self._known.pop(owner, None)
        for digest in marks.digests:
            params = {**owner_params(owner), "digest": digest, "key_digest": marks.key_digest}
            self._db.execute(QUERIES["add_tombstone"], {**params, "now": now})

    def covers(self, owner: Owner, marks: TombstoneDigests) -> bool:
        params = {**owner_params(owner), "digests": to_json(list(marks.lookup_digests))}
        row = fetch_one(self._db, QUERIES["covering_tombstones"], params)
        return bool(row and row["n"])

    def lift(self, owner: Owner, marks: TombstoneDigests) -> int:
        self._known.pop(owner, None)
        params = {
            **owner_params(owner),
            "digests": to_json(list(marks.lookup_digests)),
            "key_digest": marks.key_digest if marks.covers_key else "",
        }
        return execute(self._db, QUERIES["lift_tombstones"], params)

    def secret(self) -> bytes:
        row = fetch_one(self._db, "SELECT value FROM meta WHERE key = 'tombstone_secret'")
        assert row, "made with the database"
        return bytes.fromhex(row["value"])


def _key(row: Row) -> ApiKey:
    return ApiKey(
        id=row["id"],
        digest=row["digest"],
        tenant_id=row["tenant_id"],
        user_id=row["user_id"],
        label=row["label"],
        limits=KeyLimits(**json.loads(row["limits"])),
        created_at=row["created_at"],
        revoked_at=row["revoked_at"],
    )
