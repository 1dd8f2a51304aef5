"""A database with a little of everything, and all its rows, to compare."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import apsw

from plastic_memories.adapters.sqlite.backend import open_sqlite
from plastic_memories.adapters.sqlite.copying import table_layouts
from plastic_memories.model.memory import MemoryType
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.lifecycle.tombstones import TombstoneDigests
from plastic_memories.testing.samples import MINE, NOW, OTHER_TENANT, memory, message
from recall_parts import Options


def filled_database(path: Path) -> Path:
    """Store a little of everything in a database file."""

    def fill(stores: Stores) -> None:
        for owner in (MINE, OTHER_TENANT):
            stores.personas.ensure(owner, NOW)
        for number in range(5):
            stores.messages.append([message(f"第 {number} 句 🎁 \\ ' \" %")])
        stores.memories.add(memory("I like oolong tea", pinned=True, source_message_ids=(1, 2)))
        stores.memories.add(memory("我对海鲜过敏", type=MemoryType.PROFILE, key="constraint.food"))
        stores.memories.add(memory("green tea", OTHER_TENANT))
        stores.cards.put(MINE, bytes(range(256)), NOW)
        mark = TombstoneDigests(value_digest="v", key_digest="k", covers_key=False)
        stores.tombstones.add(MINE, mark, NOW)

    async def store() -> None:
        async with open_sqlite(Options(path)) as storage:
            await storage.write(fill)

    asyncio.run(store())
    return path


def rows_of(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table, but for the revisions that indexing raises."""
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    found = {}
    for table in table_layouts():
        names = ", ".join(name for name in table.columns if name != "revision")
        key = ", ".join(table.key)
        found[table.name] = list(db.execute(f"SELECT {names} FROM {table.name} ORDER BY {key}"))
    found["meta"] = list(db.execute("SELECT key, value FROM meta ORDER BY key"))
    db.close()
    return found
