"""A task for a thread of the database, how long it is waited for, and what is worth a retry."""

from __future__ import annotations

from dataclasses import dataclass

import apsw

from plastic_memories.errors import Unavailable
from plastic_memories.runtime.threads import TaskTimeout, ThreadTask

# "Try later": the disk is full, the file is locked, the medium fails. All else is a bug.
TRANSIENT_ERRORS = (
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


@dataclass(frozen=True, slots=True)
class DatabaseTimings:
    """How long is waited for what; nobody waits for ever.

    A write is one transaction, and an import may need minutes for it. So there is a short time
    until it must have started, and a long one until it must have ended.
    """

    start_s: float = 20.0
    end_s: float = 600.0
    close_s: float = 10.0
    probe_s: float = 2.0  # between two attempts to write again

    def late_write(self, timeout: TaskTimeout) -> Unavailable:
        """Return the error of a write that takes too long; a started one may be stored later."""
        if timeout.has_started:
            message = f"not done within {self.end_s:g} s. It may still be stored."
        else:
            message = f"not begun within {self.start_s:g} s. Nothing of it is stored."
        return Unavailable(f"The write was {message}", {"may_be_stored": timeout.has_started})


@dataclass(slots=True, eq=False)
class DatabaseTask(ThreadTask):
    """Work on a connection; a write is stored once the commit of its group has succeeded."""

    is_stored: bool = False


def unavailable_error(cause: BaseException, message: str) -> Unavailable:
    error = Unavailable(message)
    error.__cause__ = cause
    return error
