"""A power cut while memories are embedded: the next start finishes, and nothing is wrong."""

from __future__ import annotations

import asyncio
import sys
import threading

import httpx
import pytest

from embedding_parts import Asked, LocalServer, Reply, hashed, serving, well_behaved
from harness import Api, Server, StartServer, environment
from plastic_memories.model.entry import Partition
from plastic_memories.model.owner import User
from plastic_memories.rules.ranking.vector_codec import pack_vectors
from plastic_memories.settings import load_settings
from plastic_memories.wiring import open_storage

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(120),
    pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals"),
]


class Pausing:
    """An endpoint that stops in the middle of its fourth answer, until it may go on."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.go_on = threading.Event()
        self.batches = 0

    def __call__(self, asked: Asked) -> Reply:
        self.batches += len(asked.body["input"]) > 1
        if self.batches == 3:
            self.reached.set()
            self.go_on.wait()
        return well_behaved(asked)


async def test_killed_while_embedding_the_next_start_finishes(start_server: StartServer) -> None:
    pausing = Pausing()
    texts = [f"第 {number} 件事 tea" for number in range(300)]
    with serving(LocalServer(pausing)) as endpoint:
        server = start_server(embedder="openai:tiny", embedder_base_url=endpoint.url)
        await _write(server, texts)
        await asyncio.to_thread(pausing.reached.wait)
        server.kill()
        pausing.go_on.set()

        server.start()
        await _filled(server)
        assert server.stop()

    settings = load_settings(environment(server.folder))
    partition = Partition(User("default", "userA"), "p1")
    async with open_storage(settings) as storage:
        news = await storage.read(lambda stores: stores.entries.changes_since(partition))
        problems = await storage.read(lambda stores: stores.upkeep.check())
    stored = {entry.memory_id: entry.vector for entry in news.entries}
    assert sorted(stored.values(), key=str) == sorted(
        (pack_vectors(hashed([text])) for text in texts), key=str
    )
    assert problems == []


async def _write(server: Server, texts: list[str]) -> None:
    items = [
        {"type": "note", "key": f"n{number}", "content": text} for number, text in enumerate(texts)
    ]
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as http:
        written = await Api(http).did("/memory/write", items=items)
    assert written["written"] == len(texts)


async def _filled(server: Server) -> None:
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as http, asyncio.timeout(60):
        while True:
            health = await Api(http).saw("/health")
            is_ready = health["components"]["embedder"]["status"] == "ready"
            if is_ready and health["embedding_backlog"] == 0:
                return
            await asyncio.sleep(0.02)
