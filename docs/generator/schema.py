"""Reads JSON schemas: which fields there are, of what kind, with which default."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from docs.generator.openapi import openapi

Schema = dict[str, Any]
_UNLIMITED = 1e7  # a bound above this only keeps numbers inside their type
_LISTED = 8  # an enumeration longer than this is named, not spelt out


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    kind: str
    required: bool
    default: str

    @property
    def row(self) -> list[str]:
        mark = "**required**" if self.required else self.default
        return [f"`{self.name}`", self.kind, mark]


def resolve(schema: Schema) -> Schema:
    """Follow a reference into the components of the document."""
    reference = schema.get("$ref")
    if reference is None:
        return schema
    found: Schema = openapi()["components"]["schemas"][name_of(schema)]
    return found


def name_of(schema: Schema) -> str:
    """Return the name of a referenced schema; empty for one that stands in place."""
    return str(schema.get("$ref", "")).rpartition("/")[2]


def variants(schema: Schema) -> list[Schema]:
    """Return the alternatives of a schema, or itself if there is one only."""
    whole = resolve(schema)
    return [resolve(part) for part in whole.get("oneOf") or whole.get("anyOf") or [whole]]


def fields(schema: Schema) -> Iterator[Field]:
    """Yield the fields of an object."""
    required = set(schema.get("required", ()))
    for name, part in schema.get("properties", {}).items():
        yield Field(name, kind(part), name in required, default_of(part))


def default_of(schema: Schema) -> str:
    if schema.get("default") is None:
        return ""
    return f"`{json.dumps(schema['default'], ensure_ascii=False)}`"


def kind(schema: Schema) -> str:
    """Say in a few words what a value is."""
    parts = [part for part in schema.get("anyOf", ()) if part.get("type") != "null"]
    if parts:
        # Two limits on one type are still that type.
        return " or ".join(dict.fromkeys(kind(part) for part in parts))
    if values := resolve(schema).get("enum"):
        return _enumeration(name_of(schema), values)
    if "$ref" in schema:
        return f"[{name_of(schema)}](#{name_of(schema).lower()})"
    if schema.get("type") == "array":
        return f"list of {kind(schema.get('items', {}))}"
    return _bounded(schema)


def _enumeration(name: str, values: list[str]) -> str:
    if name and len(values) > _LISTED:
        return f"[{name}](#{name.lower()})"
    return ", ".join(f"`{value}`" for value in values)


def _bounded(schema: Schema) -> str:
    text = str(schema.get("type", "any"))
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    if text == "string" and "maxLength" in schema:
        return f"string, ≤ {schema['maxLength']} characters"
    if text in ("integer", "number") and high is not None and high < _UNLIMITED:
        return f"{text}, {_short(low)}–{_short(high)}"
    return text


def _short(number: float | None) -> str:
    return "" if number is None else f"{number:,.10g}"
