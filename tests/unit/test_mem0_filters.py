"""The language of filters: what holds, what does not, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plastic_memories.errors import BadRequest
from plastic_memories.rules.lifecycle.filter_conditions import (
    exact_value,
    mentioned_values,
    parse_filters,
    required_values,
)

ROW = {
    "user_id": "alice",
    "agent_id": "miku",
    "run_id": None,
    "created_at": 1_704_110_400.0,  # 2024-01-01T12:00:00Z
    "categories": ["note", "food"],
    "keywords": "我喜欢绿茶 and Green Tea",
    "metadata": {"city": "北京", "age": 20, "vip": True, "tags": ["a", "b"], "at": {"x": 1}},
}

HOLD = [
    {},
    {"user_id": "alice"},
    {"user_id": {"eq": "alice"}},
    {"user_id": {"ne": "bob"}},
    {"user_id": {"in": ["bob", "alice"]}},
    {"user_id": {"nin": ["bob"]}},
    {"user_id": "*"},
    {"run_id": None},
    {"AND": [{"user_id": "alice"}, {"agent_id": "miku"}]},
    {"OR": [{"user_id": "bob"}, {"agent_id": "miku"}]},
    {"NOT": [{"user_id": "bob"}]},
    {"NOT": {"user_id": "bob"}},
    {"AND": [{"OR": [{"run_id": "*"}, {"NOT": [{"run_id": "*"}]}]}, {"city": "北京"}]},
    {"city": "北京"},
    {"metadata": {"city": "北京"}},
    {"metadata": {"age": {"gte": 18, "lt": 21}}},
    {"metadata": {"contains": {"city": "北京", "age": 20}}},
    {"age": {"gt": 19.5}},
    {"age": {"lte": 20}},
    {"vip": True},
    {"tags": "a"},
    {"tags": {"contains": "b"}},
    {"tags": {"in": ["z", "b"]}},
    {"city": {"contains": "北"}},
    {"categories": {"in": ["food"]}},
    {"categories": {"contains": "food"}},
    {"keywords": {"icontains": "green tea"}},
    {"keywords": {"contains": "绿茶"}},
    {"created_at": "2024-01-01"},
    {"created_at": {"gte": "2024-01-01", "lte": "2024-01-01"}},
    {"created_at": {"lt": "2024-01-02"}},
    {"created_at": {"gt": "2023-12-31"}},
    {"created_at": {"eq": "2024-01-01T12:00:00+00:00"}},
    {"created_at": {"gte": "2024-01-01T13:00:00+01:00"}},
    {"created_at": {"gt": 1_704_110_399}},
]
FAIL = [
    {"user_id": "bob"},
    {"user_id": {"ne": "alice"}},
    {"run_id": "*"},
    {"run_id": "r1"},
    {"AND": [{"user_id": "alice"}, {"agent_id": "other"}]},
    {"OR": [{"user_id": "bob"}, {"agent_id": "other"}]},
    {"NOT": [{"user_id": "bob"}, {"agent_id": "miku"}]},
    {"vip": 1},
    {"age": {"gt": "19"}},
    {"age": {"contains": "2"}},
    {"nothing": "x"},
    {"metadata": {"city": "上海"}},
    {"keywords": {"contains": "green"}},
    {"created_at": {"lt": "2024-01-01"}},
    {"created_at": {"gt": "2024-01-01"}},
    {"created_at": {"ne": "2024-01-01"}},
]
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"city": {"like": "x"}}, "like"),
    ({"city": {">=": 3}}, ">="),
    ({"city": {"in": "x"}}, "list"),
    ({"AND": "x"}, "AND"),
    ({"OR": []}, "OR"),
    ({"created_at": {"gt": "yesterday"}}, "created_at"),
    ({"created_at": {"gt": [1]}}, "created_at"),
]


@pytest.mark.parametrize("filters", HOLD, ids=str)
def test_what_holds(filters: dict[str, Any]) -> None:
    assert parse_filters(filters)(ROW)


@pytest.mark.parametrize("filters", FAIL, ids=str)
def test_what_does_not_hold(filters: dict[str, Any]) -> None:
    assert not parse_filters(filters)(ROW)


@pytest.mark.parametrize(("filters", "named"), REFUSED, ids=str)
def test_what_cannot_be_read_is_refused_by_name(filters: dict[str, Any], named: str) -> None:
    with pytest.raises(BadRequest, match=named):
        parse_filters(filters)


def test_filters_may_not_be_bottomless() -> None:
    filters: dict[str, Any] = {"a": 1}
    for _ in range(100):
        filters = {"AND": [filters]}

    with pytest.raises(BadRequest, match="deeply"):
        parse_filters(filters)
    with pytest.raises(BadRequest, match="deeply"):
        mentioned_values(filters, "user_id")


def test_the_users_that_are_named_are_found_wherever_they_stand() -> None:
    filters = {
        "AND": [{"OR": [{"user_id": "a"}, {"user_id": {"in": ["b", "*"]}}]}, {"city": "x"}],
        "NOT": [{"user_id": "c"}],
    }

    assert mentioned_values(filters, "user_id") == ["a", "b"]


def test_a_field_is_required_only_where_everything_must_hold() -> None:
    assert required_values({"agent_id": "a"}, "agent_id") == ["a"]
    assert required_values({"AND": [{"x": 1}, {"agent_id": {"in": ["a", "b"]}}]}, "agent_id") == [
        "a",
        "b",
    ]
    assert required_values({"OR": [{"agent_id": "a"}, {"x": 1}]}, "agent_id") is None
    assert required_values({"agent_id": {"ne": "a"}}, "agent_id") is None


EXACT: list[tuple[dict[str, Any], str]] = [
    ({"run_id": "晚上"}, "晚上"),
    ({"run_id": {"eq": "r1", "ne": "r2"}}, "r1"),
    ({"AND": [{"city": "x"}, {"run_id": "r1"}]}, "r1"),
    ({"run_id": "*"}, ""),
    ({"run_id": {"in": ["r1", None]}}, ""),
    ({"run_id": {"ne": "r1"}}, ""),
    ({"OR": [{"run_id": "r1"}, {"city": "x"}]}, ""),
    ({"NOT": [{"run_id": "r1"}]}, ""),
]


@pytest.mark.parametrize(("filters", "value"), EXACT, ids=str)
def test_one_value_is_exact_only_where_no_other_would_do(
    filters: dict[str, Any], value: str
) -> None:
    assert exact_value(filters, "run_id") == value


_leaf = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
_name = st.sampled_from(
    ["AND", "OR", "NOT", "metadata", "created_at", "city", "in", "eq", "gt", "contains", "*"]
)
_filters = st.recursive(
    _leaf,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(_name, part, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(_name, _filters, max_size=3))
def test_any_filters_are_read_or_refused(filters: dict[str, Any]) -> None:
    try:
        holds = parse_filters(filters)
    except BadRequest:
        return

    assert holds(ROW) in (True, False)
    assert holds({}) in (True, False)


_runs = st.none() | st.sampled_from(["r1", "夜", "", "*"])
_asked = st.recursive(
    st.fixed_dictionaries({"run_id": _runs | st.fixed_dictionaries({"eq": _runs})})
    | st.fixed_dictionaries({"run_id": st.fixed_dictionaries({"in": st.lists(_runs)})}),
    lambda part: st.dictionaries(
        st.sampled_from(["AND", "OR", "NOT"]), st.lists(part, min_size=1, max_size=3), min_size=1
    ),
    max_leaves=6,
)


@given(_asked, _runs)
def test_what_an_exact_value_leaves_out_would_not_have_held(
    filters: dict[str, Any], held: str | None
) -> None:
    value = exact_value(filters, "run_id")

    assert value in ("", held) or not parse_filters(filters)({"run_id": held or None})
