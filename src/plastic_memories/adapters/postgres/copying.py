"""PostgreSQL as one end of a copy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import psycopg

from plastic_memories.adapters.postgres.connection import PostgresEngine
from plastic_memories.adapters.postgres.migrate import (
    current_version,
    migrate_schema,
    stored_schema_version,
)
from plastic_memories.adapters.postgres.postgres_session import PostgresConnection, PostgresStores
from plastic_memories.adapters.postgres.text_codec import decode_row, encode_values
from plastic_memories.adapters.sql.server_database import first_line
from plastic_memories.adapters.sql.statements import ParameterStyle, Statement
from plastic_memories.adapters.sql.table_copy import CopyEnd, TableLayout
from plastic_memories.errors import InvalidSetting

_FLAGS = frozenset({"pinned"})


class PostgresCopyEnd(CopyEnd):
    style = ParameterStyle.DOLLAR

    def __init__(self, db: PostgresConnection, *, writing: bool) -> None:
        self._db = db
        self._writing = writing

    @cached_property
    def stores(self) -> PostgresStores:
        return PostgresStores(self._db, writing=self._writing)

    def stream(self, statement: Statement, params: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
        self._see_everything()
        with psycopg.RawServerCursor(self._db, "copied") as cursor:
            cursor.execute(statement.driver_text, encode_values(statement.values(params)))
            for row in cursor:
                yield decode_row(row)

    def insert(self, statement: Statement, rows: Sequence[Mapping[str, Any]]) -> None:
        self._see_everything()
        flags = [place for place, name in enumerate(statement.parameters) if name in _FLAGS]
        values = [_with_flags(encode_values(statement.values(row)), flags) for row in rows]
        with psycopg.RawCursor(self._db) as cursor:
            cursor.executemany(statement.driver_text, values)

    def commit(self) -> None:
        self._db.commit()
        self.__dict__.pop("stores", None)  # what a transaction knows ends with it

    def continue_numbers(self, tables: Sequence[TableLayout]) -> None:
        self._see_everything()
        for table in tables:
            if table.key == ("id",):
                # Also after what was erased: a number is never given twice.
                self._db.execute(
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), "  # noqa: S608
                    f"greatest((SELECT max(id) FROM {table.name}), "
                    "(SELECT max(row_id) FROM erasures), 1))".encode()
                )
        self.commit()

    def end(self) -> None:
        # Without numbers about the new rows the planner would read all of a user's for each.
        self._db.execute("ANALYZE")
        self.commit()

    def _see_everything(self) -> None:
        self._db.execute("SELECT set_config('plastic.scope', 'all', true)")
        self.__dict__.pop("stores", None)  # they would not know


@contextmanager
def open_source(url: str) -> Iterator[PostgresCopyEnd]:
    """Open a database to read: one snapshot of it."""
    with _open_connection(url, writing=False) as db:
        if stored_schema_version(db) != current_version():
            raise InvalidSetting("The source is of another release: start this one on it first.")
        yield PostgresCopyEnd(db, writing=False)


@contextmanager
def open_target(url: str) -> Iterator[PostgresCopyEnd]:
    """Open a database to write to, with its schema."""
    with _open_connection(url, writing=True) as db:
        migrate_schema(db)
        db.commit()
        yield PostgresCopyEnd(db, writing=True)


@contextmanager
def _open_connection(url: str, *, writing: bool) -> Iterator[PostgresConnection]:
    # Reading or indexing a large table may take its time.
    engine = PostgresEngine(url, statement_timeout_ms=0)
    try:
        db = engine.connect(writing=writing)
    except psycopg.Error as error:
        raise InvalidSetting(f"The database cannot be used: {first_line(error)}") from error
    try:
        yield db
    finally:
        engine.close(db)


def _with_flags(values: Sequence[Any], flags: Sequence[int]) -> Sequence[Any]:
    changed = list(values)
    for place in flags:
        changed[place] = bool(changed[place])
    return changed
