"""Compile filters (nested AND, OR, NOT and comparisons) into a predicate on rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from plastic_memories.errors import BadRequest

Fields = Mapping[str, Any]
Condition = Callable[[Fields], bool]
_ValueTest = Callable[[Any], bool]

WILDCARD = "*"
METADATA = "metadata"
TIME_FIELDS = frozenset({"created_at", "updated_at", "timestamp"})
_MAX_CONDITIONS = 500
_MAX_DEPTH = 16
# Times this close are equal: a time written as text has microseconds.
_TIME_TOLERANCE_S = 1e-6


def parse_filters(filters: Mapping[str, Any]) -> Condition:
    """Parse filters; raise `BadRequest` if they are invalid. Empty filters match every row.

    A name that is not a field of the row is looked up in its metadata.

    >>> holds = parse_filters({"OR": [{"city": "北京"}, {"age": {"gte": 18}}]})
    >>> holds({"metadata": {"age": 20}}), holds({"metadata": {"age": 7}})
    (True, False)
    """
    return _FilterParser().parse_all(filters, 0)


def mentioned_values(filters: Mapping[str, Any], field: str) -> list[str]:
    """Return the texts a field is compared with for equality, except under a NOT."""
    found: dict[str, None] = {}
    for name, value in _walk_conditions(filters, 0):
        if name == field:
            found.update(dict.fromkeys(_equality_values(value)))
    return list(found)


def required_values(filters: Mapping[str, Any], field: str) -> list[str] | None:
    """Return the only texts a field may have if the filters match; None for any."""
    parts = [filters, *_as_objects(filters.get("AND"))]
    for part in parts:
        if field in part and (wanted := _equality_values(part[field])):
            return wanted
    return None


def exact_value(filters: Mapping[str, Any], field: str) -> str:
    """Return the one text a field must have if the filters match; empty for any.

    >>> exact_value({"AND": [{"run_id": "晚上"}, {"city": "x"}]}, "run_id")
    '晚上'
    """
    for part in (filters, *_as_objects(filters.get("AND"))):
        value = part.get(field)
        wanted = value.get("eq") if isinstance(value, Mapping) else value
        if isinstance(wanted, str) and wanted != WILDCARD:
            return wanted
    return ""


def _walk_conditions(filters: Mapping[str, Any], depth: int) -> Iterator[tuple[str, Any]]:
    if depth > _MAX_DEPTH:
        raise BadRequest("The filters are nested too deeply.")
    for name, value in filters.items():
        if name in ("AND", "OR"):
            for part in _as_objects(value):
                yield from _walk_conditions(part, depth + 1)
        elif name != "NOT":
            yield name, value


def _equality_values(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        values = [value.get("eq"), *(value["in"] if isinstance(value.get("in"), list) else ())]
    else:
        values = [value]
    return [one for one in values if isinstance(one, str) and one not in ("", WILDCARD)]


def _as_objects(value: Any) -> list[Mapping[str, Any]]:
    parts = value if isinstance(value, list) else [value]
    return [part for part in parts if isinstance(part, Mapping)]


@dataclass(slots=True)
class _FilterParser:
    parts: int = 0

    def parse_all(self, filters: Mapping[str, Any], depth: int) -> Condition:
        self._check_limits(len(filters), depth)
        return _all_of(
            [self._parse_condition(name, value, depth) for name, value in filters.items()]
        )

    def _parse_condition(self, name: str, value: Any, depth: int) -> Condition:
        if name in ("AND", "OR", "NOT"):
            return self._parse_logical(name, value, depth)
        if name == METADATA and isinstance(value, Mapping) and not _are_operators(value):
            inner = self.parse_all(value, depth + 1)
            return lambda row: inner({METADATA: row.get(METADATA) or {}})
        test = self._parse_field_test(name, value)
        return lambda row: test(_value_of(row, name))

    def _parse_logical(self, name: str, value: Any, depth: int) -> Condition:
        parts = value if isinstance(value, list) else [value]
        if not parts or not all(isinstance(part, Mapping) for part in parts):
            raise BadRequest(f"{name} takes a list of conditions.")
        conditions = [self.parse_all(part, depth + 1) for part in parts]
        if name == "AND":
            return _all_of(conditions)
        if name == "OR":
            return _any_of(conditions)
        none_of = _any_of(conditions)
        return lambda row: not none_of(row)

    def _parse_field_test(self, name: str, value: Any) -> _ValueTest:
        if not isinstance(value, Mapping):
            return _is_present if value == WILDCARD else _operator_test(name, "eq", value)
        self._check_limits(len(value), 0)
        return _all_of(
            [_operator_test(name, operator, wanted) for operator, wanted in value.items()]
        )

    def _check_limits(self, number: int, depth: int) -> None:
        self.parts += number
        if depth > _MAX_DEPTH or self.parts > _MAX_CONDITIONS:
            raise BadRequest("The filters are nested too deeply, or too long.")


def _all_of(tests: Sequence[_ValueTest]) -> _ValueTest:
    """Return the conjunction of tests; a single test is returned as it is, for speed."""
    if len(tests) == 1:
        return tests[0]

    def every(value: Any) -> bool:
        for test in tests:  # noqa: SIM110 - runs for every row, twice as fast as `all`
            if not test(value):
                return False
        return True

    return every


def _any_of(tests: Sequence[_ValueTest]) -> _ValueTest:
    if len(tests) == 1:
        return tests[0]
    return lambda value: any(test(value) for test in tests)


def _value_of(row: Fields, name: str) -> Any:
    if name in row:
        return row[name]
    return (row.get(METADATA) or {}).get(name)


def _is_present(value: Any) -> bool:
    return value not in (None, "", [])


def _are_operators(value: Mapping[str, Any]) -> bool:
    return bool(value) and all(name in _OPERATORS for name in value)


def _operator_test(name: str, operator: str, wanted: Any) -> _ValueTest:
    make = _OPERATORS.get(operator)
    if make is None:
        known = ", ".join(_OPERATORS)
        raise BadRequest(f"Unknown filter operator {operator!r:.60} on {name!r:.60}; use {known}.")
    if operator in ("in", "nin") and not isinstance(wanted, list):
        raise BadRequest(f"The filter operator {operator} on {name!r:.60} takes a list.")
    if name in TIME_FIELDS and operator in _TIME_OPERATORS:
        return _TIME_OPERATORS[operator](_time_span_of(name, wanted))
    return make(wanted)


def _equals_test(wanted: Any) -> _ValueTest:
    def test(value: Any) -> bool:
        if isinstance(value, list | tuple) and not isinstance(wanted, list):
            return wanted in value
        # In JSON true and 1 differ, in Python they are equal.
        return isinstance(value, bool) == isinstance(wanted, bool) and bool(value == wanted)

    return test


def _negated_test(make: Callable[[Any], _ValueTest]) -> Callable[[Any], _ValueTest]:
    def build(wanted: Any) -> _ValueTest:
        test = make(wanted)
        return lambda value: not test(value)

    return build


def _in_test(wanted: Sequence[Any]) -> _ValueTest:
    tests = [_equals_test(item) for item in wanted]
    return lambda value: any(test(value) for test in tests)


def _ordering_test(compare: Callable[[Any, Any], bool]) -> Callable[[Any], _ValueTest]:
    def build(wanted: Any) -> _ValueTest:
        return lambda value: _comparable(value, wanted) and compare(value, wanted)

    return build


def _comparable(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    return numbers or (isinstance(one, str) and isinstance(other, str))


def _contains_test(fold: Callable[[str], str]) -> Callable[[Any], _ValueTest]:
    def build(wanted: Any) -> _ValueTest:
        def test(value: Any) -> bool:
            if isinstance(value, str):
                return isinstance(wanted, str) and fold(wanted) in fold(value)
            if isinstance(value, Mapping):
                return isinstance(wanted, Mapping) and wanted.items() <= value.items()
            if isinstance(value, list | tuple):
                return _fold_case(wanted, fold) in [_fold_case(item, fold) for item in value]
            return False

        return test

    return build


def _fold_case(value: Any, fold: Callable[[str], str]) -> Any:
    return fold(value) if isinstance(value, str) else value


_OPERATORS: dict[str, Callable[[Any], _ValueTest]] = {
    "eq": _equals_test,
    "ne": _negated_test(_equals_test),
    "in": _in_test,
    "nin": _negated_test(_in_test),
    "gt": _ordering_test(lambda value, wanted: value > wanted),
    "gte": _ordering_test(lambda value, wanted: value >= wanted),
    "lt": _ordering_test(lambda value, wanted: value < wanted),
    "lte": _ordering_test(lambda value, wanted: value <= wanted),
    "contains": _contains_test(str),
    "icontains": _contains_test(str.casefold),
}


_TimeRange = tuple[float, float]


def _time_test(compare: Callable[[float, _TimeRange], bool]) -> Callable[[_TimeRange], _ValueTest]:
    return lambda span: lambda value: isinstance(value, int | float) and compare(value, span)


# A date covers all of its hours: a time on that day is neither before nor after it.
_TIME_OPERATORS: dict[str, Callable[[_TimeRange], _ValueTest]] = {
    "eq": _time_test(lambda held, span: span[0] <= held < span[1]),
    "ne": _time_test(lambda held, span: not span[0] <= held < span[1]),
    "gt": _time_test(lambda held, span: held >= span[1]),
    "gte": _time_test(lambda held, span: held >= span[0]),
    "lt": _time_test(lambda held, span: held < span[0]),
    "lte": _time_test(lambda held, span: held < span[1]),
}


def _time_span_of(name: str, wanted: Any) -> _TimeRange:
    try:
        return time_span(wanted)
    except (TypeError, ValueError, OverflowError):
        raise BadRequest(f"{name} takes a date, a time, or seconds since 1970.") from None


def time_span(value: Any) -> _TimeRange:
    """Return start and end of a date, a time or a number of seconds.

    >>> time_span("1970-01-02")
    (86400.0, 172800.0)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError("no time")
    if isinstance(value, str):
        if len(value) == len("2026-01-01"):
            day = date.fromisoformat(value)
            start = datetime(day.year, day.month, day.day, tzinfo=UTC)
            return start.timestamp(), start.timestamp() + timedelta(days=1).total_seconds()
        moment = datetime.fromisoformat(value)
        value = moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
    return value - _TIME_TOLERANCE_S, value + _TIME_TOLERANCE_S
