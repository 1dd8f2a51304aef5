"""Tells a server whether another one serves the same database file already."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Beyond the text: on Windows nobody else can read what is locked.
_LOCKED_BYTE = 1 << 20
_MAX_ADDRESS_BYTES = 500


@contextmanager
def serving_lock(database: Path, url: str) -> Iterator[str | None]:
    """Hold the lock of a database while we serve it; yield the address of who holds it, or None.

    The lock ends with its process, however that ends. It keeps nobody out: two servers on one
    database work, but rarely on purpose.
    """
    path = database.with_name(database.name + ".serving")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if _lock(descriptor):
            os.truncate(descriptor, 0)
            os.write(descriptor, url.encode())
            yield None
        else:
            yield os.read(descriptor, _MAX_ADDRESS_BYTES).decode(errors="replace") or "unknown"
    finally:
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> bool:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
