"""A full disk, under the database and the log: writes are refused until there is room again."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from full_disk import health_when, let_all_be_written, let_nothing_be_written
from harness import Api, Server, StartServer, environment, refused
from plastic_memories.model.owner import Owner
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.settings import load_settings
from plastic_memories.wiring import open_storage

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs limits of file sizes"),
]
OWNER = Owner("default", "userA", "p1")


@asynccontextmanager
async def caller(server: Server) -> AsyncIterator[Api]:
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as http:
        yield Api(http)


async def refuse_all(api: Api, number: int = 10) -> None:
    """Write and append at the same time, and see every one refused."""
    batch = [{"role": "user", "content": "y" * 5_000}] * 20
    answers = await asyncio.gather(
        *(
            api.post("/memory/write", type="note", key=f"f{n}", content="x" * 20_000)
            for n in range(number)
        ),
        api.post("/messages/append", messages=batch),
    )
    for answer in answers:
        refused(answer, 503, "unavailable")


async def stored(server: Server) -> tuple[set[str], list[str]]:
    """Open the file as it was left; return the keys of the memories, and what is wrong."""
    async with open_storage(load_settings(environment(server.folder))) as storage:
        return await storage.read(
            lambda stores: (
                {row.key for row in stores.memories.find(OWNER, MemoryFilter())},
                stores.upkeep.check(),
            )
        )


async def test_a_full_disk_is_unavailable_and_comes_back(start_server: StartServer) -> None:
    server = start_server()
    async with caller(server) as api:
        for number in range(5):
            await api.remember(f"before {number} 茶", "note", f"b{number}")
        let_nothing_be_written(server)

        for _ in range(3):
            await refuse_all(api)
        health = await api.saw("/health")
        stranger = await api.as_(None).saw("/health")

        assert stranger == {"status": "degraded"}
        assert health["status"] == "degraded"
        assert "IOError" in health["components"]["storage"]["error"]
        assert health["components"]["log"]["dropped"] > 0
        assert len(await api.listed()) == 5
        assert (await api.recall("茶"))["PERSONA_MEMORY"]

        let_all_be_written(server)
        health = await health_when(api, "ok")
        await api.remember("after", "note", "a")
        assert health["components"]["storage"]["error"] == ""
        assert len(await api.listed("all")) == 6
    assert server.stop()

    log = (server.folder / "logs" / "plastic_memories.log").read_text(encoding="utf-8")
    events = [json.loads(line)["event"] for line in log.splitlines()]
    assert "log.dropped" in events
    assert await stored(server) == ({"b0", "b1", "b2", "b3", "b4", "a"}, [])


async def test_a_server_on_a_full_disk_ends_when_it_is_told_to(start_server: StartServer) -> None:
    server = start_server()
    async with caller(server) as api:
        await api.remember("before", "note", "b")
        await api.recall("before")  # what was recalled is written down at the end, if it can be
        let_nothing_be_written(server)
        await refuse_all(api)

    assert server.stop()

    server.start()
    async with caller(server) as api:
        assert await api.listed() == ["before"]
        await api.remember("after", "note", "a")
    assert server.stop()
    assert await stored(server) == ({"a", "b"}, [])


async def test_what_expires_on_a_full_disk_is_not_shown_as_active(
    start_server: StartServer,
) -> None:
    server = start_server()
    async with caller(server) as api:
        await api.remember("stays", "note", "a")
        memory_id = await api.remember("goes", "note", "b", ttl_seconds=0.5)
        let_nothing_be_written(server)
        await asyncio.sleep(0.6)

        assert await api.listed() == ["stays"]
        assert await api.status_of(memory_id) == "expired"


async def is_all_done(api: Api) -> bool:
    jobs = (await api.saw("/jobs"))["items"]
    return bool(jobs) and all(job["status"] == "completed" for job in jobs)


async def test_jobs_are_done_again_after_a_full_disk(start_server: StartServer) -> None:
    # What a full disk keeps from being handed back is taken up again when its lease ends.
    server = start_server(worker_poll_s="0.05", job_lease_s="1")
    async with caller(server) as api:
        await api.say("叫我小林", session_id="s1")
        let_nothing_be_written(server)
        await refuse_all(api)
        await asyncio.sleep(0.3)
        let_all_be_written(server)
        await health_when(api, "ok")

        await api.did("/sessions/end", session_id="s1")

        async with asyncio.timeout(30):
            while not await is_all_done(api):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert list((server.folder / "conversations").rglob("s1.json"))
