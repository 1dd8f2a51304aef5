"""Empties the write-ahead log, so that no erased text is left in it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import apsw

from plastic_memories.adapters.sqlite.connection import AUTOCHECKPOINT, connect
from plastic_memories.adapters.sqlite.database_task import TRANSIENT_ERRORS
from plastic_memories.adapters.sqlite.scrubbing.database_pages import (
    clear_pages,
    pages_to_clear,
    touch,
)

Write = Callable[[Callable[[apsw.Connection], None]], Awaitable[None]]
Step = Callable[[apsw.Connection], bool]

LOG = "write-ahead log"
GAPS = "unused bytes of the database file"
# While the checkpoint waits for a reader, nobody can write: it waits briefly, and tries again.
_BUSY_MS = 20
_PAUSE_S = 0.03


async def scrub(path: str, write: Write, patience_s: float) -> tuple[str, ...]:
    """Clear the log, then what pages hold unused; return what is not clean after that time."""
    clock = asyncio.get_running_loop().time
    pause_s, end = _PAUSE_S, clock() + patience_s
    while left := await _scrub_once(path, write):
        if clock() >= end:
            break
        await asyncio.sleep(pause_s)
        pause_s *= 2
    return left


async def empty_log(path: str) -> bool:
    """Try once to empty the log, as after a crash; return whether it is empty."""
    return await asyncio.to_thread(_is_done, path, _truncate)


async def _scrub_once(path: str, write: Write) -> tuple[str, ...]:
    if not await _after_commit(path, write, _truncate):
        return (LOG,)
    # Now the file holds all there is. Looking at every page holds up nobody.
    pages = await asyncio.to_thread(pages_to_clear, path)

    def clear(db: apsw.Connection) -> bool:
        _truncate(db)
        return clear_pages(db, path, pages, lambda: _log_size(path) == 0)

    return (GAPS,) if pages and not await _after_commit(path, write, clear) else ()


async def _after_commit(path: str, write: Write, step: Step) -> bool:
    """Run a step on the writer's thread right after a commit; return whether it is done.

    Among many writers there is no other moment at which nobody writes.
    """
    is_done = False

    def on_commit(db: apsw.Connection, _name: str, _pages: int) -> int:
        nonlocal is_done
        db.wal_autocheckpoint(AUTOCHECKPOINT)  # takes its own place again, after this once
        is_done = _is_done(path, step)
        return apsw.SQLITE_OK

    def ask(db: apsw.Connection) -> None:
        db.set_wal_hook(on_commit)
        touch(db)

    await write(ask)
    return is_done


def _is_done(path: str, step: Step) -> bool:
    """Run a step on a connection of its own; what the database cannot do now is done later."""
    try:
        db = connect(path, _BUSY_MS)
        try:
            return step(db)
        finally:
            db.close()
    except TRANSIENT_ERRORS:
        return False


def _truncate(db: apsw.Connection) -> bool:
    # Most pages are copied by the first, which waits for nobody.
    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    return True


def _log_size(path: str) -> int:
    try:
        return Path(f"{path}-wal").stat().st_size
    except FileNotFoundError:
        return 0
