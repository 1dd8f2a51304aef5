"""Filters as nested objects (AND, OR, NOT and comparisons), read once into a question to a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from plastic_memories.errors import BadRequest

Fields = Mapping[str, Any]
Condition = Callable[[Fields], bool]
_Test = Callable[[Any], bool]

ANYTHING = "*"
METADATA = "metadata"
TIMES = frozenset({"created_at", "updated_at", "timestamp"})
_MOST_PARTS = 500
_DEEPEST = 16
# Two times this near are the same: written as text, a time keeps microseconds.
_SAME_TIME_S = 1e-6


def condition_from(filters: Mapping[str, Any]) -> Condition:
    """Read filters; raise `BadRequest` with what is wrong. No filters hold for every row.

    A name that is no field of the row is looked for in its metadata.

    >>> holds = condition_from({"OR": [{"city": "北京"}, {"age": {"gte": 18}}]})
    >>> holds({"metadata": {"age": 20}}), holds({"metadata": {"age": 7}})
    (True, False)
    """
    return _Reader().every(filters, 0)


def named_values(filters: Mapping[str, Any], field: str) -> list[str]:
    """Return the texts a field is asked to be equal to, anywhere but under a NOT."""
    found: dict[str, None] = {}
    for name, value in _walk(filters, 0):
        if name == field:
            found.update(dict.fromkeys(_equal_to(value)))
    return list(found)


def required_values(filters: Mapping[str, Any], field: str) -> list[str] | None:
    """Return the only texts a field may have if the filters are to hold; None for any."""
    parts = [filters, *_objects(filters.get("AND"))]
    for part in parts:
        if field in part and (wanted := _equal_to(part[field])):
            return wanted
    return None


def exact_value(filters: Mapping[str, Any], field: str) -> str:
    """Return the one text a field must have if the filters are to hold; empty for any.

    >>> exact_value({"AND": [{"run_id": "晚上"}, {"city": "x"}]}, "run_id")
    '晚上'
    """
    for part in (filters, *_objects(filters.get("AND"))):
        value = part.get(field)
        wanted = value.get("eq") if isinstance(value, Mapping) else value
        if isinstance(wanted, str) and wanted != ANYTHING:
            return wanted
    return ""


def _walk(filters: Mapping[str, Any], depth: int) -> Iterator[tuple[str, Any]]:
    if depth > _DEEPEST:
        raise BadRequest("The filters are nested too deeply.")
    for name, value in filters.items():
        if name in ("AND", "OR"):
            for part in _objects(value):
                yield from _walk(part, depth + 1)
        elif name != "NOT":
            yield name, value


def _equal_to(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        values = [value.get("eq"), *(value["in"] if isinstance(value.get("in"), list) else ())]
    else:
        values = [value]
    return [one for one in values if isinstance(one, str) and one not in ("", ANYTHING)]


def _objects(value: Any) -> list[Mapping[str, Any]]:
    parts = value if isinstance(value, list) else [value]
    return [part for part in parts if isinstance(part, Mapping)]


@dataclass(slots=True)
class _Reader:
    parts: int = 0

    def every(self, filters: Mapping[str, Any], depth: int) -> Condition:
        self._count(len(filters), depth)
        return _every([self._one(name, value, depth) for name, value in filters.items()])

    def _one(self, name: str, value: Any, depth: int) -> Condition:
        if name in ("AND", "OR", "NOT"):
            return self._joined(name, value, depth)
        if name == METADATA and isinstance(value, Mapping) and not _are_operators(value):
            inner = self.every(value, depth + 1)
            return lambda row: inner({METADATA: row.get(METADATA) or {}})
        test = self._test(name, value)
        return lambda row: test(_value_of(row, name))

    def _joined(self, name: str, value: Any, depth: int) -> Condition:
        parts = value if isinstance(value, list) else [value]
        if not parts or not all(isinstance(part, Mapping) for part in parts):
            raise BadRequest(f"{name} takes a list of conditions.")
        conditions = [self.every(part, depth + 1) for part in parts]
        if name == "AND":
            return _every(conditions)
        if name == "OR":
            return _any(conditions)
        none_of = _any(conditions)
        return lambda row: not none_of(row)

    def _test(self, name: str, value: Any) -> _Test:
        if not isinstance(value, Mapping):
            return _is_there if value == ANYTHING else _operator(name, "eq", value)
        self._count(len(value), 0)
        return _every([_operator(name, operator, wanted) for operator, wanted in value.items()])

    def _count(self, number: int, depth: int) -> None:
        self.parts += number
        if depth > _DEEPEST or self.parts > _MOST_PARTS:
            raise BadRequest("The filters are nested too deeply, or too long.")


def _every(tests: Sequence[_Test]) -> _Test:
    """Return a test that asks all of some; one by itself, and without a generator for the many."""
    if len(tests) == 1:
        return tests[0]

    def every(value: Any) -> bool:
        for test in tests:  # noqa: SIM110 - asked of every row, and twice as quick
            if not test(value):
                return False
        return True

    return every


def _any(tests: Sequence[_Test]) -> _Test:
    if len(tests) == 1:
        return tests[0]
    return lambda value: any(test(value) for test in tests)


def _value_of(row: Fields, name: str) -> Any:
    if name in row:
        return row[name]
    return (row.get(METADATA) or {}).get(name)


def _is_there(held: Any) -> bool:
    return held not in (None, "", [])


def _are_operators(value: Mapping[str, Any]) -> bool:
    return bool(value) and all(name in _OPERATORS for name in value)


def _operator(name: str, operator: str, wanted: Any) -> _Test:
    make = _OPERATORS.get(operator)
    if make is None:
        known = ", ".join(_OPERATORS)
        raise BadRequest(f"Unknown filter operator {operator!r:.60} on {name!r:.60}; use {known}.")
    if operator in ("in", "nin") and not isinstance(wanted, list):
        raise BadRequest(f"The filter operator {operator} on {name!r:.60} takes a list.")
    if name in TIMES and operator in _ON_TIMES:
        return _ON_TIMES[operator](_span(name, wanted))
    return make(wanted)


def _equal(wanted: Any) -> _Test:
    def test(held: Any) -> bool:
        if isinstance(held, list | tuple) and not isinstance(wanted, list):
            return wanted in held
        # To JSON true and 1 are two things, to Python they are equal.
        return isinstance(held, bool) == isinstance(wanted, bool) and bool(held == wanted)

    return test


def _not(make: Callable[[Any], _Test]) -> Callable[[Any], _Test]:
    def made(wanted: Any) -> _Test:
        test = make(wanted)
        return lambda held: not test(held)

    return made


def _among(wanted: Sequence[Any]) -> _Test:
    tests = [_equal(one) for one in wanted]
    return lambda held: any(test(held) for test in tests)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any], _Test]:
    def made(wanted: Any) -> _Test:
        return lambda held: _comparable(held, wanted) and compare(held, wanted)

    return made


def _comparable(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    return numbers or (isinstance(one, str) and isinstance(other, str))


def _containing(fold: Callable[[str], str]) -> Callable[[Any], _Test]:
    def made(wanted: Any) -> _Test:
        def test(held: Any) -> bool:
            if isinstance(held, str):
                return isinstance(wanted, str) and fold(wanted) in fold(held)
            if isinstance(held, Mapping):
                return isinstance(wanted, Mapping) and wanted.items() <= held.items()
            if isinstance(held, list | tuple):
                return _folded(wanted, fold) in [_folded(one, fold) for one in held]
            return False

        return test

    return made


def _folded(value: Any, fold: Callable[[str], str]) -> Any:
    return fold(value) if isinstance(value, str) else value


_OPERATORS: dict[str, Callable[[Any], _Test]] = {
    "eq": _equal,
    "ne": _not(_equal),
    "in": _among,
    "nin": _not(_among),
    "gt": _ordered(lambda held, wanted: held > wanted),
    "gte": _ordered(lambda held, wanted: held >= wanted),
    "lt": _ordered(lambda held, wanted: held < wanted),
    "lte": _ordered(lambda held, wanted: held <= wanted),
    "contains": _containing(str),
    "icontains": _containing(str.casefold),
}


_Span = tuple[float, float]


def _on_time(compare: Callable[[float, _Span], bool]) -> Callable[[_Span], _Test]:
    return lambda span: lambda held: isinstance(held, int | float) and compare(held, span)


# A day is all of its hours: what was made on it is neither before nor after it.
_ON_TIMES: dict[str, Callable[[_Span], _Test]] = {
    "eq": _on_time(lambda held, span: span[0] <= held < span[1]),
    "ne": _on_time(lambda held, span: not span[0] <= held < span[1]),
    "gt": _on_time(lambda held, span: held >= span[1]),
    "gte": _on_time(lambda held, span: held >= span[0]),
    "lt": _on_time(lambda held, span: held < span[0]),
    "lte": _on_time(lambda held, span: held < span[1]),
}


def _span(name: str, wanted: Any) -> _Span:
    try:
        return time_span(wanted)
    except (TypeError, ValueError, OverflowError):
        raise BadRequest(f"{name} takes a date, a time, or seconds since 1970.") from None


def time_span(value: Any) -> _Span:
    """Return from when to when a date, a time or a number of seconds lasts.

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
    return value - _SAME_TIME_S, value + _SAME_TIME_S
