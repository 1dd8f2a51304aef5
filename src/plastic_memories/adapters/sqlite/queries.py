"""Reads `.sql` files of this folder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files

_HEADER = re.compile(r"^-- (\w+) --$", re.MULTILINE)


def sql_file(name: str) -> str:
    """Return the text of one `.sql` file beside this module."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _named_statements(text: str) -> Mapping[str, str]:
    parts = _HEADER.split(text)[1:]
    bodies = {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}
    in_session = bodies.pop("in_session")
    seen = bodies.pop("seen")
    return {
        name: body.replace("{seen}", seen).replace("{in_session}", in_session)
        for name, body in bodies.items()
    }


QUERIES = _named_statements(sql_file("queries.sql"))
