"""Convert a mem0 export to lines of our export, listing entries that cannot be read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from plastic_memories.rules.lifecycle.filter_conditions import time_span

DEFAULT_PERSONA_ID = "default"
SOURCE_APP = "mem0"
# Fields in which mem0 interfaces return lists of memories, and fields of the text.
_LIST_FIELDS = ("results", "memories", "data", "items")
_TEXT_FIELDS = ("memory", "text", "data", "content")
_MAX_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Mem0Entry:
    """One memory of a mem0 file: its position, its mem0 user and its export line."""

    place: int
    user_id: str
    names_agent: bool
    line: Mapping[str, Any]


@dataclass(slots=True)
class Mem0Export:
    entries: list[Mem0Entry] = field(default_factory=list)
    skipped: list[tuple[int, str]] = field(default_factory=list)  # (position, reason)

    @property
    def users(self) -> Counter[str]:
        return Counter(entry.user_id for entry in self.entries)


def read_mem0_export(text: str) -> Mem0Export:
    """Parse the JSON that `get_all` returns (a list, or pages with `results`), or JSON lines.

    Positions count from 1: lines for JSON lines, else memories.

    >>> export = read_mem0_export('{"results": [{"id": "a", "memory": "喜欢茶"}]}')
    >>> export.entries[0].line["content"]
    '喜欢茶'
    """
    export = Mem0Export()
    for place, value in _json_values(text, export):
        line = _export_line(value) if isinstance(value, dict) else "not a memory"
        if isinstance(line, str):
            export.skipped.append((place, line))
        else:
            user = value.get("user_id")
            user_id = user if isinstance(user, str) else ""
            names_agent = bool(_name_field(value, "agent_id"))
            export.entries.append(Mem0Entry(place, user_id, names_agent, line))
    return export


def _json_values(text: str, export: Mem0Export) -> Iterator[tuple[int, Any]]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        for place, line in enumerate(text.splitlines(), 1):
            if line.strip():
                yield from ((place, value) for value in _line_values(line, place, export))
        return
    yield from enumerate(_memory_objects(whole, 0), 1)


def _line_values(line: str, place: int, export: Mem0Export) -> Iterator[Any]:
    try:
        yield from _memory_objects(json.loads(line), 0)
    except (ValueError, RecursionError):
        export.skipped.append((place, "not readable JSON"))


def _memory_objects(value: Any, depth: int) -> Iterator[Any]:
    """Yield the memories from nested lists and pages."""
    if isinstance(value, list) and depth < _MAX_DEPTH:
        for one in value:
            yield from _memory_objects(one, depth + 1)
        return
    inside = [value[name] for name in _LIST_FIELDS if isinstance(value, dict) and name in value]
    lists = [one for one in inside if isinstance(one, list)]
    if lists and depth < _MAX_DEPTH:
        yield from _memory_objects(lists[0], depth + 1)
    else:
        yield value


def _export_line(value: Mapping[str, Any]) -> dict[str, Any] | str:
    """Return the export line of one memory, or the reason to skip it."""
    texts = [value[name] for name in _TEXT_FIELDS if isinstance(value.get(name), str)]
    content = next((text for text in texts if text.strip()), "")
    memory_id = value.get("id") or value.get("memory_id")
    if not content or not isinstance(memory_id, str | int):
        return "without a text, or without an id"
    if value.get("event") == "DELETE" or value.get("is_deleted"):
        return "deleted"
    line = {
        "kind": "memory",
        "type": "fact",
        "key": f"{SOURCE_APP}.{memory_id}",
        "content": content,
        "persona_id": _name_field(value, "agent_id") or DEFAULT_PERSONA_ID,
        "session_id": _name_field(value, "run_id"),
        "source_app": _name_field(value, "app_id") or SOURCE_APP,
        "speaker": _name_field(value, "actor_id"),
        "source_type": "imported",
        "source_ref": f"{SOURCE_APP}:{memory_id}",
        "tags": _text_list(value.get("categories")),
        "metadata": value.get("metadata") or {},
    }
    return line | _time_fields(value)


def _time_fields(value: Mapping[str, Any]) -> dict[str, float]:
    """Return creation, update and expiry time; unreadable times are left out."""
    found: dict[str, float] = {}
    made = _time_field(value, "created_at") or _time_field(value, "updated_at")
    for name, span in (
        ("created_at", made),
        ("updated_at", _time_field(value, "updated_at") or made),
        ("expires_at", _time_field(value, "expiration_date")),
    ):
        if span is not None:
            # A date as expiry includes the whole day; for a time, both ends are equal.
            found[name] = round(span[1] if name == "expires_at" else sum(span) / 2, 6)
    return found


def _time_field(value: Mapping[str, Any], name: str) -> tuple[float, float] | None:
    given = value.get(name)
    try:
        return None if given is None else time_span(given)
    except (TypeError, ValueError, OverflowError):
        return None


def _name_field(value: Mapping[str, Any], name: str) -> str:
    given = value.get(name)
    return str(given) if isinstance(given, str | int) else ""


def _text_list(value: Any) -> list[str]:
    given = value if isinstance(value, list) else []
    return [text for text in given if isinstance(text, str) and text]
