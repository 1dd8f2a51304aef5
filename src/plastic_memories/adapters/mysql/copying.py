"""MySQL or MariaDB as one end of a copy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import pymysql
from pymysql.cursors import SSCursor

from plastic_memories.adapters.mysql.connection import MysqlEngine
from plastic_memories.adapters.mysql.migrate import (
    current_version,
    migrate_schema,
    stored_schema_version,
)
from plastic_memories.adapters.mysql.mysql_session import MysqlConnection, MysqlStores
from plastic_memories.adapters.sql.server_database import first_line
from plastic_memories.adapters.sql.statements import ParameterStyle, Statement
from plastic_memories.adapters.sql.table_copy import CopyEnd, TableLayout
from plastic_memories.errors import InvalidSetting

_TIMEOUT_S = 3600


class MysqlCopyEnd(CopyEnd):
    style = ParameterStyle.FORMAT

    def __init__(self, db: MysqlConnection, reader: MysqlConnection, *, writing: bool) -> None:
        self._db = db
        self._reader = reader  # a query that is being read holds its connection
        self._writing = writing

    @cached_property
    def stores(self) -> MysqlStores:
        return MysqlStores(self._db, writing=self._writing)

    def stream(self, statement: Statement, params: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
        if self._writing:
            self._reader.commit()  # sees what was committed since
        with self._reader.cursor(SSCursor) as cursor:
            cursor.execute(statement.driver_text, statement.values(params))
            yield from cursor

    def insert(self, statement: Statement, rows: Sequence[Mapping[str, Any]]) -> None:
        with self._db.cursor() as cursor:
            cursor.executemany(statement.driver_text, [statement.values(row) for row in rows])

    def commit(self) -> None:
        self._db.commit()
        self.__dict__.pop("stores", None)  # what a transaction knows ends with it

    def continue_numbers(self, tables: Sequence[TableLayout]) -> None:
        """AUTO_INCREMENT follows what is inserted."""


@contextmanager
def open_source(url: str) -> Iterator[MysqlCopyEnd]:
    """Open a database to read: one snapshot of it."""
    with _open_connection(url, writing=False) as db, _open_connection(url, writing=False) as reader:
        if stored_schema_version(db) != current_version():
            raise InvalidSetting("The source is of another release: start this one on it first.")
        yield MysqlCopyEnd(db, reader, writing=False)


@contextmanager
def open_target(url: str) -> Iterator[MysqlCopyEnd]:
    """Open a database to write to, with its schema."""
    with _open_connection(url, writing=True) as db, _open_connection(url, writing=False) as reader:
        migrate_schema(db)
        db.commit()
        yield MysqlCopyEnd(db, reader, writing=True)


@contextmanager
def _open_connection(url: str, *, writing: bool) -> Iterator[MysqlConnection]:
    engine = MysqlEngine(url, timeout_s=_TIMEOUT_S)
    try:
        db = engine.connect(writing=writing)
    except (pymysql.Error, OSError) as error:
        raise InvalidSetting(f"The database cannot be used: {first_line(error)}") from error
    try:
        yield db
    finally:
        engine.close(db)
