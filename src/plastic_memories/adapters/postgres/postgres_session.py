"""One transaction of PostgreSQL, as the stores use it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import groupby
from typing import Any, TypeAlias

import psycopg

from plastic_memories.adapters.postgres.consistency import consistency_problems
from plastic_memories.adapters.postgres.dialect import POSTGRES, PostgresDialect
from plastic_memories.adapters.postgres.gin_index import PostgresTextIndex
from plastic_memories.adapters.postgres.queries import QUERIES
from plastic_memories.adapters.postgres.text_codec import decode_row, encode_values
from plastic_memories.adapters.sql.bundle import SqlStores
from plastic_memories.adapters.sql.sql_session import NO_PARAMS, Params, Row
from plastic_memories.adapters.sql.statements import Statement

PostgresConnection: TypeAlias = psycopg.Connection[tuple[Any, ...]]
_Cursor: TypeAlias = psycopg.Cursor[tuple[Any, ...]]
# Whose rows a statement works on: one user's, one tenant's (no user), or everybody's (None).
_Scope: TypeAlias = tuple[str, str | None] | None

# These lock the rows they need. So a worker that takes up a job does not wait for its user, who may
# be in the middle of a long import; and one write that counts the recalls of many waits for none.
_WITHOUT_USER_LOCK = frozenset({"get_job", "the_open_job", "save_job", "touch_memory"})


class PostgresSession:
    """Runs statements in a transaction that somebody else ends.

    Inside a write, all work of one user comes after another's: the first statement that names a
    user takes the user's lock. So work that reads and then writes what it has seen needs no more
    care than on the embedded database, and users do not wait for each other.
    """

    def __init__(self, connection: PostgresConnection, *, writing: bool) -> None:
        self._cursor = psycopg.RawCursor(connection)
        self._writing = writing
        self._scope: _Scope | str = "unknown"
        self._locked: set[_Scope] = set()

    @property
    def dialect(self) -> PostgresDialect:
        return POSTGRES

    def fetch(self, statement: Statement | str, params: Params = NO_PARAMS) -> list[Row]:
        cursor = self._run(statement, params)
        rows = cursor.fetchall()
        if not rows:
            return []
        assert cursor.description
        names = [column.name for column in cursor.description]
        return [dict(zip(names, decode_row(row), strict=True)) for row in rows]

    def fetch_one(self, statement: Statement | str, params: Params = NO_PARAMS) -> Row | None:
        rows = self.fetch(statement, params)
        return rows[0] if rows else None

    def fetch_tuples(
        self, statement: Statement | str, params: Params = NO_PARAMS
    ) -> Iterable[Sequence[Any]]:
        # Binary: vectors and terms come as they are, not as hexadecimal text.
        return map(decode_row, self._run(statement, params, binary=True).fetchall())

    def execute(self, statement: Statement | str, params: Params = NO_PARAMS) -> int:
        return self._run(statement, params).rowcount

    def execute_many(self, statement: Statement | str, rows: Iterable[Params]) -> None:
        found = _lookup(statement)
        for scope, group in groupby(list(rows), key=lambda params: _scope_of(found, params)):
            self._enter(found, scope)
            self._cursor.executemany(found.driver_text, [_values(found, row) for row in group])

    def insert(self, statement: Statement | str, params: Params) -> int:
        new_id = self.insert_new(statement, params)
        assert new_id is not None, "nothing keeps a plain insert out but an error"
        return new_id

    def insert_new(self, statement: Statement | str, params: Params) -> int | None:
        found = _returning_id(_lookup(statement))
        self._enter(found, _scope_of(found, params))
        row = self._cursor.execute(found.driver_text, _values(found, params)).fetchone()
        return int(row[0]) if row else None

    def insert_many(self, statement: Statement | str, rows: Iterable[Params]) -> Sequence[int]:
        found = _returning_id(_lookup(statement))
        ids: list[int] = []
        for scope, group in groupby(list(rows), key=lambda params: _scope_of(found, params)):
            self._enter(found, scope)
            values = [_values(found, row) for row in group]
            self._cursor.executemany(found.driver_text, values, returning=True)
            ids += [int(row[0]) for result in self._cursor.results() for row in result]
        return ids

    def text_index(self, kind: str) -> PostgresTextIndex:
        return PostgresTextIndex(kind, self)

    def find_problems(self) -> list[str]:
        self._enter(None, None)
        return consistency_problems(self._cursor)

    def _run(self, statement: Statement | str, params: Params, *, binary: bool = False) -> _Cursor:
        found = _lookup(statement)
        if self._writing:
            if found.name == "due_jobs_by_turns":
                self._cursor.execute(QUERIES["lock_leases"].driver_text)
            found = QUERIES.get(f"{found.name}_for_update", found)
        self._enter(found, _scope_of(found, params))
        return self._cursor.execute(found.driver_text, _values(found, params), binary=binary)

    def _enter(self, statement: Statement | None, scope: _Scope) -> None:
        """Say whose rows come now; inside a write, wait until nobody else changes them."""
        locks = self._writing and _is_for_one_writer(statement, scope)
        if locks and scope not in self._locked:
            self._locked.add(scope)
            found = QUERIES["enter_scope_alone"]
        elif scope != self._scope:
            found = QUERIES["enter_scope"]
        else:
            return
        self._cursor.execute(found.driver_text, _values(found, _scope_params(scope)))
        self._scope = scope


class PostgresStores(SqlStores):
    """Every store in one transaction."""

    def __init__(self, connection: PostgresConnection, *, writing: bool) -> None:
        super().__init__(PostgresSession(connection, writing=writing))
        self.connection = connection


def _lookup(statement: Statement | str) -> Statement:
    return QUERIES[statement] if isinstance(statement, str) else statement


def _values(statement: Statement, params: Params) -> Sequence[Any]:
    return encode_values(statement.values(params))


@cache
def _is_owned(statement: Statement) -> bool:
    return {"tenant_id", "user_id"} <= set(statement.parameters)


def _scope_of(statement: Statement, params: Params) -> _Scope:
    return (params["tenant_id"], params["user_id"]) if _is_owned(statement) else None


def _is_for_one_writer(statement: Statement | None, scope: _Scope) -> bool:
    """Return whether a statement of a write waits until nobody else changes what the user has."""
    if statement is None or scope is None or scope[1] is None:
        return False
    return statement.name.removesuffix("_for_update") not in _WITHOUT_USER_LOCK


def _scope_params(scope: _Scope) -> Params:
    if scope is None:
        return {"scope": "all", "tenant": "", "user": ""}
    tenant, user = scope
    return {"scope": "tenant" if user is None else "user", "tenant": tenant, "user": user or ""}


@cache
def _returning_id(statement: Statement) -> Statement:
    text = f"{statement.text.rstrip().removesuffix(';')} RETURNING id"
    return Statement(text, name=statement.name, style=POSTGRES.parameter_style)
