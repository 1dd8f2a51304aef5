"""A database of the older program lies where ours should: every command says what it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from click.testing import CliRunner, Result

from legacy_database import make_legacy_database
from plastic_memories.adapters.sqlite.legacy.detection import legacy_version
from plastic_memories.adapters.sqlite.migrate import migrations
from plastic_memories.adapters.sqlite.queries import sql_file
from plastic_memories.cli.main import main

Run = Callable[..., Result]
ADVICE = "plastic-memories import --from legacy"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a command of an installation in `tmp_path`."""
    env = {
        "HOME": str(tmp_path),
        "PLASTIC_MEMORIES_DATA_DIR": str(tmp_path / "data"),
        "PLASTIC_MEMORIES_PORT": "1",
        "PLASTIC_MEMORIES_EMBEDDER": "none",
        "PLASTIC_MEMORIES_API_KEYS": None,
        "PLASTIC_MEMORIES_API_KEY": None,
        "PLASTIC_MEMORIES_URL": None,
        "NO_COLOR": "1",
    }

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main, list(arguments), env=env)

    return invoke


@pytest.mark.parametrize(
    "command",
    [
        ("serve",), ("worker", "--once"), ("migrate",), ("backup", "{tmp}/copy.db"),
        ("restore", "--yes", "{tmp}/good.db"), ("doctor", "--fix"), ("remember", "hello"),
        ("keys", "list"),
    ],
    ids=lambda command: command[0],
)  # fmt: skip
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("wal", [False, True], ids=["delete", "wal"])
def test_a_command_names_the_older_program_and_the_way_over(
    run: Run, tmp_path: Path, command: tuple[str, ...], version: int, wal: bool
) -> None:
    database = tmp_path / "data" / "plastic_memories.db"
    make_legacy_database(database, version, wal=wal)
    (tmp_path / "good.db").write_bytes(b"")
    before = database.read_bytes()

    done = run(*(part.format(tmp=tmp_path) for part in command))

    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit)
    assert "older program" in done.output
    assert ADVICE in done.output
    assert database.read_bytes() == before
    assert [file.name for file in database.parent.glob("*.db*")] == [database.name]


def test_doctor_says_that_the_database_is_of_the_older_program(run: Run, tmp_path: Path) -> None:
    make_legacy_database(tmp_path / "data" / "plastic_memories.db")

    done = run("doctor", "--json")

    [check] = [c for c in json.loads(done.stdout)["checks"] if c["name"] == "database"]
    assert done.exit_code == 1
    assert check["status"] == "fail"
    assert ADVICE in check["found"]


def test_a_file_of_the_older_program_is_not_restored(run: Run, tmp_path: Path) -> None:
    old = make_legacy_database(tmp_path / "old.db")
    run("remember", "我对海鲜过敏")

    done = run("restore", "--yes", str(old))

    assert done.exit_code == 1
    assert ADVICE in done.output
    assert len(json.loads(run("list", "--json").stdout)["items"]) == 1


@pytest.mark.parametrize("version", [1, 2])
def test_our_own_first_schemas_are_not_taken_for_the_older_program(
    tmp_path: Path, version: int
) -> None:
    path = tmp_path / "ours.db"
    db = apsw.Connection(str(path))
    for number, name in migrations():
        if number <= version:
            db.execute(sql_file(f"migrations/{name}"))
    db.execute("INSERT OR REPLACE INTO meta VALUES ('schema_version', ?)", (str(version),))
    db.close()

    assert legacy_version(path) == ""
