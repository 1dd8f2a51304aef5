"""Statements run in a short form that must say what the long one says."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from plastic_memories.adapters.sqlite.connection import connect
from plastic_memories.adapters.sqlite.migrate import migrate_schema
from plastic_memories.adapters.sqlite.queries import QUERIES, Statement


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> apsw.Connection:
    folder: Path = tmp_path_factory.mktemp("statements")
    db = connect(str(folder / "empty.db"), 1000)
    migrate_schema(db)
    return db


@pytest.mark.parametrize("name", QUERIES)
def test_both_forms_of_a_statement_are_the_same_program(db: apsw.Connection, name: str) -> None:
    statement = QUERIES[name]
    numbers = db.execute(f"EXPLAIN {statement.short}", (None,) * len(statement.names))

    assert list(numbers) == list(db.execute(f"EXPLAIN {statement}", dict.fromkeys(statement.names)))


def test_a_name_that_comes_twice_is_given_once() -> None:
    statement = Statement("-- why\nSELECT :b + :a -- :c\n + :b")

    assert statement.short == "SELECT ?1 + ?2 + ?1"
    assert statement.values({"a": 1, "b": 2, "c": 3}) == (2, 1)


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(KeyError):
        Statement("SELECT :a, :b").values({"a": 1})
