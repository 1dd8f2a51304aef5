"""Disks without room, and what else a connection can fail at."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw

from harness import Api, Json, Server

_PATIENCE_S = 30


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """Let every write of this process beyond a size fail, as on a full disk."""
    import resource  # noqa: PLC0415 - not on Windows

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def let_nothing_be_written(server: Server) -> None:
    """Let no file of a server be written: neither the database nor the log nor its output."""
    _limit(server, 0)


def let_all_be_written(server: Server) -> None:
    import resource  # noqa: PLC0415 - not on Windows

    _limit(server, resource.RLIM_INFINITY)


def _limit(server: Server, size: int) -> None:
    import resource  # noqa: PLC0415 - not on Windows

    assert server.process is not None
    assert server.process.pid is not None
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


class Unruly:
    """A connection of which one statement fails."""

    def __init__(self, real: apsw.Connection, statement: str, error: BaseException) -> None:
        self._real, self._statement, self._error = real, statement, error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def execute(self, sql: str, *more: Any) -> Any:
        if sql == self._statement:
            raise self._error
        return self._real.execute(sql, *more)


async def health_when(api: Api, status: str) -> Json:
    """Return the answer of /health once it has this status."""
    async with asyncio.timeout(_PATIENCE_S):
        while (health := await api.saw("/health"))["status"] != status:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return health


async def refused_until_full(api: Api) -> None:
    """Write more and more until it is refused; whatever else happens fails the test."""
    for number in range(1000):
        answer = await api.post(
            "/memory/write", type="note", key=f"fill{number}", content="x" * 20_000
        )
        if answer.status_code == 503:
            return
    raise AssertionError("the disk is never full")
