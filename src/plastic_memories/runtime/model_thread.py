"""One thread for a model, that cannot keep the process from ending."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from plastic_memories.errors import Unavailable

T = TypeVar("T")
_CLOSE_TIMEOUT_S = 1.0


@dataclass(frozen=True, slots=True)
class _ModelTask:
    work: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]

    def run(self) -> None:
        try:
            result, error = self.work(), None
        # Whatever a model raises belongs to the one who asked it.
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


class ModelThread:
    """Runs one piece of work at a time, within a time; the thread starts with the first.

    Python waits at its end for the threads of a pool. A model that hangs is not waited for.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: queue.SimpleQueue[_ModelTask | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._running: asyncio.Future[Any] | None = None

    async def run(self, work: Callable[[], T], patience_s: float) -> T:
        """Return what the work returns; raise `Unavailable` if it takes longer than that."""
        if self._running is not None and not self._running.done():
            raise Unavailable("The model has not come back from an earlier call.")
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._running = future
        self._jobs.put(_ModelTask(work, loop, future))
        done, _ = await asyncio.wait((future,), timeout=patience_s)
        if not done:
            raise Unavailable(f"The model did not answer within {patience_s:g} s.")
        return future.result()

    async def close(self) -> None:
        """End the thread; wait a moment for the work it is at, and no longer."""
        self._jobs.put(None)
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join, _CLOSE_TIMEOUT_S)

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            job.run()
