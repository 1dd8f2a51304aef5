"""One piece of work on its way through a thread of the database, and back to who asked."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import apsw

from plastic_memories.errors import Unavailable

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
class Patience:
    """How long is waited for what; nobody waits for ever.

    A write is one transaction, and an import may need minutes for it. So there is a short time
    until it must have begun, and a long one until it must have ended.
    """

    begin_s: float = 20.0
    end_s: float = 600.0
    close_s: float = 10.0
    probe_s: float = 2.0  # between two attempts to write again


@dataclass(slots=True)
class DatabaseTask:
    work: Callable[[apsw.Connection], Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = field(default=None)
    is_stored: bool = False
    _has_begun: bool = False
    # Whoever gets it first decides: the thread that begins, or the caller who has given up.
    _claim: threading.Lock = field(default_factory=threading.Lock)
    _timer: asyncio.TimerHandle | None = None

    @classmethod
    def create(cls, work: Callable[[apsw.Connection], Any]) -> DatabaseTask:
        loop = asyncio.get_running_loop()
        return cls(work, loop, loop.create_future())

    async def answer(self, patience: Patience) -> Any:
        """Return what the work returned; raise `Unavailable` if that takes too long.

        What has not begun by then, or whose caller was cancelled, is withdrawn: nothing of it is
        stored. What has begun cannot be called back, and may be stored after its caller was
        told that it is late. The error's `may_be_stored` says which of the two it is.
        """
        self._timer = self.loop.call_later(patience.begin_s, self._withdraw_late, patience)
        try:
            return await self.future
        finally:
            self._timer.cancel()
            self.withdraw()

    def begin(self) -> bool:
        """Return whether the work may be done, also again after a rollback."""
        self._has_begun = self._has_begun or self._claim.acquire(blocking=False)
        return self._has_begun

    def withdraw(self) -> bool:
        """See to it that the work is not begun; return False if it was."""
        return self._claim.acquire(blocking=False)

    def _withdraw_late(self, patience: Patience) -> None:
        if self.withdraw():
            self._be_late(f"not begun within {patience.begin_s:g} s", may_be_stored=False)
        else:
            self._timer = self.loop.call_later(patience.end_s, self._give_up, patience)

    def _give_up(self, patience: Patience) -> None:
        self._be_late(f"not done within {patience.end_s:g} s", may_be_stored=True)

    def _be_late(self, why: str, *, may_be_stored: bool) -> None:
        outcome = "It may still be stored." if may_be_stored else "Nothing of it is stored."
        if not self.future.done():
            message = f"The write was {why}. {outcome}"
            self.future.set_exception(Unavailable(message, {"may_be_stored": may_be_stored}))

    def settle(self) -> None:
        if self.future.done():  # whoever asked has stopped waiting
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


def settle_tasks(errands: Iterable[DatabaseTask]) -> None:
    """Tell those who asked, each in their own loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[DatabaseTask]] = {}
    for errand in errands:
        by_loop.setdefault(errand.loop, []).append(errand)
    for loop, its in by_loop.items():
        with suppress(RuntimeError):  # a loop that is closed has nobody left who waits
            loop.call_soon_threadsafe(_settle_all, its)


def unavailable_error(cause: BaseException, message: str) -> Unavailable:
    error = Unavailable(message)
    error.__cause__ = cause
    return error


def _settle_all(errands: list[DatabaseTask]) -> None:
    for errand in errands:
        errand.settle()
