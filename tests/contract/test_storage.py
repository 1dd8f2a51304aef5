"""The embedded storage keeps the published contract, with its text index and without."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import apsw
import pytest

from plastic_memories.adapters.sqlite.backend import SqliteBackend, open_sqlite
from plastic_memories.adapters.sqlite.database import SqliteDatabase
from plastic_memories.ports.storage import StorageBackend
from plastic_memories.testing import StorageContract
from plastic_memories.testing.samples import memory, remember


@dataclass(frozen=True)
class Options:
    db_path: Path
    busy_timeout_ms: int = 5000
    write_group: int = 16


class TestSqlite(StorageContract):
    @pytest.fixture
    async def storage(self, tmp_path: Path) -> AsyncIterator[StorageBackend]:
        async with open_sqlite(Options(tmp_path / "pm.db")) as storage:
            yield storage

    async def test_what_was_acknowledged_is_there_after_a_restart(self, tmp_path: Path) -> None:
        async with open_sqlite(Options(tmp_path / "again.db")) as storage:
            [added] = await remember(storage, memory())

        async with open_sqlite(Options(tmp_path / "again.db")) as storage:
            kept = await storage.read(lambda s: s.memories.get(added.owner, added.id))

        assert kept == added


class TestSqliteWithoutTextIndex(StorageContract):
    """What an SQLite without FTS5 would do: the same promises, by looking at every row."""

    @pytest.fixture
    async def storage(self, tmp_path: Path) -> AsyncIterator[StorageBackend]:
        options = Options(tmp_path / "pm.db")
        async with open_sqlite(options):
            pass
        database = SqliteDatabase(str(options.db_path))
        await database.maintain(_drop_text_index)
        try:
            yield SqliteBackend(database, indexed=False)
        finally:
            database.close()


def _drop_text_index(db: apsw.Connection) -> None:
    for name in ("fts_memory_terms", "fts_messages_terms", "fts_memory", "fts_messages"):
        db.execute(f"DROP TABLE {name}")
    db.execute("DROP TABLE IF EXISTS text_partitions")


def test_no_part_of_the_contract_hides_a_test_of_another() -> None:
    names = [
        name for part in StorageContract.__mro__ for name in vars(part) if name.startswith("test_")
    ]

    assert sorted(names) == sorted(set(names))
