"""Character cards in the embedded database."""

from __future__ import annotations

import apsw

from plastic_memories.adapters.sqlite.connection import execute, fetch_one
from plastic_memories.adapters.sqlite.queries import QUERIES
from plastic_memories.adapters.sqlite.rows import owner_params
from plastic_memories.model.owner import Owner


class SqliteCardStore:
    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def get(self, owner: Owner) -> bytes | None:
        row = fetch_one(self._db, QUERIES["get_card"], owner_params(owner))
        return bytes(row["original"]) if row else None

    def put(self, owner: Owner, original: bytes, now: float) -> None:
        params = {**owner_params(owner), "original": original, "now": now}
        self._db.execute(QUERIES["put_card"], params)

    def drop(self, owner: Owner) -> bool:
        return execute(self._db, QUERIES["drop_card"], owner_params(owner)) > 0
