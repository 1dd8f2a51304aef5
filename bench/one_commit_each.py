"""The embedded backend without its writer: every write commits by itself, on its own thread.

This is what a web application does that opens a transaction in each request. It exists only to be
measured: all else (routes, rules, statements, durability) is the hub's own.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import TypeVar

import apsw

from plastic_memories.adapters.sqlite.backend import SqliteBackend, SqliteOptions, open_sqlite
from plastic_memories.adapters.sqlite.connection import connect
from plastic_memories.adapters.sqlite.sqlite_session import SqliteStores
from plastic_memories.ports.storage import Stores

T = TypeVar("T")
_THREADS = 32
_BUSY_MS = 60_000


class OneCommitEach:
    def __init__(
        self, backend: SqliteBackend, path: str, turn: AbstractContextManager[object]
    ) -> None:
        self._path = path
        self._turn = turn
        self._threads = ThreadPoolExecutor(_THREADS)
        self._local = threading.local()
        self.read = backend.read
        self.describe = backend.describe

    async def write(self, work: Callable[[Stores], T]) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._write, work)

    def _write(self, work: Callable[[Stores], T]) -> T:
        db = self._connection()
        with self._turn:
            db.execute("BEGIN IMMEDIATE")
            try:
                result = work(SqliteStores(db, indexed=True))
                db.execute("COMMIT")
            except BaseException:
                db.execute("ROLLBACK")
                raise
            return result

    def _connection(self) -> apsw.Connection:
        if not hasattr(self._local, "db"):
            self._local.db = connect(self._path, _BUSY_MS)
        db: apsw.Connection = self._local.db
        return db


@asynccontextmanager
async def open_one_commit_each(options: SqliteOptions) -> AsyncIterator[OneCommitEach]:
    """Let SQLite serialize the writers: one that finds the database locked sleeps and retries."""
    async with open_sqlite(options) as backend:
        yield OneCommitEach(backend, str(options.db_path), nullcontext())


@asynccontextmanager
async def open_one_commit_each_in_turn(options: SqliteOptions) -> AsyncIterator[OneCommitEach]:
    """Serialize the writers with a lock in this process: the next starts when the last is done."""
    async with open_sqlite(options) as backend:
        yield OneCommitEach(backend, str(options.db_path), threading.Lock())
