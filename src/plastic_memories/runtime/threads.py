"""Hands tasks from an event loop to threads, and their results back."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from plastic_memories.errors import Unavailable


class TaskTimeout(Exception):
    """A task took too long. One that had started cannot be stopped; any other is withdrawn."""

    def __init__(self, *, has_started: bool) -> None:
        super().__init__()
        self.has_started = has_started


@dataclass(slots=True, eq=False)
class ThreadTask:
    """Work for a thread; its future belongs to the event loop that waits for the result."""

    work: Callable[..., Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = None
    started_at: float | None = None  # on the monotonic clock
    is_finished: bool = False
    # Who acquires it first decides: the thread that starts, or the caller that gives up.
    _claim: threading.Lock = field(default_factory=threading.Lock)
    _timer: asyncio.TimerHandle | None = None

    @classmethod
    def create(cls, work: Callable[..., Any]) -> Self:
        loop = asyncio.get_running_loop()
        return cls(work, loop, loop.create_future())

    async def wait(self, start_s: float, end_s: float = 0.0) -> Any:
        """Return the result; raise `TaskTimeout` unless it starts within `start_s`.

        One that has started by then gets `end_s` more. If its caller is cancelled, a task that
        has not started is withdrawn as well.
        """
        self._timer = self.loop.call_later(start_s, self._check_started, end_s)
        try:
            return await self.future
        finally:
            self._timer.cancel()
            self.withdraw()

    def start(self) -> bool:
        """Return whether the task may run, also a second time; False if nobody waits for it."""
        if self.started_at is not None:
            return True
        if self.future.done() or not self._claim.acquire(blocking=False):
            return False
        self.started_at = time.monotonic()
        return True

    def withdraw(self) -> bool:
        """Keep the task from starting; return False if it has started."""
        is_withdrawn = self._claim.acquire(blocking=False)
        self.is_finished |= is_withdrawn
        return is_withdrawn

    def run(self, run_work: Callable[[Callable[..., Any]], Any]) -> None:
        """Run the work; store what it returns or raises."""
        try:
            self.result = run_work(self.work)
        # Whatever the work raises belongs to the caller.
        except BaseException as error:  # noqa: BLE001
            self.error = error

    def settle(self) -> None:
        """Pass the outcome to the caller, on its event loop, unless it has stopped waiting."""
        if self.future.done():
            return
        if isinstance(self.error, StopIteration):  # a future takes none: its caller would hang
            self.error = RuntimeError(f"The work raised {self.error!r}.")
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)

    def _check_started(self, end_s: float) -> None:
        if self.withdraw():
            self._time_out(has_started=False)
        else:
            self._timer = self.loop.call_later(end_s, lambda: self._time_out(has_started=True))

    def _time_out(self, *, has_started: bool) -> None:
        if not self.future.done():
            self.future.set_exception(TaskTimeout(has_started=has_started))


def settle_tasks(tasks: Iterable[ThreadTask]) -> None:
    """Settle finished tasks from a thread, with one call for each event loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[ThreadTask]] = {}
    for task in tasks:
        task.is_finished = True
        by_loop.setdefault(task.loop, []).append(task)
    for loop, group in by_loop.items():
        with suppress(RuntimeError):  # on a closed loop nobody waits
            loop.call_soon_threadsafe(_settle_group, group)


def _settle_group(tasks: list[ThreadTask]) -> None:
    for task in tasks:
        task.settle()


def start_daemon(name: str, target: Callable[..., None], *args: Any) -> threading.Thread:
    """Start a thread that Python does not wait for at its end: a disk or a model may hang."""
    thread = threading.Thread(target=target, args=args, name=name, daemon=True)
    thread.start()
    return thread


class PoolWorker(Protocol):
    """Runs work on one thread of a pool; nobody else uses it."""

    def run(self, work: Callable[..., Any]) -> Any: ...

    def close(self) -> None: ...


class PlainWorker:
    """Runs work that needs nothing from its thread."""

    def run(self, work: Callable[[], Any]) -> Any:
        return work()

    def close(self) -> None:
        """Nothing is held."""


_Inbox = queue.SimpleQueue[ThreadTask | None]


class ThreadPool:
    """Daemon threads, started when needed. The thread that was busy last gets the next task.

    Its worker is warm, and its memory is in the processor's cache. Threads that take turns fill
    several caches with the same data, and each time wait longer for a core.
    """

    def __init__(
        self, name: str, size: int, create_worker: Callable[[], PoolWorker] = PlainWorker
    ) -> None:
        self.running: list[ThreadTask] = []  # one for each busy thread
        self._name = name
        self._size = size
        self._create_worker = create_worker
        self._lock = threading.Lock()
        self._threads: list[tuple[threading.Thread, _Inbox]] = []
        self._idle: list[_Inbox] = []
        self._waiting: deque[ThreadTask] = deque()
        self._is_closed = False

    def submit(self, task: ThreadTask) -> None:
        """Run a task at once, or when a thread is free; raise `Unavailable` after `close`."""
        with self._lock:
            if self._is_closed:
                raise Unavailable(f"The threads of {self._name} are closed.")
            if self._idle:
                self._idle.pop().put(task)
                return
            self._waiting.append(task)
            if len(self._threads) < self._size:
                inbox: _Inbox = queue.SimpleQueue()
                name = f"{self._name}-{len(self._threads)}"
                self._threads.append((start_daemon(name, self._serve, inbox), inbox))

    def close(self, timeout_s: float) -> None:
        """Finish the waiting tasks and end the threads; leave behind what takes longer."""
        end = time.monotonic() + timeout_s
        with self._lock:
            self._is_closed = True
            for _, inbox in self._threads:
                inbox.put(None)
        for thread, _ in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _serve(self, inbox: _Inbox) -> None:
        worker = self._create_worker()
        while (task := self._next(inbox)) is not None:
            if task.start():
                self.running.append(task)
                task.run(worker.run)
                self.running.remove(task)
                settle_tasks((task,))
            del task  # an idle thread keeps nobody's result
        worker.close()

    def _next(self, inbox: _Inbox) -> ThreadTask | None:
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            self._idle.append(inbox)
        return inbox.get()
