"""Every engine has the tables, columns and statements of the embedded database."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from plastic_memories.adapters.mysql.queries import QUERIES as MYSQL_QUERIES
from plastic_memories.adapters.postgres.queries import QUERIES as POSTGRES_QUERIES
from plastic_memories.adapters.sqlite.copying import table_layouts
from plastic_memories.adapters.sqlite.migrate import current_version
from plastic_memories.adapters.sqlite.queries import QUERIES

ENGINES = ("postgres", "mysql")
# Searches are asked for by the text index, which MySQL does not have.
OF_THE_TEXT_INDEX = {"search_memory", "search_messages", "search_messages_of"}


def migrations(engine: str) -> dict[int, str]:
    folder = files(f"plastic_memories.adapters.{engine}").joinpath("migrations")
    found = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return {
        int(name[:4]): folder.joinpath(name).read_text(encoding="utf-8").replace('"', "")
        for name in found
    }


def columns(engine: str) -> dict[str, set[str]]:
    """Return the columns of each table that the migrations of an engine make."""
    text = re.sub(r"--.*", "", "\n".join(migrations(engine).values()))
    tables = {
        name: set(re.findall(r"^    (\w+)\s+[A-Z]", body, re.MULTILINE))
        for name, body in re.findall(
            r"CREATE TABLE (?:IF NOT EXISTS )?(\w+) \((.*?)\n\)", text, re.DOTALL
        )
    }
    for table, column in re.findall(r"ALTER TABLE (\w+)\s+ADD COLUMN (\w+)", text):
        tables[table].add(column)
    return tables


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_has_every_table_and_column(engine: str) -> None:
    made = columns(engine)

    missing = {
        table.name: lacking
        for table in table_layouts()
        if (lacking := {name.strip('"') for name in table.columns} - made.get(table.name, set()))
    }

    assert missing == {}


@pytest.mark.parametrize("engine", ENGINES)
def test_the_schemas_have_one_number(engine: str) -> None:
    assert max(migrations(engine)) == current_version()


def test_every_engine_has_every_statement() -> None:
    assert set(QUERIES) - set(POSTGRES_QUERIES) == set()
    assert set(QUERIES) - set(MYSQL_QUERIES) - OF_THE_TEXT_INDEX == set()


@pytest.mark.parametrize("queries", [POSTGRES_QUERIES, MYSQL_QUERIES], ids=ENGINES)
def test_a_locking_statement_takes_the_place_of_one_with_the_same_parameters(queries) -> None:  # type: ignore[no-untyped-def]
    locking = [name for name in queries if name.endswith("_for_update")]

    for name in locking:
        plain = queries[name.removesuffix("_for_update")]
        assert set(queries[name].parameters) == set(plain.parameters)
