"""Everything moves to a server and back, and is the same."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from data_copy_parts import filled_database, rows_of
from plastic_memories.adapters.mysql.backend import open_mysql
from plastic_memories.adapters.postgres.backend import open_postgres
from plastic_memories.cli.main import main
from plastic_memories.testing.samples import MINE, memory, search_contents, store_memories
from services.postgres_server import PostgresServer
from services.test_mysql import MysqlTestOptions
from services.test_postgres import PostgresTestOptions

pytestmark = pytest.mark.external


def moved(source: str, target: str) -> None:
    result = CliRunner().invoke(main, ["migrate-data", "--from", source, "--to", target])
    assert result.exit_code == 0, result.output


@pytest.fixture
def source(tmp_path: Path, empty_database: Path) -> Path:
    return filled_database(Path(shutil.copy(empty_database, tmp_path / "source.db")))


def test_to_postgres_and_back(source: Path, tmp_path: Path, postgres: PostgresServer) -> None:
    with postgres.database(empty=True) as url:
        moved(f"sqlite:///{source}", url)
        moved(url, f"sqlite:///{tmp_path / 'back.db'}")

    assert rows_of(tmp_path / "back.db") == rows_of(source)


def test_to_mysql_and_back(source: Path, tmp_path: Path, mysql_url: str) -> None:
    moved(f"sqlite:///{source}", mysql_url)
    moved(mysql_url, f"sqlite:///{tmp_path / 'back.db'}")

    assert rows_of(tmp_path / "back.db") == rows_of(source)


async def test_what_was_moved_to_postgres_is_found_and_goes_on(
    source: Path, postgres: PostgresServer
) -> None:
    with postgres.database(empty=True) as url:
        await asyncio.to_thread(moved, f"sqlite:///{source}", url)

        async with open_postgres(PostgresTestOptions(url)) as storage:
            found = await search_contents(storage, "海鲜")
            [added] = await store_memories(storage, memory("new", MINE))
            problems = await storage.read(lambda s: s.upkeep.check())

    assert found == ["我对海鲜过敏"]
    assert added.id == 4
    assert problems == []


async def test_what_was_moved_to_mysql_goes_on(source: Path, mysql_url: str) -> None:
    await asyncio.to_thread(moved, f"sqlite:///{source}", mysql_url)

    async with open_mysql(MysqlTestOptions(mysql_url)) as storage:
        [added] = await store_memories(storage, memory("new", MINE))
        problems = await storage.read(lambda s: s.upkeep.check())

    assert added.id > 3
    assert problems == []
