"""One thread for a model, that cannot keep the process from ending."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from plastic_memories.errors import Unavailable
from plastic_memories.runtime.threads import TaskTimeout, ThreadPool, ThreadTask

T = TypeVar("T")
_CLOSE_TIMEOUT_S = 1.0


class ModelThread:
    """Runs one task at a time; the thread starts with the first."""

    def __init__(self, name: str) -> None:
        self._pool = ThreadPool(name, 1)
        self._task: ThreadTask | None = None

    async def run(self, work: Callable[[], T], timeout_s: float) -> T:
        """Return what the work returns; raise `Unavailable` if it takes longer than that."""
        if self._task is not None and not self._task.is_finished:
            raise Unavailable("The model has not come back from an earlier call.")
        self._task = ThreadTask.create(work)
        self._pool.submit(self._task)
        try:
            result: T = await self._task.wait(timeout_s)
        except TaskTimeout:
            raise Unavailable(f"The model did not answer within {timeout_s:g} s.") from None
        return result

    async def close(self) -> None:
        """End the thread; wait a moment for the task it runs, and no longer."""
        await asyncio.to_thread(self._pool.close, _CLOSE_TIMEOUT_S)
