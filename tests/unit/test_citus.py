"""The tables of PostgreSQL shard by user, and the script that does it knows all of them."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

ROOT = Path(__file__).parents[2]
REFERENCE_TABLES = {"meta", "api_keys", "console_sessions"}


def schema() -> str:
    folder = files("plastic_memories.adapters.postgres").joinpath("migrations")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def test_the_script_distributes_every_table() -> None:
    script = (ROOT / "deploy" / "citus.sql").read_text()

    tables = set(re.findall(r"CREATE TABLE (\w+)", schema()))

    assert set(re.findall(r"create_reference_table\('(\w+)'", script)) == REFERENCE_TABLES
    assert set(re.findall(r"create_distributed_table\('(\w+)', 'user_id'", script)) == (
        tables - REFERENCE_TABLES
    )


def test_every_key_of_a_distributed_table_holds_the_user() -> None:
    shared = "|".join(REFERENCE_TABLES)
    owned = re.sub(rf"CREATE TABLE ({shared}) \(.*?\n\);", "", schema(), flags=re.DOTALL)

    keys = re.findall(r"(?:PRIMARY KEY|UNIQUE(?: INDEX \w+ ON \w+)?)\s*\(([^)]*)\)", owned)

    assert keys
    for columns in keys:
        assert columns.split(", ")[:2] == ["tenant_id", "user_id"], columns
