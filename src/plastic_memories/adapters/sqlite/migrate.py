"""Brings a database file to the current schema."""

from __future__ import annotations

import logging
import re
import secrets
from importlib.resources import files

import apsw

from plastic_memories.adapters.sqlite.connection import fetch_one
from plastic_memories.adapters.sqlite.queries import sql_file
from plastic_memories.errors import InvalidSetting

logger = logging.getLogger(__name__)
INDEX_TABLES = ("fts_memory_terms", "fts_memory", "fts_messages_terms", "fts_messages")
_MIGRATION = re.compile(r"^(\d{4})_(pre|post)_\w+\.sql$")


def migrations() -> list[tuple[int, str]]:
    """Return (number, file name) of every migration, in order."""
    names = (entry.name for entry in files(__package__).joinpath("migrations").iterdir())
    found = ((_MIGRATION.match(name), name) for name in names)
    return sorted((int(match[1]), name) for match, name in found if match)


def current_version() -> int:
    return migrations()[-1][0]


def stored_schema_version(db: apsw.Connection) -> int:
    """Return the schema version of a database; 0 for an empty one."""
    if not _has_table(db, "meta"):
        return 0
    row = fetch_one(db, "SELECT value FROM meta WHERE key = 'schema_version'")
    return int(row["value"]) if row else 0


def migrate_schema(db: apsw.Connection) -> list[str]:
    """Create or migrate in one transaction; return the names of what was run.

    A database of a newer release is refused: writing to it could lose what we do not know.
    """
    db.execute("BEGIN IMMEDIATE")
    try:
        ran = _run_pending(db)
        _ensure_text_index(db)
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
    for name in ran:
        logger.info("db.migrate", extra={"fields": {"migration": name}})
    return ran


def has_fts5(db: apsw.Connection) -> bool:
    """Return whether this SQLite can do full-text search at all."""
    return bool(fetch_one(db, "SELECT 1 AS x FROM pragma_module_list WHERE name = 'fts5'"))


def has_text_index(db: apsw.Connection) -> bool:
    return has_fts5(db) and all(_has_table(db, name) for name in INDEX_TABLES)


def _run_pending(db: apsw.Connection) -> list[str]:
    version = stored_schema_version(db)
    if version > current_version():
        raise InvalidSetting(
            f"The database has schema {version}, newer than this program's {current_version()}. "
            "Upgrade plastic-memories, or point DB_PATH elsewhere."
        )
    if version == 0:
        db.execute(sql_file("schema.sql"))
        ran = ["schema.sql"]
    else:
        ran = [name for number, name in migrations() if number > version]
        for name in ran:
            db.execute(sql_file(f"migrations/{name}"))
    if ran:
        set_meta(db, "schema_version", str(current_version()))
    _set_meta_once(db, "installation_id", secrets.token_hex(16))
    _set_meta_once(db, "tombstone_secret", secrets.token_hex(32))
    return ran


def _ensure_text_index(db: apsw.Connection) -> None:
    if has_fts5(db) and not has_text_index(db):
        for name in INDEX_TABLES:  # what is left of it, if only a part is missing
            db.execute(f"DROP TABLE IF EXISTS {name}")
        db.execute(sql_file("text_index.sql"))
        db.execute("DELETE FROM meta WHERE key = 'terms_version'")


def _has_table(db: apsw.Connection, name: str) -> bool:
    return bool(fetch_one(db, "SELECT 1 AS x FROM sqlite_schema WHERE name = ?", (name,)))


def set_meta(db: apsw.Connection, key: str, value: str) -> None:
    """Keep a fact about the database itself."""
    db.execute(
        "INSERT INTO meta (key, value) VALUES (?, ?) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, value),
    )


def _set_meta_once(db: apsw.Connection, key: str, value: str) -> None:
    db.execute("INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING", (key, value))
