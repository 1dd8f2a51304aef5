"""Runs work on PostgreSQL: threads that read snapshots and threads that write, each connected."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import psycopg

from plastic_memories.adapters.postgres.connection import (
    CONFLICT_ERRORS,
    LIMIT_ERRORS,
    TRANSIENT_ERRORS,
    ConnectionOptions,
    connect,
)
from plastic_memories.adapters.postgres.postgres_session import PostgresConnection
from plastic_memories.adapters.sql.database_timings import DatabaseTimings, unavailable_error
from plastic_memories.errors import InvalidInput, Unavailable
from plastic_memories.runtime.threads import TaskTimeout, ThreadPool, ThreadTask

logger = logging.getLogger(__name__)
T = TypeVar("T")
_DOWN = "The database does not answer."
_MAX_PAUSE_S = 0.1


class _Lost(Exception):
    """The connection broke before anything was asked to be stored."""


class PostgresDatabase:
    """A pool of threads for reading and one for writing; each thread keeps one connection.

    Work runs on threads in any case, so these are the connection pool. A connection that breaks
    is opened anew by the next work on its thread: when the server is back, so are we.
    """

    def __init__(
        self,
        options: ConnectionOptions,
        *,
        connections: int = 10,
        timings: DatabaseTimings | None = None,
    ) -> None:
        self.options = options
        self.failure = ""  # why the last work could not be done; empty if it could
        self._timings = timings or DatabaseTimings()
        half = max(1, connections // 2)
        self._readers = ThreadPool("postgres-read", half, lambda: _Worker(self, writing=False))
        self._writers = ThreadPool("postgres-write", half, lambda: _Worker(self, writing=True))
        self._closed = False

    async def read(self, work: Callable[[PostgresConnection], T]) -> T:
        """Run work on a snapshot."""
        task = self._submit(self._readers, work)
        try:
            result: T = await task.wait(self._timings.start_s, self._timings.end_s)
        except TaskTimeout:
            raise Unavailable(_DOWN) from None
        return result

    async def write(self, work: Callable[[PostgresConnection], T]) -> T:
        """Run work in a transaction; return once it is stored."""
        task = self._submit(self._writers, work)
        try:
            result: T = await task.wait(self._timings.start_s, self._timings.end_s)
        except TaskTimeout as timeout:
            raise self._timings.late_write(timeout) from None
        return result

    def close(self) -> None:
        """Finish the waiting work and close every connection; leave behind what hangs."""
        self._closed = True
        self._readers.close(self._timings.close_s)
        self._writers.close(self._timings.close_s)

    def note_failure(self, error: BaseException) -> None:
        # The first line names no data: it is about the server or the way to it.
        failure = f"{type(error).__name__}: {str(error).strip().splitlines()[0:1]}"
        if not self.failure:
            logger.error("db.failing", extra={"fields": {"err": failure}})
        self.failure = failure

    def note_success(self) -> None:
        if self.failure:
            logger.warning("db.recovered")
            self.failure = ""

    def _submit(self, pool: ThreadPool, work: Callable[[PostgresConnection], T]) -> ThreadTask:
        if self._closed:
            raise Unavailable("The database is closed.")
        task = ThreadTask.create(work)
        pool.submit(task)
        return task

    @property
    def retry_s(self) -> float:
        return self._timings.start_s


class _Worker:
    """Runs work on the connection of one thread."""

    def __init__(self, database: PostgresDatabase, *, writing: bool) -> None:
        self._database = database
        self._writing = writing
        self._db: PostgresConnection | None = None

    def run(self, work: Callable[[PostgresConnection], T]) -> T:
        """Run work in a transaction; again if another stood in its way, until its time is over."""
        end = time.monotonic() + self._database.retry_s
        pause_s = 0.001
        while True:
            try:
                result = self._run_once(work)
            except CONFLICT_ERRORS as error:
                if time.monotonic() > end:
                    raise unavailable_error(error, "Too many write the same thing.") from error
                time.sleep(random.uniform(0, pause_s))  # noqa: S311 - not a secret
                pause_s = min(2 * pause_s, _MAX_PAUSE_S)
            except LIMIT_ERRORS as error:
                message = "The names are too long together for this database."
                raise InvalidInput(message) from error
            else:
                self._database.note_success()
                return result

    def close(self) -> None:
        if self._db is not None:
            with suppress(psycopg.Error):
                self._db.close()
            self._db = None

    def _run_once(self, work: Callable[[PostgresConnection], T]) -> T:
        was_open = self._db is not None
        try:
            return self._run_transaction(work)
        except _Lost as lost:
            if not was_open:
                raise unavailable_error(lost, _DOWN) from lost.__cause__
        try:
            # The server may have been restarted since this connection was opened.
            return self._run_transaction(work)
        except _Lost as lost:
            raise unavailable_error(lost, _DOWN) from lost.__cause__

    def _run_transaction(self, work: Callable[[PostgresConnection], T]) -> T:
        is_committing = False
        try:
            if self._db is None:
                self._db = connect(self._database.options, writing=self._writing)
            result = work(self._db)
            is_committing = self._writing
            self._db.commit()
        except (*CONFLICT_ERRORS, *LIMIT_ERRORS):
            self._rollback()
            raise
        except TRANSIENT_ERRORS as error:
            raise self._failed(error, may_be_stored=is_committing) from error
        except BaseException:
            self._rollback()
            raise
        return result

    def _failed(self, error: psycopg.Error, *, may_be_stored: bool) -> Exception:
        """Give up after an error of the server; return what its caller is told."""
        is_broken = self._db is None or self._db.broken or self._db.closed
        self._database.note_failure(error)
        self.close() if is_broken else self._rollback()
        if may_be_stored:
            return Unavailable("The write may or may not be stored.", {"may_be_stored": True})
        return _Lost() if is_broken else Unavailable(_DOWN)

    def _rollback(self) -> None:
        try:
            if self._db is not None:
                self._db.rollback()
        except psycopg.Error:
            self.close()
