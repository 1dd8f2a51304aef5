"""Brings a MySQL or MariaDB database to the current schema."""

from __future__ import annotations

import logging
import re
import secrets
from importlib.resources import files

from plastic_memories.adapters.mysql.connection import collation
from plastic_memories.adapters.mysql.mysql_session import MysqlConnection
from plastic_memories.adapters.mysql.queries import sql_file
from plastic_memories.errors import InvalidSetting

logger = logging.getLogger(__name__)
_MIGRATION = re.compile(r"^(\d{4})_(pre|post)_\w+\.sql$")
_COMMENT = re.compile(r"--.*$", re.MULTILINE)
_LOCK = "plastic_memories.migrate"
_LOCK_S = 600


def migrations() -> list[tuple[int, str]]:
    """Return (number, file name) of every migration, in order."""
    names = (entry.name for entry in files(__package__).joinpath("migrations").iterdir())
    found = ((_MIGRATION.match(name), name) for name in names)
    return sorted((int(match[1]), name) for match, name in found if match)


def current_version() -> int:
    return migrations()[-1][0]


def stored_schema_version(db: MysqlConnection) -> int:
    """Return the schema version of a database; 0 for an empty one."""
    with db.cursor() as cursor:
        cursor.execute("SHOW TABLES LIKE 'meta'")
        if not cursor.fetchall():
            return 0
    return int(get_meta(db, "schema_version") or 0)


def migrate_schema(db: MysqlConnection) -> list[str]:
    """Run the migrations that are missing, one process at a time; return their names.

    A change of a table cannot be undone here, so each file can be run again from its beginning,
    and the version is noted after each.
    """
    with db.cursor() as cursor:
        cursor.execute("SELECT get_lock(%s, %s)", (_LOCK, _LOCK_S))
        try:
            ran = _run_pending(db)
        finally:
            cursor.execute("SELECT release_lock(%s)", (_LOCK,))
    for name in ran:
        logger.info("db.migrate", extra={"fields": {"migration": name}})
    return ran


def get_meta(db: MysqlConnection, key: str) -> str | None:
    with db.cursor() as cursor:
        cursor.execute('SELECT value FROM meta WHERE "key" = %s', (key,))
        row = cursor.fetchone()
    return str(row[0]) if row else None


def set_meta(db: MysqlConnection, key: str, value: str) -> None:
    """Keep a fact about the database itself."""
    with db.cursor() as cursor:
        cursor.execute('REPLACE INTO meta ("key", value) VALUES (%s, %s)', (key, value))
    db.commit()


def _run_pending(db: MysqlConnection) -> list[str]:
    version = stored_schema_version(db)
    if version > current_version():
        raise InvalidSetting(
            f"The database has schema {version}, newer than this program's {current_version()}. "
            "Upgrade plastic-memories, or point DATABASE_URL elsewhere."
        )
    ran = [(number, name) for number, name in migrations() if number > version]
    for number, name in ran:
        text = _COMMENT.sub("", sql_file(f"migrations/{name}"))
        with db.cursor() as cursor:
            for statement in text.replace("{collation}", collation(db)).split(";"):
                if statement.strip():
                    cursor.execute(statement)
        set_meta(db, "schema_version", str(number))
    for key, size in (("installation_id", 16), ("tombstone_secret", 32)):
        if get_meta(db, key) is None:
            set_meta(db, key, secrets.token_hex(size))
    return [name for _, name in ran]
