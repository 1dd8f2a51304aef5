"""Power cuts: what was acknowledged is there, and nothing is half there."""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from harness import Api, Server, StartServer, environment
from plastic_memories.model.owner import Owner
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.settings import load_settings
from plastic_memories.wiring import open_storage

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals"),
]

ROUNDS = 20
CLIENTS = 6
BATCH = 10


@dataclass
class Storm:
    """What several clients have sent, and what was acknowledged."""

    sent: set[str] = field(default_factory=set)
    memories: dict[int, str] = field(default_factory=dict)
    batches: set[str] = field(default_factory=set)
    numbers: itertools.count[int] = field(default_factory=itertools.count)
    enough: asyncio.Event = field(default_factory=asyncio.Event)
    acknowledged: int = 0

    async def write(self, api: Api) -> None:
        name = f"m{next(self.numbers)}"
        self.sent.add(name)
        memory_id = await api.remember(f"记住 {name} tea", "note", name)
        self.memories[memory_id] = name

    async def append(self, api: Api) -> None:
        name = f"b{next(self.numbers)}"
        self.sent.add(name)
        batch = [{"role": "user", "content": f"{name} 第 {n} 句"} for n in range(BATCH)]
        await api.did("/messages/append", messages=batch, session_id=name)
        self.batches.add(name)

    async def client(self, server: Server, goal: int) -> None:
        """Write and append until the server dies."""
        try:
            async with httpx.AsyncClient(base_url=server.url, timeout=30) as http:
                api = Api(http)
                for step in itertools.cycle((self.write, self.append)):
                    await step(api)
                    self.acknowledged += 1
                    if self.acknowledged >= goal:
                        self.enough.set()
        except httpx.TransportError:
            return


async def gone(clients: list[asyncio.Task[None]]) -> None:
    """Send the clients home; what one of them has seen go wrong is raised."""
    for client in clients:
        client.cancel()
    for outcome in await asyncio.gather(*clients, return_exceptions=True):
        if isinstance(outcome, Exception):
            raise outcome


async def found(folder: Path) -> tuple[dict[int, str], dict[str, int], list[str]]:
    """Open the file as it was left; return memories, messages by session, and what is wrong."""
    owner = Owner("default", "userA", "p1")

    def look(stores: Stores) -> tuple[dict[int, str], dict[str, int], list[str]]:
        rows = stores.memories.find(owner, MemoryFilter())
        messages = stores.messages.find(owner, MessageFilter())
        sessions = Counter(message.session_id for message in messages)
        return {row.id: row.key for row in rows}, dict(sessions), stores.upkeep.check()

    async with open_storage(load_settings(environment(folder))) as storage:
        return await storage.read(look)


async def test_twenty_power_cuts_in_a_write_storm_lose_nothing(start_server: StartServer) -> None:
    server = start_server()
    storm = Storm()
    for round_ in range(ROUNDS):
        storm.enough.clear()
        goal = storm.acknowledged + 15 + round_
        clients = [asyncio.create_task(storm.client(server, goal)) for _ in range(CLIENTS)]
        await asyncio.wait_for(storm.enough.wait(), 60)

        server.kill()
        await gone(clients)
        memories, sessions, problems = await found(server.folder)

        assert problems == []
        missing = {n: name for n, name in storm.memories.items() if memories.get(n) != name}
        assert missing == {}
        assert {name for name in storm.batches if sessions.get(name) != BATCH} == set()
        assert {name for name, count in sessions.items() if count != BATCH} == set()
        assert set(memories.values()) | set(sessions) <= storm.sent
        server.start()
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as http:
        api = Api(http)
        last = max(storm.memories)
        assert f"记住 {storm.memories[last]} tea" in await api.recalled(storm.memories[last])
