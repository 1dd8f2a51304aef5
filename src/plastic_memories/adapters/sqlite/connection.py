"""Opens one connection to the embedded database, ready for use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apsw

from plastic_memories.adapters.sqlite.queries import Statement

Params = Mapping[str, Any]
Row = dict[str, Any]
# In pages. Fewer, larger checkpoints: each one holds up the writer.
AUTOCHECKPOINT = 4000


def connect(path: str, busy_timeout_ms: int, *, read_only: bool = False) -> apsw.Connection:
    """Open a connection in WAL mode whose commits survive a power cut."""
    db = apsw.Connection(path)
    db.set_busy_timeout(busy_timeout_ms)
    # Left to itself SQLite plans a statement anew whenever other values are bound to it, which
    # takes many times as long as most statements run.
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    db.execute("PRAGMA journal_mode = WAL")
    # FULL syncs the log at every commit: acknowledged means durable.
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA foreign_keys = ON")
    # What is deleted is overwritten, so that a forgotten thing is not left on the disk.
    db.execute("PRAGMA secure_delete = ON")
    db.execute("PRAGMA temp_store = MEMORY")
    db.execute("PRAGMA mmap_size = 1073741824")
    db.wal_autocheckpoint(AUTOCHECKPOINT)
    db.execute("PRAGMA journal_size_limit = 67108864")
    if read_only:
        db.execute("PRAGMA query_only = ON")
    return db


def run(db: apsw.Connection, sql: str, params: Params | Sequence[Any] = ()) -> apsw.Cursor:
    """Run a statement, one of ours in its short form; return the cursor on its rows."""
    if isinstance(sql, Statement):
        return db.execute(sql.short, sql.values(params))
    return db.execute(sql, params)


def fetch(db: apsw.Connection, sql: str, params: Params | Sequence[Any] = ()) -> list[Row]:
    """Return all rows of a query, by column name."""
    cursor = run(db, sql, params)
    first = cursor.fetchone()
    if first is None:
        return []
    names = _columns(cursor, sql, len(first))
    return [dict(zip(names, row, strict=True)) for row in (first, *cursor)]


def _columns(cursor: apsw.Cursor, sql: str, number: int) -> Sequence[str]:
    """Return the names of a row's columns; a statement of ours keeps them."""
    if isinstance(sql, Statement) and len(sql.columns) == number:
        return sql.columns
    names = tuple(column[0] for column in cursor.get_description())
    if isinstance(sql, Statement):
        sql.columns = names
    return names


def fetch_one(db: apsw.Connection, sql: str, params: Params | Sequence[Any] = ()) -> Row | None:
    """Return the first row of a query, if there is one."""
    rows = fetch(db, sql, params)
    return rows[0] if rows else None


def execute(db: apsw.Connection, sql: str, params: Params | Sequence[Any] = ()) -> int:
    """Run a statement; return how many rows it changed."""
    run(db, sql, params)
    return db.changes()


def insert(db: apsw.Connection, sql: str, params: Params) -> int:
    """Run an insert; return the new row's id."""
    run(db, sql, params)
    return db.last_insert_rowid()


def run_all(db: apsw.Connection, sql: Statement, params: Iterable[Params]) -> int:
    """Run a statement once for each; return how many there were."""
    rows = list(map(sql.values, params))
    db.executemany(sql.short, rows)
    return len(rows)


def insert_all(db: apsw.Connection, sql: Statement, params: Iterable[Params]) -> range:
    """Insert rows into a table that counts its ids up; return theirs."""
    number = run_all(db, sql, params)
    # Nobody else writes meanwhile, and AUTOINCREMENT leaves none out.
    last = db.last_insert_rowid()
    return range(last - number + 1, last + 1)
