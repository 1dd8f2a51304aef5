"""A task for a thread of the database, and what is worth a retry."""

from __future__ import annotations

from dataclasses import dataclass

import apsw

from plastic_memories.runtime.threads import ThreadTask

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


@dataclass(slots=True, eq=False)
class DatabaseTask(ThreadTask):
    """Work on a connection; a write is stored once the commit of its group has succeeded."""

    is_stored: bool = False
