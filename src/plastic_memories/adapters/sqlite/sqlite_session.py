"""One transaction of SQLite, as the stores use it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from plastic_memories.adapters.sql.bundle import SqlStores
from plastic_memories.adapters.sql.sql_session import NO_PARAMS, Params, Row
from plastic_memories.adapters.sql.statements import Statement
from plastic_memories.adapters.sqlite.consistency import consistency_problems
from plastic_memories.adapters.sqlite.dialect import SQLITE, SqliteDialect
from plastic_memories.adapters.sqlite.fts5_index import SqliteTextIndex
from plastic_memories.adapters.sqlite.queries import QUERIES


class SqliteSession:
    """Runs statements on a connection whose transaction somebody else begins and ends."""

    def __init__(self, db: apsw.Connection, *, indexed: bool) -> None:
        self._db = db
        self._indexed = indexed

    @property
    def dialect(self) -> SqliteDialect:
        return SQLITE

    def fetch(self, statement: Statement | str, params: Params = NO_PARAMS) -> list[Row]:
        cursor = self._run(statement, params)
        first = cursor.fetchone()
        if first is None:
            return []
        names = [column[0] for column in cursor.get_description()]
        return [dict(zip(names, row, strict=True)) for row in (first, *cursor)]

    def fetch_one(self, statement: Statement | str, params: Params = NO_PARAMS) -> Row | None:
        rows = self.fetch(statement, params)
        return rows[0] if rows else None

    def fetch_tuples(
        self, statement: Statement | str, params: Params = NO_PARAMS
    ) -> Iterable[Sequence[Any]]:
        return self._run(statement, params)

    def execute(self, statement: Statement | str, params: Params = NO_PARAMS) -> int:
        self._run(statement, params)
        return self._db.changes()

    def execute_many(self, statement: Statement | str, rows: Iterable[Params]) -> None:
        self._run_many(statement, rows)

    def insert(self, statement: Statement | str, params: Params) -> int:
        self._run(statement, params)
        return self._db.last_insert_rowid()

    def insert_new(self, statement: Statement | str, params: Params) -> int | None:
        return self._db.last_insert_rowid() if self.execute(statement, params) else None

    def insert_many(self, statement: Statement | str, rows: Iterable[Params]) -> Sequence[int]:
        number = self._run_many(statement, rows)
        # Nobody else writes meanwhile, and AUTOINCREMENT leaves none out.
        last = self._db.last_insert_rowid()
        return range(last - number + 1, last + 1)

    def text_index(self, kind: str) -> SqliteTextIndex | None:
        return SqliteTextIndex(self._db, kind, self.fetch) if self._indexed else None

    def find_problems(self) -> list[str]:
        return consistency_problems(self._db, indexed=self._indexed)

    def _run(self, statement: Statement | str, params: Params) -> apsw.Cursor:
        found = QUERIES[statement] if isinstance(statement, str) else statement
        return self._db.execute(found.driver_text, found.values(params))

    def _run_many(self, statement: Statement | str, rows: Iterable[Params]) -> int:
        found = QUERIES[statement] if isinstance(statement, str) else statement
        values = list(map(found.values, rows))
        self._db.executemany(found.driver_text, values)
        return len(values)


class SqliteStores(SqlStores):
    """Every store on one connection."""

    def __init__(self, db: apsw.Connection, *, indexed: bool) -> None:
        super().__init__(SqliteSession(db, indexed=indexed))
        self.connection = db
