"""The backend of many processes and machines: PostgreSQL."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeVar

import psycopg

from plastic_memories.adapters.postgres.commit_feed import CommitFollower, announce_commit
from plastic_memories.adapters.postgres.connection import PostgresEngine
from plastic_memories.adapters.postgres.migrate import (
    get_meta,
    migrate_schema,
    set_meta,
    stored_schema_version,
)
from plastic_memories.adapters.postgres.postgres_session import PostgresConnection, PostgresStores
from plastic_memories.adapters.sql.server_database import ServerDatabase, first_line
from plastic_memories.errors import InvalidSetting, Unavailable
from plastic_memories.language.text.tokens import TERMS_VERSION
from plastic_memories.model.event import Event
from plastic_memories.ports.storage import Residue, Stores

logger = logging.getLogger(__name__)
T = TypeVar("T")
# Of an erased row, in words for people: our part is done, the rest is the server's.
KEPT = (
    "dead rows in PostgreSQL's tables, until autovacuum",
    "PostgreSQL's write-ahead log and its copies (replicas, backups), until they are recycled",
)


class PostgresOptions(Protocol):
    """The settings this backend reads."""

    @property
    def database_url(self) -> str: ...
    @property
    def database_connections(self) -> int: ...


class PostgresBackend:
    def __init__(self, url: str, database: ServerDatabase[PostgresConnection]) -> None:
        self._database = database
        self._follower = CommitFollower(url, database)

    async def read(self, work: Callable[[Stores], T]) -> T:
        return await self._database.read(lambda db: work(PostgresStores(db, writing=False)))

    async def write(self, work: Callable[[Stores], T]) -> T:
        def run(db: PostgresConnection) -> T:
            stores = PostgresStores(db, writing=True)
            result = work(stores)
            announce_commit(stores, self._follower.name)
            return result

        return await self._database.write(run)

    def follow(self) -> AsyncIterator[Sequence[Event]]:
        """Yield the events that other processes have recorded."""
        return self._follower.follow()

    async def scrub(self) -> Residue:
        return Residue(kept=KEPT)

    async def describe(self) -> Mapping[str, Any]:
        try:
            return {**await self._database.read(_describe), "error": self._database.failure}
        except Unavailable as error:
            return {"name": "postgres", "error": self._database.failure or error.message}


@asynccontextmanager
async def open_postgres(options: PostgresOptions) -> AsyncIterator[PostgresBackend]:
    """Open the database, bring it up to date, and close it at the end."""
    if not options.database_url:
        raise InvalidSetting("PLASTIC_MEMORIES_DATABASE_URL: BACKEND=postgres needs an address.")
    engine = PostgresEngine(options.database_url)
    await asyncio.to_thread(_prepare, engine)
    database = ServerDatabase(engine, connections=options.database_connections)
    logger.info("db.init", extra={"fields": {"text_index": "gin"}})
    try:
        yield PostgresBackend(options.database_url, database)
    finally:
        await asyncio.to_thread(database.close)


def _prepare(engine: PostgresEngine) -> None:
    try:
        db = engine.connect(writing=True)
        try:
            migrate_schema(db)
            _index_by_current_terms(db)
            db.commit()
        finally:
            db.close()
    except psycopg.Error as error:
        raise InvalidSetting(f"The database cannot be used: {first_line(error)}") from error


def _index_by_current_terms(db: PostgresConnection) -> None:
    """Index what is there already if words are now made otherwise."""
    with db.transaction():
        known = get_meta(db, "terms_version")
        if known == str(TERMS_VERSION):
            return
        if known is not None:
            _reindex_everything(db)
        set_meta(db, "terms_version", str(TERMS_VERSION))


def _reindex_everything(db: PostgresConnection) -> None:
    stores = PostgresStores(db, writing=True)
    after = 0
    while owners := stores.upkeep.owners(after, 100):
        for after, owner in owners:  # noqa: B007 - the cursor of the next round
            # Texts have other terms now, but say the same.
            stores.memories.reindex(owner, keep_vectors=True)
            stores.messages.reindex(owner, keep_vectors=True)


def _describe(db: PostgresConnection) -> Mapping[str, Any]:
    row = db.execute(
        "SELECT current_setting('server_version'), current_database(), "
        "(SELECT NOT (rolsuper OR rolbypassrls) FROM pg_roles WHERE rolname = current_user)"
    ).fetchone()
    assert row
    return {
        "name": "postgres",
        "version": row[0],
        "database": row[1],
        "schema_version": stored_schema_version(db),
        "text_index": "gin",
        # Compared exactly, in memory; large owners have no index of their own yet.
        "vectors": "bytes",
        # False for a superuser, whom no policy holds back.
        "row_security": bool(row[2]),
    }
