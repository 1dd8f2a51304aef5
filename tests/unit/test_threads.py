"""Tasks handed from an event loop to threads: run, withdrawn, late, or left behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from plastic_memories.errors import Unavailable
from plastic_memories.runtime.model_thread import ModelThread
from plastic_memories.runtime.threads import TaskTimeout, ThreadPool, ThreadTask

LONG_S = 20.0


@contextmanager
def thread_pool(size: int) -> Iterator[ThreadPool]:
    pool = ThreadPool("test", size)
    yield pool
    pool.close(LONG_S)


class Hanging:
    """Work that goes on until it is let go."""

    def __init__(self) -> None:
        self.began, self.let_go = threading.Event(), threading.Event()

    def __call__(self) -> str:
        self.began.set()
        self.let_go.wait(LONG_S)
        return "let go"


async def test_a_task_that_starts_too_late_is_withdrawn() -> None:
    hanging, ran = Hanging(), threading.Event()
    with thread_pool(1) as pool:
        first, second = ThreadTask.create(hanging), ThreadTask.create(ran.set)
        pool.submit(first)
        pool.submit(second)

        with pytest.raises(TaskTimeout) as late:
            await second.wait(0)

        hanging.let_go.set()
        assert await first.wait(LONG_S) == "let go"
    assert not late.value.has_started
    assert not ran.is_set()


async def test_a_task_that_has_started_and_is_late_says_so() -> None:
    hanging = Hanging()
    with thread_pool(1) as pool:
        task = ThreadTask.create(hanging)
        pool.submit(task)
        await asyncio.to_thread(hanging.began.wait, LONG_S)

        with pytest.raises(TaskTimeout) as late:
            await task.wait(0)

        assert late.value.has_started
        assert not task.is_finished
        hanging.let_go.set()
    assert task.is_finished


async def test_a_task_whose_caller_is_cancelled_does_not_start() -> None:
    hanging, ran = Hanging(), threading.Event()
    with thread_pool(1) as pool:
        pool.submit(ThreadTask.create(hanging))
        task = ThreadTask.create(ran.set)
        pool.submit(task)

        task.future.cancel()

        hanging.let_go.set()
    assert not ran.is_set()


async def test_stop_iteration_reaches_the_caller_as_an_error() -> None:
    with thread_pool(1) as pool:
        task = ThreadTask.create(lambda: next(iter(())))
        pool.submit(task)

        with pytest.raises(RuntimeError, match="StopIteration"):
            await task.wait(LONG_S)


async def test_what_waits_is_finished_before_the_threads_end() -> None:
    with thread_pool(2) as pool:
        tasks = [ThreadTask.create(lambda number=number: number) for number in range(20)]
        for task in tasks:
            pool.submit(task)

    assert [await task.future for task in tasks] == list(range(20))


async def test_a_closed_pool_takes_no_task() -> None:
    pool = ThreadPool("test", 1)
    pool.close(0)

    with pytest.raises(Unavailable, match="closed"):
        pool.submit(ThreadTask.create(lambda: None))


async def test_no_more_threads_start_than_are_needed() -> None:
    with thread_pool(4) as pool:
        names = set()
        for _ in range(20):
            task = ThreadTask.create(lambda: threading.current_thread().name)
            pool.submit(task)
            names.add(await task.wait(LONG_S))
            while not pool._idle:  # noqa: ASYNC110 - another thread changes it
                await asyncio.sleep(0)

    assert names == {"test-0"}


async def test_a_model_that_hangs_is_called_again_only_after_it_came_back() -> None:
    hanging, thread = Hanging(), ModelThread("test")
    call = asyncio.create_task(thread.run(hanging, LONG_S))
    await asyncio.to_thread(hanging.began.wait, LONG_S)

    with pytest.raises(Unavailable, match="earlier call"):
        await thread.run(lambda: "again", LONG_S)

    hanging.let_go.set()
    await call
    assert await thread.run(lambda: "again", LONG_S) == "again"
    await thread.close()
