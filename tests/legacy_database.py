"""Database files as the older program made them, schema versions 1 and 2."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

T0 = 1_700_000_000
_OWNER = "id INTEGER PRIMARY KEY, user_id TEXT NOT NULL, persona_id TEXT NOT NULL"
_MEMORY_V1 = "type TEXT, mkey TEXT, content TEXT, tags_json TEXT, ttl_seconds INTEGER"
_MEMORY_V2 = (
    f"{_MEMORY_V1}, status TEXT, scope TEXT, source_type TEXT, source_ref TEXT, confidence REAL, "
    "expires_at INTEGER, supersedes_id INTEGER"
)
_TIMES = "created_at INTEGER, updated_at INTEGER"
_UNIQUE = "UNIQUE (user_id, persona_id, type, mkey)"
_SHARED_TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE personas ({_OWNER}, display_name TEXT, description TEXT, {_TIMES});
CREATE TABLE messages ({_OWNER}, session_id TEXT, source_app TEXT, role TEXT, content TEXT,
                       created_at INTEGER);
CREATE VIRTUAL TABLE fts_memory USING fts5(content);
CREATE VIRTUAL TABLE fts_messages USING fts5(content);
"""
_TABLES_V2 = f"""
CREATE TABLE persona_slots ({_OWNER}, slot_name TEXT, value_json TEXT, provenance_json TEXT,
                            updated_at INTEGER);
CREATE TABLE goals ({_OWNER}, title TEXT, details TEXT, status TEXT, {_TIMES});
CREATE TABLE goal_links ({_OWNER}, goal_id INTEGER, memory_id INTEGER, note TEXT,
                         created_at INTEGER);
"""
Row = Mapping[str, Any]


def make_legacy_database(
    path: Path, version: int = 2, rows: Mapping[str, list[Row]] | None = None, *, wal: bool = False
) -> Path:
    """Make a file of the older program with these rows, by table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = _MEMORY_V1 if version == 1 else _MEMORY_V2
    with closing(sqlite3.connect(path)) as db:
        if wal:
            db.execute("PRAGMA journal_mode = WAL")
        db.executescript(_SHARED_TABLES)
        db.execute(f"CREATE TABLE memory_items ({_OWNER}, {columns}, {_TIMES}, {_UNIQUE})")
        if version != 1:
            db.executescript(_TABLES_V2)
        db.execute("INSERT INTO meta VALUES ('schema_version', ?)", (str(version),))
        for table, lines in (rows or {}).items():
            for line in lines:
                _insert(db, table, line)
        db.commit()
    return path


def _insert(db: sqlite3.Connection, table: str, row: Row) -> None:
    names, marks = ", ".join(row), ", ".join("?" for _ in row)
    db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(row.values()))


def memory_row(number: int, **fields: Any) -> Row:
    """Return a row of memory_items as version 2 wrote it."""
    return {
        "id": number,
        "user_id": "local",
        "persona_id": "miku",
        "type": "note",
        "mkey": f"k{number}",
        "content": f"text {number}",
        "tags_json": "[]",
        "status": "active",
        "scope": "persona",
        "source_type": "user_explicit",
        "confidence": 0.9,
        "created_at": T0 + number,
        "updated_at": T0 + number,
    } | fields


def memory_row_v1(number: int, **fields: Any) -> Row:
    """Return a row of memory_items as version 1 wrote it."""
    wanted = ("id", "user_id", "persona_id", "type", "mkey", "content", "tags_json")
    row = memory_row(number)
    times = {"created_at": T0 + number, "updated_at": T0 + number}
    return {name: row[name] for name in wanted} | times | fields


def slot_row(number: int, slot_name: str, text: str, **fields: Any) -> Row:
    """Return a row of persona_slots; `memory_id` is the memory behind it."""
    provenance = {"source": "user_explicit", "active_memory_id": fields.pop("memory_id", None)}
    return {
        "id": number,
        "user_id": "local",
        "persona_id": "miku",
        "slot_name": slot_name,
        "value_json": json.dumps({"text": text}),
        "provenance_json": json.dumps(provenance),
        "updated_at": T0 + number,
    } | fields
