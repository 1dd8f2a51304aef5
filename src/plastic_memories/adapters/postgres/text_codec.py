"""Text as PostgreSQL stores it: everything but the character 0, which is written as two others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# Each character is replaced by itself, so that beginnings of texts stay beginnings.
_ESCAPE = "\x1a"


def encode_values(values: Sequence[Any]) -> Sequence[Any]:
    """Return parameters as they are stored; nearly always the same ones."""
    for value in values:
        if isinstance(value, str) and ("\0" in value or _ESCAPE in value):
            return [_encode(one) if isinstance(one, str) else one for one in values]
    return values


def decode_row(row: Sequence[Any]) -> Sequence[Any]:
    """Return the values of a row as they were given; nearly always the same ones."""
    for value in row:
        if type(value) is str and _ESCAPE in value:
            return [_decode(one) if type(one) is str else one for one in row]
    return row


def _encode(text: str) -> str:
    return text.replace(_ESCAPE, f"{_ESCAPE}1").replace("\0", f"{_ESCAPE}0")


def _decode(text: str) -> str:
    return text.replace(f"{_ESCAPE}0", "\0").replace(f"{_ESCAPE}1", _ESCAPE)
