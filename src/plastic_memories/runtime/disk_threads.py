"""A few threads for a disk that may hang."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from plastic_memories.errors import Unavailable
from plastic_memories.runtime.threads import TaskTimeout, ThreadPool, ThreadTask

T = TypeVar("T")
_THREADS = 2
_HANG_TIMEOUT_S = 0.5
# After a call that hangs, others are not made to wait as well.
_PAUSE_S = 5.0


class DiskThreads:
    """Runs work on its own threads; a task that runs for `hang_timeout_s` counts as hung."""

    def __init__(self, name: str, hang_timeout_s: float = _HANG_TIMEOUT_S) -> None:
        self._pool = ThreadPool(name, _THREADS)
        self._hang_timeout_s = hang_timeout_s
        self._paused_until = 0.0

    async def run(self, work: Callable[[], T], timeout_s: float) -> T:
        """Return what the work returns; raise `Unavailable` if the disk fails or is late."""
        if time.monotonic() < self._paused_until:
            raise Unavailable("The folder of pages did not answer a moment ago.")
        task = ThreadTask.create(work)
        self._pool.submit(task)
        try:
            result: T = await task.wait(timeout_s)
        except TaskTimeout:
            self._pause_if_hung()
            message = f"The folder of pages did not answer within {timeout_s:g} s."
            raise Unavailable(message) from None
        except OSError as error:
            raise Unavailable(f"The folder of pages cannot be used: {error.strerror}.") from error
        return result

    def close(self) -> None:
        """Let the threads end when they have nothing left to do; nobody waits for them."""
        self._pool.close(0)

    def _pause_if_hung(self) -> None:
        """Spare others the wait, unless it was only the queue that was long."""
        hung_since = time.monotonic() - self._hang_timeout_s
        if any(task.started_at and task.started_at <= hung_since for task in self._pool.running):
            self._paused_until = time.monotonic() + _PAUSE_S
