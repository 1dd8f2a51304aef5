"""What a hub does by itself goes on after a disk was full, or anything else went wrong."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from full_disk import Unruly, health_when, no_file_larger_than
from harness import Api, StartHub, StillClock, refused
from plastic_memories.adapters.archive.files import FileArchive
from plastic_memories.adapters.pages.folder import DescriptorFolder, PathFolder, open_root
from plastic_memories.adapters.sqlite.database import SqliteDatabase
from plastic_memories.errors import Unavailable
from plastic_memories.hub.hub import Hub
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.model.job import JobStatus
from plastic_memories.model.owner import User
from plastic_memories.worker.loop import Worker

FULL = apsw.FullError("database or disk is full")
with_limits = pytest.mark.skipif(sys.platform == "win32", reason="needs a limit of file sizes")


def database_of(api: Api) -> SqliteDatabase:
    assert api.hub is not None
    found: SqliteDatabase = api.hub.storage.backend.storage._database  # type: ignore[attr-defined]
    return found


async def test_health_says_why_nothing_can_be_written(api: Api) -> None:
    database = database_of(api)
    real = database._writer
    database._writer = Unruly(real, "COMMIT", FULL)  # type: ignore[assignment]

    answer = await api.post("/memory/write", type="note", key="a", content="x")

    refused(answer, 503, "unavailable")
    health = await health_when(api, "degraded")
    assert health["components"]["storage"]["error"] == "FullError: database or disk is full"
    assert await api.as_(None).saw("/health") == {"status": "degraded"}

    database._writer = real
    await api.remember("x")
    assert (await api.saw("/health"))["status"] == "ok"


@dataclass
class Faulty:
    """A storage that fails once in a way nobody foresaw, then not any more."""

    storage: Any
    error: BaseException
    calls: int = 0

    async def read(self, work: Callable[[Any], Any]) -> Any:
        self._count()
        return await self.storage.read(work)

    async def write(self, work: Callable[[Any], Any]) -> Any:
        self._count()
        return await self.storage.write(work)

    def _count(self) -> None:
        self.calls += 1
        if self.calls == 1:
            raise self.error


def upkeep(hub: Hub, storage: AuditedStorage) -> Any:
    return replace(hub.upkeep, storage=storage, interval_s=0.01).run_forever()


def worker(hub: Hub, storage: AuditedStorage) -> Any:
    work = replace(hub.job_runner, jobs=replace(hub.job_runner.jobs, storage=storage))
    return Worker(work, hub.consolidate, poll_s=0.01).run_forever()


def pages(hub: Hub, storage: AuditedStorage) -> Any:
    return replace(hub.page_sync, storage=storage).run_forever(0.01, everybody=False)


@pytest.mark.parametrize("start", [upkeep, worker, pages])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyError("x")], ids=repr)
async def test_no_loop_of_the_hub_ends_by_an_error(
    api: Api, start: Callable[[Hub, AuditedStorage], Any], error: Exception
) -> None:
    assert api.hub is not None
    storage = Faulty(api.hub.storage.backend, error)

    loop = asyncio.create_task(start(api.hub, replace(api.hub.storage, backend=storage)))

    async with asyncio.timeout(20):
        while storage.calls < 3 and not loop.done():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert not loop.done()
    loop.cancel()


@with_limits
async def test_an_archive_without_room_keeps_the_file_it_has(tmp_path: Path) -> None:
    archive = FileArchive(tmp_path)
    await archive.put("a/b.json", "old")

    with no_file_larger_than(1000), pytest.raises(Unavailable):
        await archive.put("a/b.json", "new" * 10_000)

    assert await archive.get("a/b.json") == "old"
    assert [file.name for file in (tmp_path / "a").iterdir()] == ["b.json"]


@with_limits
@pytest.mark.parametrize("kind", [DescriptorFolder, PathFolder])
def test_a_page_without_room_leaves_nothing_half(tmp_path: Path, kind: type) -> None:
    folder = open_root(tmp_path) if kind is DescriptorFolder else PathFolder(tmp_path)
    assert isinstance(folder, kind)
    folder.put("MEMORY.md", b"old", 0o600)

    with no_file_larger_than(1000), pytest.raises(OSError, match="too large"):
        folder.put("MEMORY.md", b"new" * 10_000, 0o600)

    folder.close()
    assert [file.name for file in tmp_path.iterdir()] == ["MEMORY.md"]
    assert (tmp_path / "MEMORY.md").read_bytes() == b"old"


class Full(FileArchive):
    async def put(self, path: str, text: str) -> None:
        raise Unavailable("The archive cannot be reached: No space left on device.")


async def test_what_was_forgotten_leaves_the_archive_however_long_its_disk_was_full(
    start_hub: StartHub, clock: StillClock, tmp_path: Path
) -> None:
    api: Api = await start_hub(clock, worker="off")
    assert api.hub is not None
    await api.say("我海鲜过敏", session_id="s1")
    await api.say("叫我 tcmiku", session_id="s1")
    await api.did("/sessions/end", session_id="s1")
    await api.did("/jobs/run", session_id="s1", wait=True)
    work = api.hub.job_runner
    full = replace(work, archive=replace(work.archive, archive=Full(tmp_path)))
    object.__setattr__(api.hub.forget, "archive", full.archive)
    forgotten = await api.did("/memory/forget", type="profile", key="constraint.allergy.seafood")
    assert forgotten["receipt"]["archive"] == {"rewritten": 0, "waiting": 1}

    for _ in range(10):
        clock.at += 3600
        await full.run_all_due("w")

    assert await api.hub.jobs.find(User("default", "userA"), JobStatus.DEAD, 10) == []
    clock.at += 3600
    await work.run_all_due("w")
    [text] = archived(tmp_path)
    assert "海鲜" not in text
    assert "tcmiku" in text


def archived(folder: Path) -> list[str]:
    return [file.read_text(encoding="utf-8") for file in folder.rglob("s1.json")]
