"""Opens one connection to the embedded database, and runs plain SQL on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from plastic_memories.adapters.sql.sql_session import Params, Row

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


def fetch(db: apsw.Connection, sql: str, params: Params | Sequence[Any] = ()) -> list[Row]:
    """Return all rows of a query, by column name."""
    cursor = db.execute(sql, params)
    first = cursor.fetchone()
    if first is None:
        return []
    names = [column[0] for column in cursor.get_description()]
    return [dict(zip(names, row, strict=True)) for row in (first, *cursor)]


def fetch_one(db: apsw.Connection, sql: str, params: Params | Sequence[Any] = ()) -> Row | None:
    """Return the first row of a query, if there is one."""
    rows = fetch(db, sql, params)
    return rows[0] if rows else None


def execute(db: apsw.Connection, sql: str, params: Params | Sequence[Any] = ()) -> int:
    """Run a statement; return how many rows it changed."""
    db.execute(sql, params)
    return db.changes()
