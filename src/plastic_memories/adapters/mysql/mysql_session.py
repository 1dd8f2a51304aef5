"""One transaction of MySQL or MariaDB, as the stores use it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, TypeAlias

import pymysql
from pymysql.cursors import Cursor

from plastic_memories.adapters.mysql.consistency import consistency_problems
from plastic_memories.adapters.mysql.dialect import MYSQL, MysqlDialect
from plastic_memories.adapters.mysql.queries import QUERIES
from plastic_memories.adapters.sql.bundle import SqlStores
from plastic_memories.adapters.sql.sql_session import NO_PARAMS, Params, Row
from plastic_memories.adapters.sql.statements import Statement

MysqlConnection: TypeAlias = "pymysql.Connection[Cursor]"
# There is no infinity here; nothing that we store is larger.
_LARGEST = 1e308
# These lock the rows they need (see the session of PostgreSQL).
_WITHOUT_USER_LOCK = frozenset({"get_job", "the_open_job", "save_job", "touch_memory"})
_NOBODY = {"tenant_id": "", "user_id": ""}


class MysqlSession:
    """Runs statements in a transaction that somebody else ends.

    Inside a write, all work of one user comes after another's: the first statement that names a
    user locks the user's row among the writers.
    """

    def __init__(self, connection: MysqlConnection, *, writing: bool) -> None:
        self._cursor = connection.cursor()
        self._writing = writing
        self._locked: set[tuple[str, str]] = set()

    @property
    def dialect(self) -> MysqlDialect:
        return MYSQL

    def fetch(self, statement: Statement | str, params: Params = NO_PARAMS) -> list[Row]:
        cursor = self._run(statement, params)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def fetch_one(self, statement: Statement | str, params: Params = NO_PARAMS) -> Row | None:
        rows = self.fetch(statement, params)
        return rows[0] if rows else None

    def fetch_tuples(
        self, statement: Statement | str, params: Params = NO_PARAMS
    ) -> Iterable[Sequence[Any]]:
        return list(self._run(statement, params).fetchall())

    def execute(self, statement: Statement | str, params: Params = NO_PARAMS) -> int:
        return self._run(statement, params).rowcount

    def execute_many(self, statement: Statement | str, rows: Iterable[Params]) -> None:
        for params in list(rows):
            self._run(statement, params)

    def insert(self, statement: Statement | str, params: Params) -> int:
        return int(self._run(statement, params).lastrowid)

    def insert_new(self, statement: Statement | str, params: Params) -> int | None:
        cursor = self._run(statement, params)
        return int(cursor.lastrowid) if cursor.rowcount else None

    def insert_many(self, statement: Statement | str, rows: Iterable[Params]) -> Sequence[int]:
        return [self.insert(statement, params) for params in list(rows)]

    def text_index(self, kind: str) -> None:
        """There is none: rows are searched one by one, and ranking has its own index in memory."""

    def find_problems(self) -> list[str]:
        return consistency_problems(self._cursor)

    def _run(self, statement: Statement | str, params: Params) -> Cursor:
        found = QUERIES[statement] if isinstance(statement, str) else statement
        if self._writing:
            if found.name == "due_jobs_by_turns":
                # Of two who lease at once, the second must see what the first has taken.
                self._lock_writer(_NOBODY)
            if found.name not in _WITHOUT_USER_LOCK and _is_owned(found):
                self._lock_writer(params)
            found = QUERIES.get(f"{found.name}_for_update", found)
        self._cursor.execute(found.driver_text, [_value(one) for one in found.values(params)])
        return self._cursor

    def _lock_writer(self, params: Params) -> None:
        writer = params["tenant_id"], params["user_id"]
        if writer not in self._locked and None not in writer:
            self._locked.add(writer)
            lock = QUERIES["lock_writer"]
            self._cursor.execute(lock.driver_text, lock.values(params))


class MysqlStores(SqlStores):
    """Every store in one transaction."""

    def __init__(self, connection: MysqlConnection, *, writing: bool) -> None:
        super().__init__(MysqlSession(connection, writing=writing))


@cache
def _is_owned(statement: Statement) -> bool:
    return {"tenant_id", "user_id"} <= set(statement.parameters)


def _value(value: Any) -> Any:
    if type(value) is float and math.isinf(value):
        return math.copysign(_LARGEST, value)
    return value
