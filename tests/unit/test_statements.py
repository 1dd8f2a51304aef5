"""Statements run in a short form that must say what the long one says."""

from __future__ import annotations

import re
from pathlib import Path

import apsw
import pytest

from plastic_memories.adapters.sql.rows import MEMORY_COLUMNS, MESSAGE_COLUMNS
from plastic_memories.adapters.sql.statements import ParameterStyle, Statement, parse_statements
from plastic_memories.adapters.sqlite.connection import connect
from plastic_memories.adapters.sqlite.migrate import migrate_schema
from plastic_memories.adapters.sqlite.queries import QUERIES


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> apsw.Connection:
    folder: Path = tmp_path_factory.mktemp("statements")
    db = connect(str(folder / "empty.db"), 1000)
    migrate_schema(db)
    return db


@pytest.mark.parametrize("name", QUERIES)
def test_both_forms_of_a_statement_are_the_same_program(db: apsw.Connection, name: str) -> None:
    statement = QUERIES[name]
    names = statement.parameters
    numbers = db.execute(f"EXPLAIN {statement.driver_text}", (None,) * len(names))

    assert list(numbers) == list(db.execute(f"EXPLAIN {statement.text}", dict.fromkeys(names)))


def test_a_name_that_comes_twice_is_given_once() -> None:
    statement = Statement("-- why\nSELECT :b + :a -- :c\n + :b")

    assert statement.driver_text == "SELECT ?1 + ?2 + ?1"
    assert statement.values({"a": 1, "b": 2, "c": 3}) == (2, 1)


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(KeyError):
        Statement("SELECT :a, :b").values({"a": 1})


@pytest.mark.parametrize(
    ("style", "text", "values"),
    [
        (ParameterStyle.QUESTION_MARK, "SELECT ?1::text, 5 % ?2, ?1", (1, 2)),
        (ParameterStyle.DOLLAR, "SELECT $1::text, 5 % $2, $1", (1, 2)),
        (ParameterStyle.FORMAT, "SELECT %s::text, 5 %% %s, %s", (1, 2, 1)),
    ],
)
def test_a_statement_is_written_as_its_driver_marks_parameters(
    style: ParameterStyle, text: str, values: tuple[int, ...]
) -> None:
    statement = Statement("SELECT :a::text, 5 % :b, :a", style=style)

    assert statement.driver_text == text
    assert statement.values({"a": 1, "b": 2}) == values


def test_a_fragment_stands_in_other_fragments_and_is_no_statement() -> None:
    text = """
-- inner --
-- Stands wherever {inner} does.
a = :a
-- outer --
{inner} AND b
-- get --
SELECT {given} FROM t WHERE {outer}
"""

    statements = parse_statements(text, {"given": "x, y"})

    assert {name: one.text for name, one in statements.items()} == {
        "get": "SELECT x, y FROM t WHERE a = :a AND b"
    }


def test_a_fragment_that_nobody_has_written_is_an_error() -> None:
    with pytest.raises(KeyError):
        parse_statements("-- get --\nSELECT {missing}")


@pytest.mark.parametrize(
    ("table", "columns"), [("memory_items", MEMORY_COLUMNS), ("messages", MESSAGE_COLUMNS)]
)
def test_the_columns_of_a_record_are_those_of_the_schema(
    db: apsw.Connection, table: str, columns: tuple[str, ...]
) -> None:
    in_schema = {name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))}

    assert {"id", *columns} == in_schema
    assert len(set(columns)) == len(columns)


def test_saving_a_memory_leaves_what_it_is_from_the_first() -> None:
    changed = set(re.findall(r"(\w+) = :", QUERIES["save_memory"].text.partition("WHERE")[0]))

    assert changed == {
        "content", "tags", "status", "quote", "confidence", "importance", "pinned", "core",
        "expires_at", "supersedes_id", "superseded_by", "root_id", "updated_at", "metadata",
        "attributes",
    }  # fmt: skip
