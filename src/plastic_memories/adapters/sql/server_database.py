"""Runs work on a database server: threads that read snapshots and threads that write."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from enum import Enum, auto
from typing import Generic, Protocol, TypeVar

from plastic_memories.adapters.sql.database_timings import DatabaseTimings, unavailable_error
from plastic_memories.errors import InvalidInput, Unavailable
from plastic_memories.runtime.threads import TaskTimeout, ThreadPool, ThreadTask

logger = logging.getLogger(__name__)
T = TypeVar("T")
C = TypeVar("C")
_DOWN = "The database does not answer."
_MAX_PAUSE_S = 0.1


class Failure(Enum):
    """What an error of the driver means for the work that met it."""

    CONFLICT = auto()  # two transactions stood in each other's way: run it again
    LIMIT = auto()  # names that are too long, alone or together: never
    AWAY = auto()  # the server is away, overloaded, starting, stopping or out of room: later


class ServerEngine(Protocol[C]):
    """What differs between the drivers of servers."""

    def connect(self, *, writing: bool) -> C:
        """Open a connection whose transactions are writes, or else snapshots."""
        ...

    def commit(self, connection: C) -> None: ...

    def rollback(self, connection: C) -> None: ...

    def close(self, connection: C) -> None:
        """Close it; never raises."""
        ...

    def is_broken(self, connection: C) -> bool: ...

    def failure(self, error: BaseException) -> Failure | None:
        """Return what an error means; None if it is not the server's to answer for."""
        ...


class _LostConnection(Exception):
    """The connection broke before anything was asked to be stored."""


class ServerDatabase(Generic[C]):
    """A pool of threads for reading and one for writing; each thread keeps one connection.

    Work runs on threads in any case, so these are the connection pool. A connection that breaks
    is opened anew by the next work on its thread: when the server is back, so are we.
    """

    def __init__(
        self,
        engine: ServerEngine[C],
        *,
        connections: int = 10,
        timings: DatabaseTimings | None = None,
    ) -> None:
        self.engine = engine
        self.timings = timings or DatabaseTimings()
        self.failure = ""  # why the last work could not be done; empty if it could
        half = max(1, connections // 2)
        self._readers = ThreadPool("database-read", half, lambda: _Worker(self, writing=False))
        self._writers = ThreadPool("database-write", half, lambda: _Worker(self, writing=True))
        self._closed = False

    async def read(self, work: Callable[[C], T]) -> T:
        """Run work on a snapshot."""
        task = self._submit(self._readers, work)
        try:
            result: T = await task.wait(self.timings.start_s, self.timings.end_s)
        except TaskTimeout:
            raise Unavailable(_DOWN) from None
        return result

    async def write(self, work: Callable[[C], T]) -> T:
        """Run work in a transaction; return once it is stored."""
        task = self._submit(self._writers, work)
        try:
            result: T = await task.wait(self.timings.start_s, self.timings.end_s)
        except TaskTimeout as timeout:
            raise self.timings.late_write(timeout) from None
        return result

    def close(self) -> None:
        """Finish the waiting work and close every connection; leave behind what hangs."""
        self._closed = True
        self._readers.close(self.timings.close_s)
        self._writers.close(self.timings.close_s)

    def note_failure(self, error: BaseException) -> None:
        # The first line names no data: it is about the server or the way to it.
        failure = f"{type(error).__name__}: {first_line(error)}"
        if not self.failure:
            logger.error("db.failing", extra={"fields": {"err": failure}})
        self.failure = failure

    def note_success(self) -> None:
        if self.failure:
            logger.warning("db.recovered")
            self.failure = ""

    def _submit(self, pool: ThreadPool, work: Callable[[C], T]) -> ThreadTask:
        if self._closed:
            raise Unavailable("The database is closed.")
        task = ThreadTask.create(work)
        pool.submit(task)
        return task


class _Worker(Generic[C]):
    """Runs work on the connection of one thread."""

    def __init__(self, database: ServerDatabase[C], *, writing: bool) -> None:
        self._database = database
        self._engine = database.engine
        self._writing = writing
        self._db: C | None = None

    def run(self, work: Callable[[C], T]) -> T:
        """Run work in a transaction; again if another stood in its way, until its time is over."""
        end = time.monotonic() + self._database.timings.start_s
        pause_s = 0.001
        while True:
            try:
                result = self._run_once(work)
            except Exception as error:
                if self._engine.failure(error) is not Failure.CONFLICT:
                    raise
                if time.monotonic() > end:
                    raise unavailable_error(error, "Too many write the same thing.") from error
                time.sleep(random.uniform(0, pause_s))  # noqa: S311 - not a secret
                pause_s = min(2 * pause_s, _MAX_PAUSE_S)
            else:
                self._database.note_success()
                return result

    def close(self) -> None:
        if self._db is not None:
            self._engine.close(self._db)
            self._db = None

    def _run_once(self, work: Callable[[C], T]) -> T:
        was_open = self._db is not None
        try:
            return self._run_transaction(work)
        except _LostConnection as lost:
            if not was_open:
                raise unavailable_error(lost, _DOWN) from lost.__cause__
        try:
            # The server may have been restarted since this connection was opened.
            return self._run_transaction(work)
        except _LostConnection as lost:
            raise unavailable_error(lost, _DOWN) from lost.__cause__

    def _run_transaction(self, work: Callable[[C], T]) -> T:
        is_committing = False
        try:
            if self._db is None:
                self._db = self._engine.connect(writing=self._writing)
            result = work(self._db)
            is_committing = self._writing
            self._engine.commit(self._db)
        except BaseException as error:
            told = self._told_error(error, may_be_stored=is_committing)
            if told is error:
                raise
            raise told from error
        return result

    def _told_error(self, error: BaseException, *, may_be_stored: bool) -> BaseException:
        """Undo what was begun; return what the caller is told."""
        failure = self._engine.failure(error)
        is_broken = self._db is None or self._engine.is_broken(self._db)
        self.close() if is_broken else self._rollback()
        if failure is Failure.LIMIT:
            return InvalidInput("A name is too long for this database, alone or with others.")
        if failure is not Failure.AWAY:
            return error
        self._database.note_failure(error)
        if may_be_stored:
            return Unavailable("The write may or may not be stored.", {"may_be_stored": True})
        return _LostConnection() if is_broken else Unavailable(_DOWN)

    def _rollback(self) -> None:
        assert self._db is not None
        try:
            self._engine.rollback(self._db)
        except Exception:  # noqa: BLE001 - whatever it is, closing undoes what was begun
            self.close()


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
