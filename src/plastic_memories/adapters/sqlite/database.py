"""The embedded database: many readers, one writer that commits in groups."""

from __future__ import annotations

import asyncio
import logging
import queue
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import apsw

from plastic_memories.adapters.sql.database_timings import DatabaseTimings, unavailable_error
from plastic_memories.adapters.sqlite.connection import connect
from plastic_memories.adapters.sqlite.database_task import TRANSIENT_ERRORS, DatabaseTask
from plastic_memories.adapters.sqlite.readers import SnapshotReader
from plastic_memories.adapters.sqlite.scrubbing.log import scrub
from plastic_memories.errors import Unavailable
from plastic_memories.runtime.threads import TaskTimeout, ThreadPool, settle_tasks, start_daemon

logger = logging.getLogger(__name__)
T = TypeVar("T")
_READERS = 4
_CANNOT = "The database cannot write now."
# As much as a usual write needs: a page or two may still find room where nothing else does.
_PROBE = (
    "INSERT OR REPLACE INTO meta (key, value) VALUES ('write_probe', printf('%32000s', '')); "
    "DELETE FROM meta WHERE key = 'write_probe'"
)


class _GroupFailed(Exception):
    """One piece of work failed after it had written: the group must be taken apart."""


class SqliteDatabase:
    """Runs work on connections of its own threads.

    Writes that wait at the same time share one transaction and so one fsync; each keeps its own
    outcome. A write is answered only after the commit that holds it. Only `close` ends the
    thread that writes: what fails is answered, and the next group is tried as if nothing was.
    """

    def __init__(
        self,
        path: str,
        *,
        busy_timeout_ms: int = 5000,
        group_max: int = 128,
        timings: DatabaseTimings | None = None,
    ) -> None:
        self.path = path
        self._busy_timeout_ms = busy_timeout_ms
        self._group_max = group_max
        self._timings = timings or DatabaseTimings()
        self._failure = ""
        self._probe_at = 0.0  # when to see whether it can be written again
        self._busy_since: float | None = None
        self._is_broken = False  # the writer's connection has to be replaced
        self._queue: queue.SimpleQueue[DatabaseTask | None] = queue.SimpleQueue()
        self._writer = connect(path, busy_timeout_ms)
        self._readers = ThreadPool(
            "sqlite-read", _READERS, lambda: SnapshotReader(path, busy_timeout_ms)
        )
        self._closed = False
        self.transaction = 0  # which of its transactions the writer is in
        self._thread = start_daemon("sqlite-write", self._write_forever)

    async def read(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run work on a snapshot of the database."""
        if self._closed:
            raise Unavailable("The database is closed.")
        # Not through an executor: its futures, with their locks, cost more than a small read.
        task = DatabaseTask.create(work)
        self._readers.submit(task)
        result: T = await task.future
        return result

    async def write(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run work in a transaction; return once it is on the disk.

        Raise `Unavailable` if it cannot be stored now, or not in time; then its detail says
        whether it may be stored later all the same.
        """
        if self._closed:
            raise Unavailable("The database is closed.")
        task = DatabaseTask.create(work)
        self._queue.put(task)
        try:
            result: T = await task.wait(self._timings.start_s, self._timings.end_s)
        except TaskTimeout as timeout:
            raise self._timings.late_write(timeout) from None
        return result

    @property
    def failure(self) -> str:
        """Return why nothing can be written now; empty if it can, as far as is known."""
        since, now = self._busy_since, time.monotonic()
        if since is not None and now - since > self._timings.start_s:
            return f"A write has not ended for {now - since:.0f} s."
        return self._failure

    async def maintain(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run work that keeps its own transactions, on the writer's connection, before traffic."""
        return await asyncio.to_thread(work, self._writer)

    async def scrub(self, patience_s: float = 1.0) -> tuple[str, ...]:
        """Remove the bytes of what was erased; return the places that still hold some."""
        if self._closed:
            raise Unavailable("The database is closed.")
        return await scrub(self.path, self.write, patience_s)

    def close(self) -> None:
        """Finish the waiting writes and close every connection; leave behind what hangs."""
        self._closed = True
        self._queue.put(None)
        self._readers.close(self._timings.close_s)
        self._thread.join(self._timings.close_s)
        if self._thread.is_alive():
            _log(logging.ERROR, "db.close", err="a write does not end")
            return
        self._writer.close(True)

    def _write_forever(self) -> None:
        while True:
            group: list[DatabaseTask] = []
            try:
                first = self._next()
                if first is None:
                    return
                group = [first, *self._take_queued()]
                self._busy_since = time.monotonic()
                self._commit(group)
            # Whatever it is: those who wait get an answer, and those who come are served.
            except BaseException as error:  # noqa: BLE001
                self._fail(group, error)
            self._busy_since = None
            settle_tasks(group)

    def _next(self) -> DatabaseTask | None:
        """Wait for the next piece of work; while nothing can be written, try it now and then."""
        while self._failure:
            left_s = self._probe_at - time.monotonic()
            try:
                # Not only when nobody comes: what comes may change nothing, and so prove nothing.
                if left_s > 0:
                    return self._queue.get(timeout=left_s)
                self._probe()
            except queue.Empty:
                continue
        return self._queue.get()

    def _take_queued(self) -> list[DatabaseTask]:
        """Take what has queued up meanwhile, without waiting for more."""
        group: list[DatabaseTask] = []
        while len(group) < self._group_max - 1:
            try:
                task = self._queue.get_nowait()
            except queue.Empty:
                break
            if task is None:  # the end comes after this group
                self._queue.put(None)
                break
            group.append(task)
        return group

    def _commit(self, group: list[DatabaseTask]) -> None:
        try:
            self._run(group)
        except _GroupFailed:
            self._rollback()
            if len(group) > 1:
                for task in group:
                    task.error = None
                    self._commit([task])
        except TRANSIENT_ERRORS as error:
            self._rollback()
            self._note_failure(error)
            for task in group:
                task.error = unavailable_error(error, _CANNOT)
        except apsw.Error as error:
            self._rollback()
            for task in group:
                task.error = error

    def _run(self, group: list[DatabaseTask]) -> None:
        self._reconnect_if_broken()
        self.transaction += 1
        before = self._writer.total_changes()
        self._writer.execute("BEGIN IMMEDIATE")
        for task in group:
            if task.start():
                self._run_one(task)
        self._writer.execute("COMMIT")
        for task in group:
            task.is_stored = True
        # A commit of nothing needs no room, and says nothing about it.
        if self._failure and self._writer.total_changes() != before:
            self._note_recovery()

    def _run_one(self, task: DatabaseTask) -> None:
        before = self._writer.total_changes()
        try:
            task.result = task.work(self._writer)
        except TRANSIENT_ERRORS as error:
            self._note_failure(error)
            task.error = unavailable_error(error, _CANNOT)
            raise _GroupFailed from error
        except BaseException as error:
            task.error = error
            # Most refusals are decided before anything is written; then nothing is to undo.
            if self._writer.total_changes() != before or not self._writer.in_transaction:
                raise _GroupFailed from error

    def _rollback(self) -> None:
        try:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
        except apsw.Error:
            # Closing undoes what was begun, and lets go of the lock.
            self._is_broken = True
            self._writer.close(True)

    def _reconnect_if_broken(self) -> None:
        if self._is_broken:
            self._writer = connect(self.path, self._busy_timeout_ms)
            self._is_broken = False

    def _probe(self) -> None:
        """Write something and take it away, to see whether that is possible again."""
        self._probe_at = time.monotonic() + self._timings.probe_s
        try:
            self._reconnect_if_broken()
            self._writer.execute("BEGIN IMMEDIATE")
            self._writer.execute(_PROBE)
            self._writer.execute("COMMIT")
        except apsw.Error:
            self._rollback()
        else:
            self._note_recovery()

    def _fail(self, group: list[DatabaseTask], error: BaseException) -> None:
        """Answer a group that something unforeseen has happened to: its transaction is undone."""
        for task in group:
            if not task.is_stored:
                task.error = task.error or unavailable_error(error, _CANNOT)
        self._rollback()
        self._note_failure(error)

    def _note_failure(self, error: BaseException) -> None:
        # An error of SQLite's own names no data; any other might.
        why = f": {error}" if isinstance(error, apsw.Error) else ""
        failure = f"{type(error).__name__}{why}"
        is_news, self._failure = failure != self._failure, failure
        if is_news:
            self._probe_at = time.monotonic() + self._timings.probe_s
            _log(logging.ERROR, "db.write", error, status="failing", err=failure)

    def _note_recovery(self) -> None:
        self._failure = ""
        _log(logging.WARNING, "db.write", status="ok", err="")


def _log(level: int, event: str, error: BaseException | None = None, **fields: str) -> None:
    """Log an event; a handler of others may raise, and must not."""
    with suppress(Exception):
        logger.log(level, event, exc_info=error, extra={"fields": fields})
