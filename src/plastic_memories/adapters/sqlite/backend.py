"""The embedded backend: SQLite in one file."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import apsw

from plastic_memories.adapters.sql.rows import owner_of
from plastic_memories.adapters.sqlite.backup import forget_in_copies
from plastic_memories.adapters.sqlite.connection import fetch, fetch_one
from plastic_memories.adapters.sqlite.database import SqliteDatabase
from plastic_memories.adapters.sqlite.legacy.detection import check_not_legacy
from plastic_memories.adapters.sqlite.migrate import (
    has_text_index,
    migrate_schema,
    set_meta,
    stored_schema_version,
)
from plastic_memories.adapters.sqlite.scrubbing.log import empty_log
from plastic_memories.adapters.sqlite.sqlite_session import SqliteStores
from plastic_memories.errors import InvalidSetting
from plastic_memories.language.text.tokens import TERMS_VERSION
from plastic_memories.ports.storage import Residue, Stores

logger = logging.getLogger(__name__)
T = TypeVar("T")


class SqliteOptions(Protocol):
    """The settings this backend reads."""

    @property
    def db_path(self) -> Path: ...
    @property
    def busy_timeout_ms(self) -> int: ...
    @property
    def write_group(self) -> int: ...


class SqliteBackend:
    def __init__(self, database: SqliteDatabase, *, indexed: bool) -> None:
        self._database = database
        self._indexed = indexed
        self._writing: tuple[int, SqliteStores] | None = None

    async def read(self, work: Callable[[Stores], T]) -> T:
        return await self._database.read(lambda db: work(SqliteStores(db, indexed=self._indexed)))

    async def write(self, work: Callable[[Stores], T]) -> T:
        return await self._database.write(lambda db: work(self._stores_for_writing(db)))

    async def scrub(self) -> Residue:
        pending = await self._database.scrub()
        copies = await asyncio.to_thread(forget_in_copies, Path(self._database.path), time.time())
        return Residue((*pending, *copies.pending), copies.kept)

    async def describe(self) -> Mapping[str, Any]:
        return await self._database.read(self._describe)

    def _stores_for_writing(self, db: apsw.Connection) -> SqliteStores:
        """Return the stores of this transaction, which may hold other work before this one."""
        number = self._database.transaction
        if self._writing is None or self._writing[0] != number:
            self._writing = number, SqliteStores(db, indexed=self._indexed)
        return self._writing[1].for_next_work()

    def _describe(self, db: apsw.Connection) -> Mapping[str, Any]:
        row = fetch_one(db, "PRAGMA journal_mode")
        return {
            "name": "sqlite",
            "version": apsw.sqlite_lib_version(),
            "db_path": self._database.path,
            "schema_version": stored_schema_version(db),
            "journal_mode": row["journal_mode"] if row else "",
            "text_index": "fts5" if self._indexed else "like",
            "error": self._database.failure,
        }


@asynccontextmanager
async def open_sqlite(options: SqliteOptions) -> AsyncIterator[SqliteBackend]:
    """Open the database file, bring it up to date, and close it at the end."""
    database = _open_file(options)
    try:
        indexed = await _prepare_database(database)
        await empty_log(database.path)  # a crash may have come between a forget and its scrub
        logger.info("db.init", extra={"fields": {"text_index": "fts5" if indexed else "like"}})
        yield SqliteBackend(database, indexed=indexed)
    finally:
        database.close()


def _open_file(options: SqliteOptions) -> SqliteDatabase:
    path = options.db_path
    check_not_legacy(path)  # before anything is written to it
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # What is remembered of a person is nobody else's: the file is made with its mode.
        path.touch(mode=0o600, exist_ok=True)
        return SqliteDatabase(
            str(path),
            busy_timeout_ms=options.busy_timeout_ms,
            group_max=options.write_group,
        )
    except (OSError, apsw.Error) as error:
        raise InvalidSetting(f"The database {path} cannot be opened: {error}") from error


async def _prepare_database(database: SqliteDatabase) -> bool:
    try:
        return await database.maintain(_prepare_schema)
    except apsw.Error as error:
        raise InvalidSetting(f"The database {database.path} cannot be used: {error}") from error


def _prepare_schema(db: apsw.Connection) -> bool:
    migrate_schema(db)
    indexed = has_text_index(db)
    if not indexed:
        logger.warning("fts.fallback", extra={"fields": {"why": "this SQLite has no FTS5"}})
    if _terms_version(db) != TERMS_VERSION:
        _fill_indexes(db, indexed=indexed)
    return indexed


def _terms_version(db: apsw.Connection) -> int:
    row = fetch_one(db, "SELECT value FROM meta WHERE key = 'terms_version'")
    return int(row["value"]) if row else 0


def _fill_indexes(db: apsw.Connection, *, indexed: bool) -> None:
    """Index what is there already: the index is new, or its words are now made otherwise."""
    db.execute("BEGIN IMMEDIATE")
    for table in ("fts_memory", "fts_messages") if indexed else ():
        db.execute(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")  # noqa: S608 - constants
    stores = SqliteStores(db, indexed=indexed)
    for row in fetch(db, "SELECT tenant_id, user_id, persona_id FROM personas"):
        # Texts have other terms now, but say the same.
        stores.memories.reindex(owner_of(row), keep_vectors=True)
        stores.messages.reindex(owner_of(row), keep_vectors=True)
    set_meta(db, "terms_version", str(TERMS_VERSION))
    db.execute("COMMIT")
