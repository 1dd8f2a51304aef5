"""Reads the tables of a database of the older program, and leaves the file as it was."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

from plastic_memories.adapters.sql.sql_session import Row
from plastic_memories.adapters.sqlite.connection import fetch
from plastic_memories.adapters.sqlite.legacy.detection import legacy_version
from plastic_memories.errors import InvalidInput

TABLES = ("personas", "messages", "memory_items", "persona_slots", "goals", "goal_links")
_SIDECARS = ("-wal", "-journal")


def read_legacy_tables(path: Path) -> Mapping[str, list[Row]]:
    """Return all rows by table; a table that an older version lacks has none."""
    # A copy: to read a file whose log is still beside it, SQLite has to write.
    with TemporaryDirectory(prefix="plastic_memories-") as folder:
        copy = _copy_with_log(path, Path(folder))
        if not legacy_version(copy):
            raise InvalidInput(f"{path} is not a database of the older program.")
        try:
            with closing(apsw.Connection(str(copy))) as db:
                return {table: _rows(db, table) for table in TABLES}
        except apsw.Error as error:
            raise InvalidInput(f"{path} cannot be read: {error}.") from error


def _copy_with_log(path: Path, folder: Path) -> Path:
    copy = folder / "legacy.db"
    shutil.copyfile(path, copy)
    for suffix in _SIDECARS:
        beside = path.with_name(path.name + suffix)
        if beside.is_file():
            shutil.copyfile(beside, copy.with_name(copy.name + suffix))
    return copy


def _rows(db: apsw.Connection, table: str) -> list[Row]:
    known = fetch(db, "SELECT 1 AS x FROM sqlite_schema WHERE name = ?", (table,))
    return fetch(db, f"SELECT * FROM {table} ORDER BY id") if known else []  # noqa: S608 - ours
