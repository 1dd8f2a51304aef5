"""Reads snapshots of the embedded database, on a connection for each thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import apsw

from plastic_memories.adapters.sqlite.connection import connect
from plastic_memories.adapters.sqlite.database_task import TRANSIENT_ERRORS
from plastic_memories.errors import Unavailable

T = TypeVar("T")


class SnapshotReader:
    """Keeps one connection, which it opens with the first read and again after a failure."""

    def __init__(self, path: str, busy_timeout_ms: int) -> None:
        self._path = path
        self._busy_timeout_ms = busy_timeout_ms
        self._db: apsw.Connection | None = None

    def run(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run work on a snapshot; raise `Unavailable` if the database does not answer."""
        try:
            if self._db is None:
                self._db = connect(self._path, self._busy_timeout_ms, read_only=True)
            return _read_snapshot(self._db, work)
        except TRANSIENT_ERRORS as error:
            self.close()
            raise Unavailable("The database does not answer.") from error
        finally:
            if self._db is not None and self._db.in_transaction:
                # Its snapshot could not be ended: the next one would not begin.
                self.close()

    def close(self) -> None:
        if self._db is not None:
            self._db.close(True)
            self._db = None


def _read_snapshot(db: apsw.Connection, work: Callable[[apsw.Connection], T]) -> T:
    db.execute("BEGIN")
    try:
        return work(db)
    finally:
        if db.in_transaction:
            db.execute("COMMIT")
