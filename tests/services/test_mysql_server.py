"""What only a server shared by many can show, on MariaDB."""

from __future__ import annotations

import asyncio

import pytest

from plastic_memories.adapters.mysql.backend import KEPT, open_mysql
from plastic_memories.errors import Unavailable
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.testing.samples import MINE, NOW, memory, store_memories
from services.mysql_server import started_mysql
from services.real_server import free_port, private_folder
from services.test_mysql import MysqlTestOptions

pytestmark = pytest.mark.external


async def test_two_backends_count_as_one(mysql_url: str) -> None:
    options = MysqlTestOptions(mysql_url)
    async with open_mysql(options) as one, open_mysql(options) as two:
        await store_memories(one, memory("0", key="counter"))

        await asyncio.gather(*(each.write(_increment) for each in [one, two] * 20))

        [row] = await two.read(lambda s: s.memories.find(MINE, MemoryFilter()))
    assert row.content == "40"


async def test_a_server_that_comes_back_is_used_again() -> None:
    with private_folder() as folder:
        port = free_port()
        with started_mysql(folder, port) as server:
            server.prepare()
            opened = open_mysql(MysqlTestOptions(server.url))
            storage = await opened.__aenter__()
            await store_memories(storage, memory("before"))

        outcomes = await asyncio.gather(
            store_memories(storage, memory("during")),
            storage.read(lambda s: s.memories.find(MINE, MemoryFilter())),
            return_exceptions=True,
        )
        with started_mysql(folder, port):
            await store_memories(storage, memory("after"))
            rows = await storage.read(lambda s: s.memories.find(MINE, MemoryFilter()))
            described = await storage.describe()
        await opened.__aexit__(None, None, None)

    assert [type(outcome) for outcome in outcomes] == [Unavailable, Unavailable]
    assert [row.content for row in rows] == ["after", "before"]
    assert described["error"] == ""


async def test_a_receipt_says_what_the_server_keeps(mysql_url: str) -> None:
    async with open_mysql(MysqlTestOptions(mysql_url)) as storage:
        residue = await storage.scrub()

    assert (residue.pending, residue.kept) == ((), KEPT)


def _increment(stores: Stores) -> None:
    [row] = stores.memories.find(MINE, MemoryFilter(key="counter"))
    stores.memories.erase(MINE, [row.id], NOW)
    stores.memories.add(memory(str(int(row.content) + 1), key="counter"))
