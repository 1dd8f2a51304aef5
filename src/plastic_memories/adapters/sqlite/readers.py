"""Threads that read the embedded database, each on a connection of its own."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

import apsw

from plastic_memories.adapters.sqlite.connection import connect
from plastic_memories.adapters.sqlite.errand import (
    TRANSIENT_ERRORS,
    DatabaseTask,
    settle_tasks,
    unavailable_error,
)

T = TypeVar("T")
_THREADS = 4
_Inbox = queue.SimpleQueue[DatabaseTask | None]


class ReaderPool:
    """The thread that was busy last is asked first.

    Its connection knows the statements, and its memory is in the processor's cache. Threads that
    take turns read the same pages into four caches, and each time wait longer for a core.
    """

    def __init__(self, path: str, busy_timeout_ms: int, close_s: float) -> None:
        self._path = path
        self._busy_timeout_ms = busy_timeout_ms
        self._close_s = close_s
        self._lock = threading.Lock()
        self._idle: list[_Inbox] = []
        self._waiting: deque[DatabaseTask] = deque()
        self._inboxes: list[_Inbox] = [queue.SimpleQueue() for _ in range(_THREADS)]
        self._threads = [
            # Daemons: Python does not wait at its end for a disk that hangs.
            threading.Thread(
                target=self._serve, args=(inbox,), name=f"sqlite-read-{number}", daemon=True
            )
            for number, inbox in enumerate(self._inboxes)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, errand: DatabaseTask) -> None:
        """Have a piece of work done, at once or when a thread is free."""
        with self._lock:
            if not self._idle:
                self._waiting.append(errand)
                return
            inbox = self._idle.pop()
        inbox.put(errand)

    def close(self) -> None:
        """Finish what is waiting and close every connection; leave behind what hangs."""
        end = time.monotonic() + self._close_s
        for inbox in self._inboxes:
            inbox.put(None)
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _serve(self, inbox: _Inbox) -> None:
        db: apsw.Connection | None = None
        while (errand := self._next(inbox)) is not None:
            if errand.future.cancelled():
                continue
            db = self._answer(errand, db)
            settle_tasks([errand])
            del errand  # an idle thread keeps nobody's answer
        _close(db)

    def _answer(self, errand: DatabaseTask, db: apsw.Connection | None) -> apsw.Connection | None:
        """Do the work, on a new connection if there is none; return one that can be used again."""
        try:
            db = db or connect(self._path, self._busy_timeout_ms, read_only=True)
            errand.result = read_snapshot(db, errand.work)
        except TRANSIENT_ERRORS as error:
            errand.error = unavailable_error(error, "The database does not answer.")
            _close(db)
            return None
        # Whatever the work raises belongs to the one who asked for it.
        except BaseException as error:  # noqa: BLE001
            errand.error = error
        if db is not None and db.in_transaction:
            # Its snapshot could not be ended: the next one would not begin.
            _close(db)
            return None
        return db

    def _next(self, inbox: _Inbox) -> DatabaseTask | None:
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            self._idle.append(inbox)
        return inbox.get()


def _close(db: apsw.Connection | None) -> None:
    if db is not None:
        db.close(True)


def read_snapshot(db: apsw.Connection, work: Callable[[apsw.Connection], T]) -> T:
    """Run work on a snapshot."""
    db.execute("BEGIN")
    try:
        return work(db)
    except StopIteration as error:  # a future takes none: its caller would wait for ever
        raise RuntimeError("the work raised StopIteration") from error
    finally:
        if db.in_transaction:
            db.execute("COMMIT")
