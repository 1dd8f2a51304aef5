"""Everything moves from one database to another, and the first stays as it was."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import apsw
import pytest
from click.testing import CliRunner

from data_copy_parts import filled_database, rows_of
from plastic_memories.adapters.sql.table_copy import DatabaseCopy
from plastic_memories.adapters.sqlite.copying import (
    open_source,
    open_target,
    table_layouts,
)
from plastic_memories.cli.main import main
from plastic_memories.errors import Conflict


@pytest.fixture
def source(tmp_path: Path, empty_database: Path) -> Path:
    return filled_database(Path(shutil.copy(empty_database, tmp_path / "source.db")))


def test_a_copy_holds_every_row_and_leaves_the_source(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.db"
    before = hashlib.sha256(source.read_bytes()).hexdigest()

    result = CliRunner().invoke(
        main,
        ["migrate-data", "--from", f"sqlite:///{source}", "--to", f"sqlite:///{target}", "--json"],
    )

    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["tables"]["memory_items"] == 3
    assert rows_of(target) == rows_of(source)
    assert hashlib.sha256(source.read_bytes()).hexdigest() == before


def test_a_copy_that_was_interrupted_goes_on(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.db"

    class PowerCut(Exception):
        pass

    def cut(now: str, done: int, total: int) -> None:
        if now == "copying messages":
            raise PowerCut

    with (
        pytest.raises(PowerCut),
        open_source(str(source)) as here,
        open_target(str(target)) as there,
    ):
        DatabaseCopy(here, there, table_layouts(), cut).run()
    with open_source(str(source)) as here, open_target(str(target)) as there:
        DatabaseCopy(here, there, table_layouts(), lambda *_: None).run()

    assert rows_of(target) == rows_of(source)


def test_a_target_that_holds_something_is_refused(source: Path, tmp_path: Path) -> None:
    target = shutil.copy(source, tmp_path / "target.db")

    result = CliRunner().invoke(
        main, ["migrate-data", "--from", f"sqlite:///{source}", "--to", f"sqlite:///{target}"]
    )

    assert result.exit_code != 0
    assert "not empty" in result.output


def test_a_row_that_was_lost_on_the_way_is_seen(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.db"

    def lose(now: str, done: int, total: int) -> None:
        if now == "copying tombstones":
            db = apsw.Connection(str(target))
            db.execute("DELETE FROM messages WHERE id = 2")
            db.close()

    with open_source(str(source)) as here, open_target(str(target)) as there:
        copy = DatabaseCopy(here, there, table_layouts(), lose)

        with pytest.raises(Conflict, match="messages differs"):
            copy.run()


@pytest.mark.parametrize("address", ["oracle://x", "sqlite", "postgresql:x:secret"])
def test_another_kind_of_address_is_refused_without_showing_it(address: str) -> None:
    result = CliRunner().invoke(main, ["migrate-data", "--from", address, "--to", "sqlite:///x.db"])

    assert result.exit_code != 0
    assert "secret" not in result.output
