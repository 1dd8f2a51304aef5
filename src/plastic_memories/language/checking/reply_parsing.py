"""Parse a model's reply into items, skipping what cannot be read."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from plastic_memories.language.text.lazy_regex import regex

Item: TypeAlias = Mapping[str, Any]

# A reply is a page at most; a longer one is from a model that does not stop.
MAX_REPLY_CHARS = 64_000
MAX_ITEMS = 100
_MAX_PARSE_TRIES = 400
_MAX_DEPTH = 6
_THOUGHTS = regex(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_FLAT = regex(r"\{[^{}]*\}")
_TRAILING_COMMA = regex(r",(?=\s*[}\]])")
_MAX_ITEM_CHARS = 4_000
_DECODER = json.JSONDecoder(strict=False)
# Lists of the reply itself: an object that has only these, all empty, is not an item.
_PARTS = frozenset({"profile", "profiles", "events", "items"})
_SUMMARY_FIELDS = ("summary", "topics", "emotion")


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """The items of a reply by kind, in order, and a reason for each skipped one."""

    profile: tuple[Item, ...] = ()
    events: tuple[Item, ...] = ()
    summary: Item | None = None
    dropped: tuple[str, ...] = field(default=())


def parse_reply(text: str) -> ParsedReply:
    """Parse a reply: JSON, JSON in prose or a fence, or truncated JSON.

    The list that contains an item does not matter: the fields decide its kind.

    >>> cut = '```json\\n{"profile": [{"key": "name", "value": "Tom", "quote": "I am Tom",}, {"ke'
    >>> [item["value"] for item in parse_reply(cut).profile]
    ['Tom']
    >>> parse_reply('{"summary": "They met.", "topics": [], "profiles": []}').summary["summary"]
    'They met.'
    """
    kinds: dict[str, list[Item]] = {"profile": [], "events": [], "summary": []}
    dropped: list[str] = []
    for count, item in enumerate(_parse_items(_THOUGHTS.sub("", text)[:MAX_REPLY_CHARS])):
        kind = _item_kind(item) if count < MAX_ITEMS else "too many items"
        if kind in kinds:
            kinds[kind].append(item)
        else:
            dropped.append(kind)
        if count >= MAX_ITEMS:
            break
    summary = kinds["summary"][-1] if kinds["summary"] else None
    return ParsedReply(tuple(kinds["profile"]), tuple(kinds["events"]), summary, tuple(dropped))


def _item_kind(item: Item) -> str:
    if "event_type" in item or "title" in item:
        return "events"
    if "value" in item:
        return "profile"
    if "text" in item or "topics" in item or "summary" in item:
        return "summary"
    return "not an item"


def _parse_items(text: str) -> Iterator[Item]:
    """Yield the innermost objects, skipping those that cannot be read."""
    place = text.find("{")
    for _ in range(_MAX_PARSE_TRIES):
        if place < 0:
            return
        value, end = _parse_object_at(text, place)
        if value is not None:
            yield from _leaf_objects(value)
        place = text.find("{", end)


def _parse_object_at(text: str, place: int) -> tuple[Any, int]:
    """Return the object that starts here, or None, and where to look for the next one."""
    try:
        return _DECODER.raw_decode(text, place)
    except (ValueError, RecursionError):
        flat = _FLAT.match(text, place)
    mended = _parse_lenient(flat[0]) if flat and len(flat[0]) <= _MAX_ITEM_CHARS else None
    return mended, flat.end() if flat and mended is not None else place + 1


def _parse_lenient(text: str) -> Item | None:
    """Parse an almost valid object: trailing commas, Python quotes."""
    plain = _TRAILING_COMMA.sub("", text)
    try:
        value = _DECODER.decode(plain)
    except ValueError:
        value = _python_literal(plain)
    return value if isinstance(value, dict) else None


def _python_literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _leaf_objects(value: Any, depth: int = 0) -> Iterator[Item]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        inner = [part for part in value.values() if _contains_objects(part)]
        if not inner and value and not set(value) <= _PARTS:
            yield value
        elif isinstance(value.get("summary"), str):
            # Older prompts put the summary's text beside the lists.
            yield {name: value[name] for name in _SUMMARY_FIELDS if name in value}
        value = inner
    if isinstance(value, list):
        for part in value:
            yield from _leaf_objects(part, depth + 1)


def _contains_objects(value: Any) -> bool:
    if isinstance(value, dict):
        return True
    return isinstance(value, list) and any(isinstance(part, dict | list) for part in value)
