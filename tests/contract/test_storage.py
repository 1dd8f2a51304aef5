"""The embedded storage keeps the published contract, with its text index and without."""

from __future__ import annotations

import random
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import apsw
import pytest

from plastic_memories.adapters.sql.rows import view_params
from plastic_memories.adapters.sql.stores import message_search
from plastic_memories.adapters.sqlite.backend import SqliteBackend, open_sqlite
from plastic_memories.adapters.sqlite.connection import fetch
from plastic_memories.adapters.sqlite.database import SqliteDatabase
from plastic_memories.adapters.sqlite.queries import QUERIES
from plastic_memories.adapters.sqlite.sqlite_session import SqliteStores
from plastic_memories.model.memory import Memory
from plastic_memories.model.owner import Viewpoint
from plastic_memories.ports.storage import Residue, StorageBackend, Stores
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.testing import StorageContract
from plastic_memories.testing.samples import (
    MINE,
    NOW,
    memory,
    message,
    store_memories,
    store_messages,
)


def connection_of(stores: Stores) -> apsw.Connection:
    assert isinstance(stores, SqliteStores)
    return stores.connection


@dataclass(frozen=True)
class Options:
    db_path: Path
    busy_timeout_ms: int = 5000
    write_group: int = 16


class TestSqlite(StorageContract):
    @pytest.fixture
    async def storage(self, tmp_path: Path, empty_database: Path) -> AsyncIterator[StorageBackend]:
        place = shutil.copy(empty_database, tmp_path / "pm.db")
        async with open_sqlite(Options(place)) as storage:
            yield storage

    async def test_what_was_acknowledged_is_there_after_a_restart(self, tmp_path: Path) -> None:
        async with open_sqlite(Options(tmp_path / "again.db")) as storage:
            [added] = await store_memories(storage, memory())

        async with open_sqlite(Options(tmp_path / "again.db")) as storage:
            kept = await storage.read(lambda s: s.memories.get(added.owner, added.id))

        assert kept == added

    async def test_where_counting_stops_is_said(
        self, storage: StorageBackend, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(message_search, "_MAX_TERM_COUNT", 3)
        await store_messages(
            storage, *(message(f"茶 tea {n}") for n in range(5)), message("green tea 绿茶")
        )

        spread = await storage.read(
            lambda s: s.message_search.document_counts(MINE, ["茶", "tea", "green"])
        )

        assert spread.counts == {"茶": 3, "tea": 3, "green": 1}
        assert [spread.is_common(term) for term in ("茶", "tea", "green")] == [True, True, False]

    async def test_recalled_rows_are_read_by_their_ids(self, storage: StorageBackend) -> None:
        """Left to itself, SQLite walks all rows of the user, be there a hundred thousand."""
        params = {**view_params(Viewpoint(MINE)), "now": 0.0, "ids": "[1]"}

        plan = await storage.read(
            lambda stores: fetch(
                connection_of(stores),
                "EXPLAIN QUERY PLAN " + QUERIES["seen_memory"].text,
                params,
            )
        )

        assert "USING INTEGER PRIMARY KEY" in plan[-1]["detail"]

    async def test_a_page_that_was_split_keeps_no_copy(
        self, storage: StorageBackend, tmp_path: Path
    ) -> None:
        """For all its secure_delete, SQLite leaves copies of moved rows in unused bytes."""
        chance = random.Random(1)

        def fill(stores: Stores) -> list[Memory]:
            stores.personas.ensure(MINE, NOW)
            rows: list[Memory] = []
            for n in range(1000):
                text = f"quokka{n:04d} " + "and so on " * chance.randint(1, 100)
                rows.append(stores.memories.add(memory(text, key=f"k{chance.random()}")))
                grown = replace(chance.choice(rows), attributes={"x": "y" * chance.randint(1, 600)})
                stores.memories.save(grown)
            return rows

        rows = await storage.write(fill)
        gone = chance.sample(rows, 500)

        await storage.write(lambda s: s.memories.erase(MINE, [row.id for row in gone], NOW))
        residue = await storage.scrub()

        data = (tmp_path / "pm.db").read_bytes()
        assert [row.content[:16] for row in gone if row.content[:16].encode() in data] == []
        assert residue == Residue()
        assert await storage.read(lambda s: s.upkeep.check()) == []

    async def test_no_word_of_what_is_erased_names_a_page_of_the_index(
        self, storage: StorageBackend, tmp_path: Path
    ) -> None:
        said = [f"茶杯 wombat{n:04d}" for n in range(3000)]
        ids = await store_messages(storage, *map(message, said))
        gone = random.Random(1).sample(range(len(said)), 1500)
        last = gone.pop()

        for some in (gone[:700], gone[700:]):
            wanted = MessageFilter(ids=[ids[n] for n in some])
            await storage.write(partial(_erase_messages, wanted=wanted))
        await storage.write(lambda s: s.messages.erase(MINE, MessageFilter(ids=[ids[last]]), NOW))
        await storage.scrub()

        data = (tmp_path / "pm.db").read_bytes()
        assert [n for n in [*gone, last] if said[n].split()[1].encode() in data] == []
        assert await storage.read(lambda s: s.upkeep.check()) == []
        left = [said[n] for n in range(len(said)) if n not in {*gone, last}]
        spread = await storage.read(
            lambda s: s.message_search.document_counts(MINE, [text.split()[1] for text in left])
        )
        assert set(spread.counts.values()) == {1}

    async def test_a_statement_is_planned_once_for_all_values(
        self, storage: StorageBackend
    ) -> None:
        is_stable = await storage.read(
            lambda stores: connection_of(stores).config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1)
        )

        assert is_stable == 1


class TestSqliteWithoutTextIndex(StorageContract):
    """What an SQLite without FTS5 would do: the same promises, by looking at every row."""

    @pytest.fixture
    async def storage(self, tmp_path: Path, empty_database: Path) -> AsyncIterator[StorageBackend]:
        database = SqliteDatabase(str(shutil.copy(empty_database, tmp_path / "pm.db")))
        await database.maintain(_drop_text_index)
        try:
            yield SqliteBackend(database, indexed=False)
        finally:
            database.close()


def _erase_messages(stores: Stores, wanted: MessageFilter) -> None:
    stores.messages.erase(MINE, wanted, NOW)


def _drop_text_index(db: apsw.Connection) -> None:
    for name in ("fts_memory_terms", "fts_messages_terms", "fts_memory", "fts_messages"):
        db.execute(f"DROP TABLE {name}")
    db.execute("DROP TABLE IF EXISTS text_partitions")


def test_no_part_of_the_contract_hides_a_test_of_another() -> None:
    names = [
        name for part in StorageContract.__mro__ for name in vars(part) if name.startswith("test_")
    ]

    assert sorted(names) == sorted(set(names))
