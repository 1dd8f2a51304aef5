"""One piece of work on its way through a thread of the database, and back to who asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import apsw

from plastic_memories.errors import Unavailable

# "Try later": the disk is full, the file is locked, the medium fails. All else is a bug.
PASSING = (
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
class Errand:
    work: Callable[[apsw.Connection], Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = field(default=None)

    @classmethod
    def of(cls, work: Callable[[apsw.Connection], Any]) -> Errand:
        loop = asyncio.get_running_loop()
        return cls(work, loop, loop.create_future())

    def settle(self) -> None:
        if self.future.done():  # whoever asked has stopped waiting
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


def settle(errands: Iterable[Errand]) -> None:
    """Tell those who asked, each in their own loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Errand]] = {}
    for errand in errands:
        by_loop.setdefault(errand.loop, []).append(errand)
    for loop, its in by_loop.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle_all, its)


def unavailable(cause: BaseException, message: str) -> Unavailable:
    error = Unavailable(message)
    error.__cause__ = cause
    return error


def _settle_all(errands: list[Errand]) -> None:
    for errand in errands:
        errand.settle()
