"""Edit JSON as text: change some parts and keep every other byte.

Not for speed: parsing a request with `json` and serializing it again changes what a client sent.
`1e400` becomes `Infinity`, which is not JSON, a long fraction loses digits, `0.10` and `1E5` are
spelled differently, and of two members with one name the first is lost. An upstream's prompt cache
may also need the prompt to begin with the same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Edit = tuple[int, int, str]  # start, end, replacement
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True, slots=True)
class JsonSpan:
    """A value inside a text: a member of an object, or an element of an array."""

    value: Any
    start: int
    end: int
    key: str = ""
    member_start: int = 0  # where the member begins, with its key


def object_members(text: str) -> list[JsonSpan]:
    """Return the members of an object; raise `ValueError` if the text is not an object."""
    return list(_iterate_spans(text, "{}"))


def array_elements(text: str) -> list[JsonSpan]:
    """Return the elements of an array; raise `ValueError` if the text is not an array."""
    return list(_iterate_spans(text, "[]"))


def _iterate_spans(text: str, brackets: str) -> Iterator[JsonSpan]:
    at = _expect_char(text, _skip_space(text, 0), brackets[0])
    is_last = text[at : at + 1] == brackets[1]
    while not is_last:
        begins, key = at, ""
        if brackets == "{}":
            key, at = _decode_value(text, at)
            at = _expect_char(text, _skip_space(text, at), ":")
        value, end = _decode_value(text, at)
        yield JsonSpan(value, at, end, key, begins)
        at = _skip_space(text, end)
        is_last = text[at : at + 1] == brackets[1]
        if not is_last:
            at = _expect_char(text, at, ",")
    if _skip_space(text, at + 1) < len(text):
        raise ValueError("more than one value")


def _decode_value(text: str, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None, "it matches nothing, too"
    return found.end()


def _expect_char(text: str, at: int, char: str) -> int:
    if text[at : at + 1] != char:
        raise ValueError(f"{char} expected")
    return _skip_space(text, at + 1)


def replace_members(text: str, found: Sequence[JsonSpan], changes: Mapping[str, str | None]) -> str:
    """Return an object with new values, as JSON, for some of its members; None removes one.

    >>> text = '{"a": 1.0, "b": 2,  "c": 3}'
    >>> replace_members(text, object_members(text), {"a": "7", "b": None})
    '{"a": 7,  "c": 3}'
    """
    remaining = [place for place, part in enumerate(found) if changes.get(part.key, "") is not None]
    if not remaining:
        return "{}"
    pieces = [text[: found[0].member_start]]
    for place in remaining:
        part = found[place]
        if place != remaining[0]:
            pieces.append(text[found[place - 1].end : part.member_start])
        pieces.append(text[part.member_start : part.start])
        pieces.append(changes.get(part.key) or text[part.start : part.end])
    pieces.append(text[found[-1].end :])
    return "".join(pieces)


def insertion_edit(found: Sequence[JsonSpan], place: int, element: str) -> Edit:
    """Return the edit that inserts an element, as JSON, at an index or at the end."""
    if place < len(found):
        at = found[place].start
        return at, at, f"{element},"
    return found[-1].end, found[-1].end, f",{element}"


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """Return a text with edits applied; edits must not overlap.

    >>> text = '[1, 2]'
    >>> apply_edits(text, [insertion_edit(array_elements(text), 2, "3"), (1, 2, "0")])
    '[0, 2,3]'
    """
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
