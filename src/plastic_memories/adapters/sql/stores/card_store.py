"""Character cards in an SQL database."""

from __future__ import annotations

from plastic_memories.adapters.sql.rows import owner_params
from plastic_memories.adapters.sql.sql_session import SqlSession
from plastic_memories.model.owner import Owner


class SqlCardStore:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def get(self, owner: Owner) -> bytes | None:
        row = self._session.fetch_one("get_card", owner_params(owner))
        return bytes(row["original"]) if row else None

    def put(self, owner: Owner, original: bytes, now: float) -> None:
        params = {**owner_params(owner), "original": original, "now": now}
        self._session.execute("put_card", params)

    def drop(self, owner: Owner) -> bool:
        return self._session.execute("drop_card", owner_params(owner)) > 0
