"""The embedded database: many readers, one writer that commits in groups."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import apsw

from plastic_memories.adapters.sqlite.connection import connect
from plastic_memories.errors import Unavailable

logger = logging.getLogger(__name__)
T = TypeVar("T")

_READERS = 4
# "Try later": the disk is full, the file is locked, the medium fails. All else is a bug.
_PASSING = (
    apsw.BusyError,
    apsw.LockedError,
    apsw.FullError,
    apsw.IOError,
    apsw.CantOpenError,
    apsw.ReadOnlyError,
    apsw.InterruptError,
    apsw.NoMemError,
    apsw.CorruptError,
    apsw.NotADBError,
)


@dataclass(slots=True)
class _Job:
    """One piece of work on its way through a thread."""

    work: Callable[[apsw.Connection], Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = field(default=None)

    def settle(self) -> None:
        if self.future.done():  # whoever asked has stopped waiting
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class _GroupSpoilt(Exception):
    """One piece of work failed after it had written: the group must be taken apart."""


class SqliteDatabase:
    """Runs work on connections of its own threads.

    Writes that wait at the same time share one transaction and so one fsync; each keeps its own
    outcome. A write is answered only after the commit that holds it.
    """

    def __init__(self, path: str, *, busy_timeout_ms: int = 5000, group_max: int = 128) -> None:
        self.path = path
        self._busy_timeout_ms = busy_timeout_ms
        self._group_max = group_max
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._writer = connect(path, busy_timeout_ms)
        self._thread = threading.Thread(target=self._write_forever, name="sqlite-write")
        self._reads: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._readers = [
            threading.Thread(target=self._read_forever, name=f"sqlite-read-{number}")
            for number in range(_READERS)
        ]
        self._closed = False
        self.transaction = 0  # which of its transactions the writer is in
        for thread in (self._thread, *self._readers):
            thread.start()

    async def read(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run work on a snapshot of the database."""
        if self._closed:
            raise Unavailable("The database is closed.")
        return await self._done(self._reads, work)

    async def write(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run work in a transaction; return once it is on the disk."""
        if self._closed:
            raise Unavailable("The database is closed.")
        return await self._done(self._queue, work)

    async def maintain(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run work that keeps its own transactions, on the writer's connection, before traffic."""
        return await asyncio.to_thread(work, self._writer)

    def close(self) -> None:
        """Finish the waiting writes and close every connection."""
        self._closed = True
        self._queue.put(None)
        for _ in self._readers:
            self._reads.put(None)
        for thread in (self._thread, *self._readers):
            thread.join()
        self._writer.close()

    @staticmethod
    async def _done(
        waiting: queue.SimpleQueue[_Job | None], work: Callable[[apsw.Connection], T]
    ) -> T:
        # Not through an executor: its futures, with their locks, cost more than a small read.
        loop = asyncio.get_running_loop()
        job = _Job(work, loop, loop.create_future())
        waiting.put(job)
        result: T = await job.future
        return result

    def _read_forever(self) -> None:
        db: apsw.Connection | None = None
        while (job := self._reads.get()) is not None:
            if job.future.cancelled():
                continue
            try:
                db = db or connect(self.path, self._busy_timeout_ms, read_only=True)
                job.result = self._read(db, job.work)
            except _PASSING as error:
                job.error = _unavailable(error, "The database does not answer.")
            # Whatever the work raises belongs to the one who asked for it.
            except BaseException as error:  # noqa: BLE001
                job.error = error
            self._settle([job])
            del job  # an idle thread keeps nobody's answer
        if db is not None:
            db.close()

    @staticmethod
    def _read(db: apsw.Connection, work: Callable[[apsw.Connection], T]) -> T:
        db.execute("BEGIN")
        try:
            return work(db)
        except StopIteration as error:  # a future takes none: its caller would wait for ever
            raise RuntimeError("the work raised StopIteration") from error
        finally:
            if db.in_transaction:
                db.execute("COMMIT")

    def _write_forever(self) -> None:
        while (first := self._queue.get()) is not None:
            group = [first, *self._waiting()]
            self._commit(group)
            self._settle(group)

    def _waiting(self) -> list[_Job]:
        """Take what has queued up meanwhile, without waiting for more."""
        group: list[_Job] = []
        while len(group) < self._group_max - 1:
            try:
                job = self._queue.get_nowait()
            except queue.Empty:
                break
            if job is None:  # the end comes after this group
                self._queue.put(None)
                break
            group.append(job)
        return group

    def _commit(self, group: list[_Job]) -> None:
        try:
            self._run(group)
        except _GroupSpoilt:
            self._rollback()
            if len(group) > 1:
                for job in group:
                    job.error = None
                    self._commit([job])
        except _PASSING as error:
            self._rollback()
            logger.exception("db.write", extra={"err": type(error).__name__})
            for job in group:
                job.error = Unavailable("The database cannot write now.")
        except apsw.Error as error:
            self._rollback()
            for job in group:
                job.error = error

    def _run(self, group: list[_Job]) -> None:
        self.transaction += 1
        self._writer.execute("BEGIN IMMEDIATE")
        for job in group:
            self._run_one(job)
        self._writer.execute("COMMIT")

    def _run_one(self, job: _Job) -> None:
        before = self._writer.total_changes()
        try:
            job.result = job.work(self._writer)
        except _PASSING as error:
            job.error = Unavailable("The database cannot write now.")
            raise _GroupSpoilt from error
        except BaseException as error:
            # A future takes no StopIteration: its caller would wait for ever.
            job.error = RuntimeError(repr(error)) if isinstance(error, StopIteration) else error
            # Most refusals are decided before anything is written; then nothing is to undo.
            if self._writer.total_changes() != before or not self._writer.in_transaction:
                raise _GroupSpoilt from error

    def _rollback(self) -> None:
        if self._writer.in_transaction:
            self._writer.execute("ROLLBACK")

    @staticmethod
    def _settle(group: list[_Job]) -> None:
        by_loop: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
        for job in group:
            by_loop.setdefault(job.loop, []).append(job)
        for loop, jobs in by_loop.items():
            if not loop.is_closed():
                loop.call_soon_threadsafe(_settle_all, jobs)


def _unavailable(cause: BaseException, message: str) -> Unavailable:
    error = Unavailable(message)
    error.__cause__ = cause
    return error


def _settle_all(jobs: list[_Job]) -> None:
    for job in jobs:
        job.settle()
