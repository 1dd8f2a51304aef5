"""Reads `.sql` files of this folder, and makes their statements cheap to run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from operator import itemgetter
from typing import Any

_HEADER = re.compile(r"^-- (\w+) --$", re.MULTILINE)
_COMMENT = re.compile(r"--.*$", re.MULTILINE)
_NAME = re.compile(r":(\w+)")


class Statement(str):
    """SQL with named parameters, and the same in the form that runs fastest.

    The driver looks up every name and reads all of the text each time: that took as long as the
    statement itself. `short` has numbers for names, and no comments.
    """

    __slots__ = ("_values", "columns", "names", "short")

    def __init__(self, text: str) -> None:
        self.names = tuple(dict.fromkeys(_NAME.findall(_COMMENT.sub("", text))))
        numbers = {name: f"?{place}" for place, name in enumerate(self.names, start=1)}
        bare = " ".join(_COMMENT.sub("", text).split())
        self.short = _NAME.sub(lambda match: numbers[match[1]], bare)
        self._values = itemgetter(*self.names) if len(self.names) > 1 else None
        self.columns: tuple[str, ...] = ()  # of its rows, once it has returned one

    def values(self, params: Any) -> tuple[Any, ...]:
        """Return the parameters in the order of their numbers."""
        if self._values is not None:
            found: tuple[Any, ...] = self._values(params)
            return found
        return tuple(params[name] for name in self.names)


def sql_file(name: str) -> str:
    """Return the text of one `.sql` file beside this module."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _named_statements(text: str) -> Mapping[str, Statement]:
    parts = _HEADER.split(text)[1:]
    bodies = {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}
    # One part may stand in another: the outer one is put in first.
    parts_of = {name: bodies.pop(name) for name in ("seen", "in_session", "of_app")}
    return {name: Statement(_fill_parts(body, parts_of)) for name, body in bodies.items()}


def _fill_parts(body: str, parts: Mapping[str, str]) -> str:
    for name, part in parts.items():
        body = body.replace(f"{{{name}}}", part)
    return body


QUERIES = _named_statements(sql_file("queries.sql"))
