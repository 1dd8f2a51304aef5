"""The backend for those who run MySQL or MariaDB already."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeVar

import pymysql

from plastic_memories.adapters.mysql.connection import MysqlEngine, server_version
from plastic_memories.adapters.mysql.migrate import (
    get_meta,
    migrate_schema,
    set_meta,
    stored_schema_version,
)
from plastic_memories.adapters.mysql.mysql_session import MysqlConnection, MysqlStores
from plastic_memories.adapters.sql.server_database import ServerDatabase, first_line
from plastic_memories.errors import InvalidSetting, Unavailable
from plastic_memories.language.text.tokens import TERMS_VERSION
from plastic_memories.ports.storage import Residue, Stores

logger = logging.getLogger(__name__)
T = TypeVar("T")
# Of an erased row, in words for people: our part is done, the rest is the server's.
KEPT = (
    "free space in the tables of the database server, until it is used again",
    "the redo and binary logs of the database server and its copies, until they are recycled",
)


class MysqlOptions(Protocol):
    """The settings this backend reads."""

    @property
    def database_url(self) -> str: ...
    @property
    def database_connections(self) -> int: ...


class MysqlBackend:
    def __init__(self, database: ServerDatabase[MysqlConnection]) -> None:
        self._database = database

    async def read(self, work: Callable[[Stores], T]) -> T:
        return await self._database.read(lambda db: work(MysqlStores(db, writing=False)))

    async def write(self, work: Callable[[Stores], T]) -> T:
        return await self._database.write(lambda db: work(MysqlStores(db, writing=True)))

    async def scrub(self) -> Residue:
        return Residue(kept=KEPT)

    async def describe(self) -> Mapping[str, Any]:
        try:
            return {**await self._database.read(_describe), "error": self._database.failure}
        except Unavailable as error:
            return {"name": "mysql", "error": self._database.failure or error.message}


@asynccontextmanager
async def open_mysql(options: MysqlOptions) -> AsyncIterator[MysqlBackend]:
    """Open the database, bring it up to date, and close it at the end."""
    if not options.database_url:
        raise InvalidSetting("PLASTIC_MEMORIES_DATABASE_URL: BACKEND=mysql needs an address.")
    engine = MysqlEngine(options.database_url)
    await asyncio.to_thread(_prepare, engine)
    database = ServerDatabase(engine, connections=options.database_connections)
    logger.info("db.init", extra={"fields": {"text_index": "none"}})
    try:
        yield MysqlBackend(database)
    finally:
        await asyncio.to_thread(database.close)


def _prepare(engine: MysqlEngine) -> None:
    try:
        db = engine.connect(writing=True)
        try:
            migrate_schema(db)
            _rank_by_current_terms(db)
        finally:
            db.close()
    except (pymysql.Error, OSError) as error:
        raise InvalidSetting(f"The database cannot be used: {first_line(error)}") from error


def _rank_by_current_terms(db: MysqlConnection) -> None:
    """Make the entries for ranking anew if words are now made otherwise."""
    known = get_meta(db, "terms_version")
    if known == str(TERMS_VERSION):
        return
    stores = MysqlStores(db, writing=True)
    after = 0
    while known is not None and (owners := stores.upkeep.owners(after, 100)):
        for after, owner in owners:  # noqa: B007 - the cursor of the next round
            stores.memories.reindex(owner, keep_vectors=True)
            stores.messages.reindex(owner, keep_vectors=True)
    set_meta(db, "terms_version", str(TERMS_VERSION))


def _describe(db: MysqlConnection) -> Mapping[str, Any]:
    return {
        "name": "mysql",
        "version": server_version(db),
        "schema_version": stored_schema_version(db),
        # Not to be had here: rows are searched one by one, vectors compared in memory only.
        "text_index": "none",
        "vectors": "bytes",
        "row_security": False,
        "live_events": False,
    }
