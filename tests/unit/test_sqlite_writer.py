"""The thread that writes outlives whatever happens to it, and nobody waits for it for ever."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from full_disk import Unruly
from plastic_memories.adapters.sql.database_timings import DatabaseTimings
from plastic_memories.adapters.sqlite.database import SqliteDatabase
from plastic_memories.adapters.sqlite.migrate import migrate_schema, set_meta
from plastic_memories.errors import Unavailable

HASTY = DatabaseTimings(start_s=0.2, end_s=0.5, close_s=0.5, probe_s=60)


@contextmanager
def database(folder: Path, timings: DatabaseTimings = HASTY) -> Iterator[SqliteDatabase]:
    opened = SqliteDatabase(str(folder / "hub.db"), timings=timings)
    try:
        migrate_schema(opened._writer)
        yield opened
    finally:
        opened.close()


def noting(key: str, text: str = "x") -> Callable[[apsw.Connection], None]:
    return lambda db: set_meta(db, key, text)


async def noted(db: SqliteDatabase) -> set[str]:
    return {key for (key,) in await db.read(lambda one: list(one.execute("SELECT key FROM meta")))}


def limit_pages(db: SqliteDatabase, number: int) -> None:
    """Let the file not grow beyond so many pages; 0 for what it has."""
    db._writer.execute(f"PRAGMA max_page_count = {number or 1}")


async def test_a_full_file_is_unavailable_until_it_may_grow_again(tmp_path: Path) -> None:
    with database(tmp_path) as db:
        limit_pages(db, 0)

        with pytest.raises(Unavailable) as refused:
            await db.write(noting("big", "x" * 100_000))

        assert isinstance(refused.value.__cause__, apsw.FullError)
        assert "full" in db.failure
        limit_pages(db, 1_000_000)
        await db.write(noting("big", "x" * 100_000))
        assert db.failure == ""
        assert "big" in await noted(db)


async def test_a_commit_of_nothing_is_no_sign_of_recovery(tmp_path: Path) -> None:
    with database(tmp_path) as db:
        limit_pages(db, 0)
        with pytest.raises(Unavailable):
            await db.write(noting("big", "x" * 100_000))

        await db.write(lambda _: None)

        assert db.failure


async def test_it_finds_out_by_itself_that_there_is_room_again(tmp_path: Path) -> None:
    with database(tmp_path, DatabaseTimings(probe_s=0.01)) as db:
        limit_pages(db, 0)
        with pytest.raises(Unavailable):
            await db.write(noting("big", "x" * 100_000))
        await asyncio.sleep(0.1)
        assert db.failure

        await asyncio.to_thread(limit_pages, db, 1_000_000)

        async with asyncio.timeout(10):
            while db.failure:  # noqa: ASYNC110 - another thread changes it
                await asyncio.sleep(0.01)
        assert "write_probe" not in await noted(db)


async def test_it_finds_out_also_among_writes_that_change_nothing(tmp_path: Path) -> None:
    with database(tmp_path, DatabaseTimings(probe_s=0.1)) as db:
        limit_pages(db, 0)
        with pytest.raises(Unavailable):
            await db.write(noting("big", "x" * 100_000))
        await asyncio.to_thread(limit_pages, db, 1_000_000)

        async with asyncio.timeout(10):
            while db.failure:
                await db.write(lambda _: None)


class Raising(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        raise OSError(28, "No space left on device")


@contextmanager
def raising_log_handler() -> Iterator[None]:
    """Let what the database logs raise, and nothing else: a migration may log as well."""
    logger, handler = logging.getLogger(SqliteDatabase.__module__), Raising()
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


async def test_a_log_handler_that_raises_does_not_end_it(tmp_path: Path) -> None:
    with raising_log_handler(), database(tmp_path) as db:
        limit_pages(db, 0)
        with pytest.raises(Unavailable):
            await db.write(noting("big", "x" * 100_000))
        limit_pages(db, 1_000_000)

        await db.write(noting("after"))

        assert "after" in await noted(db)


async def test_a_log_handler_that_raises_does_not_keep_it_from_closing(tmp_path: Path) -> None:
    go_on = threading.Event()

    with raising_log_handler(), database(tmp_path) as db:
        with pytest.raises(Unavailable):
            await db.write(lambda _: go_on.wait())

        db.close()

        go_on.set()


@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "COMMIT"])
@pytest.mark.parametrize("error", [RuntimeError("a bug"), MemoryError(), SystemExit()], ids=repr)
async def test_whatever_is_raised_fails_one_group_only(
    tmp_path: Path, statement: str, error: BaseException
) -> None:
    with database(tmp_path) as db:
        real = db._writer
        db._writer = Unruly(real, statement, error)  # type: ignore[assignment]
        group = [db.write(noting(f"lost {n}")) for n in range(3)]

        answers = await asyncio.gather(*group, return_exceptions=True)

        assert {type(answer) for answer in answers} == {Unavailable}
        assert type(error).__name__ in db.failure
        db._writer = real
        await db.write(noting("after"))
        assert {key for key in await noted(db) if key.startswith(("lost", "after"))} == {"after"}


async def test_a_rollback_that_fails_costs_the_connection_only(tmp_path: Path) -> None:
    def write_and_fail(db: apsw.Connection) -> None:
        set_meta(db, "undone", "x")
        raise ValueError("no")

    with database(tmp_path) as db:
        db._writer = Unruly(db._writer, "ROLLBACK", apsw.IOError("bad"))  # type: ignore[assignment]

        with pytest.raises(ValueError, match="no"):
            await db.write(write_and_fail)

        await db.write(noting("after"))
        assert isinstance(db._writer, apsw.Connection)
        assert {"undone", "after"} & await noted(db) == {"after"}


async def test_a_snapshot_that_cannot_be_ended_costs_the_connection_only(tmp_path: Path) -> None:
    def end_badly(db: apsw.Connection) -> None:
        db.set_authorizer(lambda *_: apsw.SQLITE_DENY)  # also the statement that ends it

    with database(tmp_path) as db:
        with pytest.raises(apsw.AuthError):
            await db.read(end_badly)

        assert "schema_version" in await noted(db)


async def test_what_has_not_begun_in_time_is_not_stored(tmp_path: Path) -> None:
    go_on = threading.Event()
    with database(tmp_path) as db:
        before = asyncio.create_task(db.write(lambda _: go_on.wait()))
        await asyncio.sleep(0.05)

        with pytest.raises(Unavailable) as late:
            await db.write(noting("late"))

        assert late.value.detail == {"may_be_stored": False}
        assert "not ended" in db.failure
        go_on.set()
        await before
        await db.write(noting("after"))
        assert {"late", "after"} & await noted(db) == {"after"}


async def test_what_has_begun_and_is_late_may_be_stored_and_says_so(tmp_path: Path) -> None:
    go_on = threading.Event()

    def hang(db: apsw.Connection) -> None:
        set_meta(db, "late", "x")
        go_on.wait()

    with database(tmp_path) as db:
        with pytest.raises(Unavailable) as late:
            await db.write(hang)

        assert late.value.detail == {"may_be_stored": True}
        go_on.set()
        await db.write(noting("after"))
        assert {"late", "after"} <= await noted(db)


async def test_a_caller_who_is_gone_is_not_served(tmp_path: Path) -> None:
    go_on = threading.Event()
    with database(tmp_path) as db:
        before = asyncio.create_task(db.write(lambda _: go_on.wait()))
        gone = asyncio.create_task(db.write(noting("gone")))
        await asyncio.sleep(0.05)

        gone.cancel()
        await asyncio.wait((gone,))
        go_on.set()
        await before

        await db.write(noting("after"))
        assert {"gone", "after"} & await noted(db) == {"after"}


HANG = """
import asyncio, sys, threading
from plastic_memories.adapters.sqlite.database import SqliteDatabase
from plastic_memories.adapters.sql.database_timings import DatabaseTimings

async def main():
    db = SqliteDatabase(sys.argv[1], timings=DatabaseTimings(start_s=0.1, end_s=0.2, close_s=0.2))
    hang = lambda _: threading.Event().wait()
    asyncio.get_running_loop().create_task(db.read(hang))
    await asyncio.gather(db.write(hang), return_exceptions=True)
    db.close()
    print("closed")

asyncio.run(main())
"""


def test_a_disk_that_hangs_does_not_keep_the_process_from_ending(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", HANG, str(tmp_path / "hub.db")],
        capture_output=True,
        timeout=30,
        check=False,
    )

    assert (ended.returncode, ended.stdout.strip()) == (0, b"closed"), ended.stderr.decode()
