"""Derives the columns of a dataclass from its fields, and converts between the two."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import StrEnum
from operator import attrgetter, itemgetter
from typing import Any, get_origin, get_type_hints

# Made once: with options of its own, json.dumps builds an encoder for every value.
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_Decode = Callable[[Any], Any]


class RecordColumns:
    """The fields of a dataclass that are columns of the same value, by the type of each.

    Tuples and mappings are stored as JSON, enumerations as their text, everything else as it is.
    Fields that are no such column are left out; a field may have another name in the row.
    """

    def __init__(self, kind: type, *, left_out: set[str], renamed: Mapping[str, str]) -> None:
        hints = get_type_hints(kind)
        names = [field.name for field in fields(kind) if field.name not in left_out]
        self.columns = tuple(renamed.get(name, name) for name in names)
        self._values = attrgetter(*names)
        self._json = tuple(
            column
            for name, column in zip(names, self.columns, strict=True)
            if _is_json(hints[name])
        )
        decoders = {name: _decoder(hints[name]) for name in names}
        self._same = tuple(name for name in names if decoders[name] is None)
        self._same_columns = itemgetter(*(renamed.get(name, name) for name in self._same))
        self._decoders = tuple(
            (name, renamed.get(name, name), decode)
            for name, decode in decoders.items()
            if decode is not None
        )

    def params(self, record: object) -> dict[str, Any]:
        """Return the value of each column."""
        params = dict(zip(self.columns, self._values(record), strict=True))
        for column in self._json:
            params[column] = to_json(params[column])
        return params

    def field_values(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the value of each field."""
        values = dict(zip(self._same, self._same_columns(row), strict=True))
        for name, column, decode in self._decoders:
            values[name] = decode(row[column])
        return values


def to_json(value: object) -> str:
    # Most tags, metadata and attributes are empty.
    if not value and isinstance(value, (list, tuple, dict)):
        return "{}" if isinstance(value, dict) else "[]"
    return _ENCODE(value)


def from_json(text: str) -> Any:
    # Most are empty, and a recall reads many.
    if text == "[]":
        return []
    return {} if text == "{}" else json.loads(text)


def _is_json(hint: Any) -> bool:
    return get_origin(hint) in (tuple, Mapping)


def _decoder(hint: Any) -> _Decode | None:
    """Return what makes a field's value of a column's; None if they are the same."""
    if get_origin(hint) is tuple:
        return _decode_tuple
    if get_origin(hint) is Mapping:
        return from_json
    if hint is bool:
        return bool
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        # Looked up by value: calling an enumeration costs ten times as much.
        return {member.value: member for member in hint}.__getitem__
    return None


def _decode_tuple(text: str) -> tuple[Any, ...]:
    return () if text == "[]" else tuple(json.loads(text))
