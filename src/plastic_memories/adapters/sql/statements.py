"""Statements with named parameters, read from a file of them and written as a driver wants them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from operator import itemgetter
from typing import Any

_HEADER = re.compile(r"^-- (\w+) --$", re.MULTILINE)
_COMMENT = re.compile(r"--.*$", re.MULTILINE)
# Two colons are a cast, not a name.
_PARAMETER = re.compile(r"(?<!:):([A-Za-z_]\w*)")
_FRAGMENT = re.compile(r"\{(\w+)\}")


class ParameterStyle(StrEnum):
    """How a driver marks a parameter: by its number, or by nothing but its place."""

    QUESTION_MARK = "?{}"
    DOLLAR = "${}"
    FORMAT = "%s"


class Statement:
    """SQL with named parameters, and the same as the driver reads it fastest.

    A driver that looks up every name and reads all of the text each time takes as long for that
    as for the statement itself. `driver_text` has marks for names, and no comments.
    """

    __slots__ = ("_values", "driver_text", "name", "parameters", "text")

    def __init__(
        self, text: str, *, name: str = "", style: ParameterStyle = ParameterStyle.QUESTION_MARK
    ) -> None:
        self.name = name
        self.text = text
        bare = " ".join(_COMMENT.sub("", text).split())
        self.parameters = _ordered_parameters(bare, style)
        self.driver_text = _driver_text(bare, self.parameters, style)
        self._values = itemgetter(*self.parameters) if len(self.parameters) > 1 else None

    def values(self, params: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the parameters in the order of their marks."""
        if self._values is not None:
            values: tuple[Any, ...] = self._values(params)
            return values
        return tuple([params[name] for name in self.parameters])


def parse_statements(
    text: str,
    fragments: Mapping[str, str] | None = None,
    style: ParameterStyle = ParameterStyle.QUESTION_MARK,
) -> dict[str, Statement]:
    """Return the statements of a file, each under the name in the header above it.

    What stands as `{name}` in another is a fragment and no statement; more of them are given.
    """
    parts = _HEADER.split(text)[1:]
    bodies = {
        name: _COMMENT.sub("", body).strip()
        for name, body in zip(parts[::2], parts[1::2], strict=True)
    }
    inner = {name for body in bodies.values() for name in _FRAGMENT.findall(body)}
    known = {**bodies, **(fragments or {})}
    return {
        name: Statement(_expand(body, known), name=name, style=style)
        for name, body in bodies.items()
        if name not in inner
    }


def _expand(body: str, fragments: Mapping[str, str]) -> str:
    # A fragment may hold others.
    while _FRAGMENT.search(body):
        body = _FRAGMENT.sub(lambda match: fragments[match[1]], body)
    return body


def _ordered_parameters(bare: str, style: ParameterStyle) -> tuple[str, ...]:
    """Return the names in the order of their values: each once, if a mark can be repeated."""
    names = _PARAMETER.findall(bare)
    return tuple(names if style is ParameterStyle.FORMAT else dict.fromkeys(names))


def _driver_text(bare: str, parameters: tuple[str, ...], style: ParameterStyle) -> str:
    if style is ParameterStyle.FORMAT:
        return _PARAMETER.sub(style.value, bare.replace("%", "%%"))
    marks = {name: style.format(place) for place, name in enumerate(parameters, start=1)}
    return _PARAMETER.sub(lambda match: marks[match[1]], bare)
