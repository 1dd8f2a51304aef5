"""The SQL stores ask an engine for what differs, and are made when they are used."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from plastic_memories.adapters.sql.bundle import SqlStores
from plastic_memories.adapters.sql.record_columns import RecordColumns
from plastic_memories.adapters.sql.statement_builder import count_rows, delete_owned, select
from plastic_memories.adapters.sql.statements import ParameterStyle
from plastic_memories.adapters.sqlite.connection import connect
from plastic_memories.adapters.sqlite.dialect import SQLITE
from plastic_memories.adapters.sqlite.sqlite_session import SqliteStores
from plastic_memories.model.memory import Memory, MemoryType, Status
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.testing.samples import memory


class ArrayDialect:
    """An engine with arrays, numbered parameters and no hints."""

    @property
    def parameter_style(self) -> ParameterStyle:
        return ParameterStyle.DOLLAR

    def array(self, values: Collection[Any]) -> list[Any]:
        return list(values)

    def is_member(self, column: str, parameter: str) -> str:
        return f"{column} = ANY({parameter})"

    def members(self, parameter: str) -> str:
        return f"SELECT unnest({parameter})"

    def contains(self, column: str, parameter: str) -> str:
        return f"{column} ILIKE {parameter}"

    def starts_with(self, column: str, parameter: str) -> str:
        return f"starts_with({column}, {parameter})"

    def json_text(self, column: str, name: str) -> str:
        return f"{column}::json ->> '{name}'"

    def skip_index(self, column: str) -> str:
        return column

    def use_index(self, name: str) -> str:
        return ""


ARRAYS = ArrayDialect()


def test_a_filter_is_written_in_the_words_of_its_engine() -> None:
    wanted = MemoryFilter(ids=[5, 4, 3, 2, 1], containing="50%", limit=7)

    statement, params = select(ARRAYS, "memory_items", wanted)

    assert statement.driver_text == (
        "SELECT * FROM memory_items WHERE tenant_id = $1 AND user_id = $2 "
        "AND persona_id IN ($3, '') AND id = ANY($4) AND (content ILIKE $5 OR mkey ILIKE $5) "
        "ORDER BY id DESC LIMIT $6"
    )
    assert params == {"ids": [5, 4, 3, 2, 1], "containing": "%50\\%%", "limit": 7}


def test_two_engines_do_not_share_what_is_built() -> None:
    wanted = MessageFilter(ids=range(9))

    texts = [select(dialect, "messages", wanted)[0].text for dialect in (SQLITE, ARRAYS, SQLITE)]

    assert ["json_each" in text for text in texts] == [True, False, True]
    assert select(SQLITE, "messages", wanted)[0] is select(SQLITE, "messages", wanted)[0]


def test_one_of_no_values_is_no_row() -> None:
    statement, params = select(ARRAYS, "memory_items", MemoryFilter(statuses=[]))

    assert "AND 1 = 0 ORDER BY" in statement.text
    assert params == {}


def test_a_table_is_emptied_of_one_owner_and_counted() -> None:
    assert delete_owned(ARRAYS, "goals").driver_text == (
        "DELETE FROM goals WHERE tenant_id = $1 AND user_id = $2 AND persona_id = $3"
    )
    assert count_rows(ARRAYS, "goals").driver_text == "SELECT count(*) AS n FROM goals"


def test_a_store_is_made_when_it_is_first_used() -> None:
    stores: SqlStores = SqliteStores(connect(":memory:", 1000), indexed=True)
    before = set(vars(stores))

    goals = stores.goals

    assert set(vars(stores)) - before == {"goals"}
    assert stores.goals is goals


def test_the_next_work_has_recorded_nothing() -> None:
    stores = SqliteStores(connect(":memory:", 1000), indexed=True)
    audit, memories = stores.audit, stores.memories

    following = stores.for_next_work()

    assert following.audit is not audit
    assert following.memories is memories


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"tags": ("a", "茶"), "source_message_ids": (3, 1), "pinned": True},
        {"metadata": {"a": [1, None]}, "attributes": {"b": "c"}, "type": MemoryType.EVENT},
        {"status": Status.REVOKED, "expires_at": 1.5},
    ],
)
def test_a_record_comes_back_from_its_columns(given: dict[str, Any]) -> None:
    columns = RecordColumns(Memory, left_out={"owner"}, renamed={"key": "mkey"})
    there = memory("tea", **given)

    row = columns.params(there)

    assert "key" not in row
    assert all(isinstance(value, str | int | float | None) for value in row.values())
    assert Memory(owner=there.owner, **columns.field_values(row)) == there
