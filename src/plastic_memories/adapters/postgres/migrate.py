"""Brings a PostgreSQL database to the current schema, while others may use it."""

from __future__ import annotations

import logging
import re
import secrets
from importlib.resources import files

from plastic_memories.adapters.postgres.postgres_session import PostgresConnection
from plastic_memories.adapters.postgres.queries import sql_file
from plastic_memories.errors import InvalidSetting

logger = logging.getLogger(__name__)
_MIGRATION = re.compile(r"^(\d{4})_(pre|post)_\w+\.sql$")
# Only one process migrates at a time; the others wait for it, and find nothing to do.
_MIGRATION_LOCK = 7213960481


def migrations() -> list[tuple[int, str]]:
    """Return (number, file name) of every migration, in order."""
    names = (entry.name for entry in files(__package__).joinpath("migrations").iterdir())
    found = ((_MIGRATION.match(name), name) for name in names)
    return sorted((int(match[1]), name) for match, name in found if match)


def current_version() -> int:
    return migrations()[-1][0]


def stored_schema_version(db: PostgresConnection) -> int:
    """Return the schema version of a database; 0 for an empty one."""
    row = db.execute("SELECT to_regclass('meta') IS NOT NULL").fetchone()
    return int(_meta(db, "schema_version", "0")) if row and row[0] else 0


def migrate_schema(db: PostgresConnection) -> list[str]:
    """Run the migrations that are missing, in one transaction; return their names.

    Migrations called `pre` only add, so that the release before goes on working beside this one;
    it may be started again, too. Those called `post` take away what no release in use reads.
    """
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))
        # An old database may have much to move: that has no limit of time.
        db.execute("SET LOCAL statement_timeout = 0")
        version = stored_schema_version(db)
        _check_version(db, version)
        ran = [name for number, name in migrations() if number > version]
        for name in ran:
            db.execute(sql_file(f"migrations/{name}").encode())
        if ran:
            db.execute(sql_file("row_security.sql").encode())
            db.execute(sql_file("views.sql").encode())
            set_meta(db, "schema_version", str(current_version()))
        for number, name in migrations():
            if name in ran and "_post_" in name:
                set_meta(db, "oldest_release", str(number))
        _set_meta_once(db, "installation_id", secrets.token_hex(16))
        _set_meta_once(db, "tombstone_secret", secrets.token_hex(32))
    for name in ran:
        logger.info("db.migrate", extra={"fields": {"migration": name}})
    return ran


def set_meta(db: PostgresConnection, key: str, value: str) -> None:
    """Keep a fact about the database itself."""
    db.execute(
        "INSERT INTO meta (key, value) VALUES (%s, %s) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, value),
    )


def get_meta(db: PostgresConnection, key: str) -> str | None:
    row = db.execute("SELECT value FROM meta WHERE key = %s", (key,)).fetchone()
    return str(row[0]) if row else None


def _meta(db: PostgresConnection, key: str, default: str) -> str:
    return get_meta(db, key) or default


def _set_meta_once(db: PostgresConnection, key: str, value: str) -> None:
    db.execute("INSERT INTO meta (key, value) VALUES (%s, %s) ON CONFLICT DO NOTHING", (key, value))


def _check_version(db: PostgresConnection, version: int) -> None:
    """Refuse a database from which a newer release has taken away what this one reads."""
    if version and int(_meta(db, "oldest_release", "0")) > current_version():
        raise InvalidSetting(
            f"The database has schema {version}, too new for this program's {current_version()}. "
            "Upgrade plastic-memories, or point DATABASE_URL elsewhere."
        )
