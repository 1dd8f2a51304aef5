"""A few threads for a disk that may hang: they are waited for so long, and not at the end."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from plastic_memories.errors import Unavailable

T = TypeVar("T")
_THREADS = 2
_HANG_TIMEOUT_S = 0.5
# After a call that hangs, others are not made to wait as well.
_PAUSE_S = 5.0


@dataclass(slots=True, eq=False)
class _DiskTask:
    work: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    started: float = 0.0

    def run(self) -> None:
        self.started = time.monotonic()
        try:
            result, error = self.work(), None
        # Whatever the work raises belongs to the one who asked for it.
        except BaseException as raised:  # noqa: BLE001
            result, error = None, raised
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._settle, result, error)

    def _settle(self, result: Any, error: BaseException | None) -> None:
        if self.future.done():
            return
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(error)


class DiskThreads:
    """Runs work on its own threads; `hangs_s` is how long one piece may take at most."""

    def __init__(self, name: str, hangs_s: float = _HANG_TIMEOUT_S) -> None:
        self._name = name
        self._hangs_s = hangs_s
        self._calls: queue.SimpleQueue[_DiskTask | None] = queue.SimpleQueue()
        self._running: list[_DiskTask] = []  # one for each thread that is at work
        self._started = False
        self._resting_until = 0.0

    async def run(self, work: Callable[[], T], patience_s: float) -> T:
        """Return what the work returns; raise `Unavailable` if the disk fails or is late."""
        if time.monotonic() < self._resting_until:
            raise Unavailable("The folder of pages did not answer a moment ago.")
        self._start()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._calls.put(_DiskTask(work, loop, future))
        done, _ = await asyncio.wait((future,), timeout=patience_s)
        if not done:
            self._pause_if_hung()
            raise Unavailable(f"The folder of pages did not answer within {patience_s:g} s.")
        try:
            return future.result()
        except OSError as error:
            raise Unavailable(f"The folder of pages cannot be used: {error.strerror}.") from error

    def _pause_if_hung(self) -> None:
        """Spare others the wait, unless it was only the queue that was long."""
        now = time.monotonic()
        if any(call.started and now - call.started >= self._hangs_s for call in self._running):
            self._resting_until = now + _PAUSE_S

    def _start(self) -> None:
        if self._started:
            return
        self._started = True
        for number in range(_THREADS):
            # Daemons: Python does not wait at its end for a disk that hangs.
            threading.Thread(target=self._serve, name=f"{self._name}-{number}", daemon=True).start()

    def close(self) -> None:
        """Let the threads end when they have nothing left to do; nobody waits for them."""
        for _ in range(_THREADS):
            self._calls.put(None)

    def _serve(self) -> None:
        while (call := self._calls.get()) is not None:
            self._running.append(call)
            call.run()
            self._running.remove(call)
