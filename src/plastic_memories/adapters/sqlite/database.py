"""The embedded database: many readers, one writer that commits in groups."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections.abc import Callable
from typing import TypeVar

import apsw

from plastic_memories.adapters.sqlite.connection import connect
from plastic_memories.adapters.sqlite.errand import PASSING, Errand, settle
from plastic_memories.adapters.sqlite.readers import Readers
from plastic_memories.adapters.sqlite.scrubbing.log import scrub
from plastic_memories.errors import Unavailable

logger = logging.getLogger(__name__)
T = TypeVar("T")


class _GroupSpoilt(Exception):
    """One piece of work failed after it had written: the group must be taken apart."""


class SqliteDatabase:
    """Runs work on connections of its own threads.

    Writes that wait at the same time share one transaction and so one fsync; each keeps its own
    outcome. A write is answered only after the commit that holds it.
    """

    def __init__(self, path: str, *, busy_timeout_ms: int = 5000, group_max: int = 128) -> None:
        self.path = path
        self._group_max = group_max
        self._queue: queue.SimpleQueue[Errand | None] = queue.SimpleQueue()
        self._writer = connect(path, busy_timeout_ms)
        self._thread = threading.Thread(target=self._write_forever, name="sqlite-write")
        self._readers = Readers(path, busy_timeout_ms)
        self._closed = False
        self.transaction = 0  # which of its transactions the writer is in
        self._thread.start()

    async def read(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run work on a snapshot of the database."""
        if self._closed:
            raise Unavailable("The database is closed.")
        # Not through an executor: its futures, with their locks, cost more than a small read.
        errand = Errand.of(work)
        self._readers.ask(errand)
        result: T = await errand.future
        return result

    async def write(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run work in a transaction; return once it is on the disk."""
        if self._closed:
            raise Unavailable("The database is closed.")
        errand = Errand.of(work)
        self._queue.put(errand)
        result: T = await errand.future
        return result

    async def maintain(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run work that keeps its own transactions, on the writer's connection, before traffic."""
        return await asyncio.to_thread(work, self._writer)

    async def scrub(self, patience_s: float = 1.0) -> tuple[str, ...]:
        """Remove the bytes of what was erased; return the places that still hold some."""
        if self._closed:
            raise Unavailable("The database is closed.")
        return await scrub(self.path, self.write, patience_s)

    def close(self) -> None:
        """Finish the waiting writes and close every connection."""
        self._closed = True
        self._queue.put(None)
        self._readers.close()
        self._thread.join()
        self._writer.close()

    def _write_forever(self) -> None:
        while (first := self._queue.get()) is not None:
            group = [first, *self._waiting()]
            self._commit(group)
            settle(group)

    def _waiting(self) -> list[Errand]:
        """Take what has queued up meanwhile, without waiting for more."""
        group: list[Errand] = []
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

    def _commit(self, group: list[Errand]) -> None:
        try:
            self._run(group)
        except _GroupSpoilt:
            self._rollback()
            if len(group) > 1:
                for job in group:
                    job.error = None
                    self._commit([job])
        except PASSING as error:
            self._rollback()
            logger.exception("db.write", extra={"err": type(error).__name__})
            for job in group:
                job.error = Unavailable("The database cannot write now.")
        except apsw.Error as error:
            self._rollback()
            for job in group:
                job.error = error

    def _run(self, group: list[Errand]) -> None:
        self.transaction += 1
        self._writer.execute("BEGIN IMMEDIATE")
        for job in group:
            self._run_one(job)
        self._writer.execute("COMMIT")

    def _run_one(self, job: Errand) -> None:
        before = self._writer.total_changes()
        try:
            job.result = job.work(self._writer)
        except PASSING as error:
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
