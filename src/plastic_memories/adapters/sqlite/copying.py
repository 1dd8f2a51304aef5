"""The embedded database as one end of a copy, and the tables that there are to copy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import apsw

from plastic_memories.adapters.sql.statements import ParameterStyle, Statement
from plastic_memories.adapters.sql.table_copy import CopyEnd, DatabaseCopy, Progress, TableLayout
from plastic_memories.adapters.sqlite.connection import connect, fetch
from plastic_memories.adapters.sqlite.legacy.detection import check_not_legacy
from plastic_memories.adapters.sqlite.migrate import (
    current_version,
    has_text_index,
    migrate_schema,
    stored_schema_version,
)
from plastic_memories.adapters.sqlite.queries import sql_file
from plastic_memories.adapters.sqlite.sqlite_session import SqliteStores
from plastic_memories.errors import InvalidSetting

_BUSY_TIMEOUT_MS = 5000


class SqliteCopyEnd(CopyEnd):
    style = ParameterStyle.QUESTION_MARK

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        db.execute("BEGIN")

    @cached_property
    def stores(self) -> SqliteStores:
        return SqliteStores(self._db, indexed=has_text_index(self._db))

    def stream(self, statement: Statement, params: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
        return iter(self._db.execute(statement.driver_text, statement.values(params)))

    def insert(self, statement: Statement, rows: Sequence[Mapping[str, Any]]) -> None:
        self._db.executemany(statement.driver_text, [statement.values(row) for row in rows])

    def commit(self) -> None:
        self._db.execute("COMMIT")
        self._db.execute("BEGIN")

    def continue_numbers(self, tables: Sequence[TableLayout]) -> None:
        """AUTOINCREMENT follows what is inserted."""


@contextmanager
def open_source(place: str) -> Iterator[SqliteCopyEnd]:
    """Open a database file to read, as it is: nothing in it changes."""
    path = Path(place)
    check_not_legacy(path)
    try:
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    except apsw.Error as error:
        raise InvalidSetting(f"{path} cannot be opened: {error}.") from error
    try:
        if stored_schema_version(db) != current_version():
            raise InvalidSetting(f"{path} is of another release: run `plastic-memories migrate`.")
        yield SqliteCopyEnd(db)
    finally:
        db.close(True)


@contextmanager
def open_target(place: str) -> Iterator[SqliteCopyEnd]:
    """Open a database file to write to, or make it."""
    path = Path(place)
    check_not_legacy(path)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.touch(mode=0o600, exist_ok=True)
    db = connect(str(path), _BUSY_TIMEOUT_MS)
    try:
        migrate_schema(db)
        yield SqliteCopyEnd(db)
    finally:
        db.close(True)


def copy_database(source: CopyEnd, target: CopyEnd, progress: Progress) -> Mapping[str, int]:
    """Copy everything from one database to another; return how many rows of each table."""
    return DatabaseCopy(source, target, table_layouts(), progress).run()


def table_layouts() -> list[TableLayout]:
    """Return the tables of the schema that hold what is remembered, not what follows from it."""
    db = apsw.Connection(":memory:")
    db.execute(sql_file("schema.sql"))
    names = [
        row["name"]
        for row in fetch(db, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")
    ]
    layouts = [_layout(db, name) for name in names if name not in ("meta", "sqlite_sequence")]
    db.close()
    return layouts


def _layout(db: apsw.Connection, table: str) -> TableLayout:
    columns = fetch(db, f"SELECT name, pk FROM pragma_table_info('{table}')")  # noqa: S608 - ours
    keys = sorted((row for row in columns if row["pk"]), key=lambda row: int(row["pk"]))
    names = tuple(_quote_name(row["name"]) for row in columns)
    return TableLayout(table, names, tuple(row["name"] for row in keys))


def _quote_name(name: str) -> str:
    # A word of the language elsewhere.
    return '"trigger"' if name == "trigger" else name
