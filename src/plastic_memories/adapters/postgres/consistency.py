"""Looks for what is wrong between the tables of a PostgreSQL database."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import psycopg

from plastic_memories.adapters.postgres.queries import sql_file

_HEADER = re.compile(r"^-- ([\w ]+) --$", re.MULTILINE)


def consistency_problems(cursor: psycopg.RawCursor[tuple[Any, ...]]) -> list[str]:
    """Return what is wrong with the rows, one line each; empty means sound."""
    problems: list[str] = []
    for what, query in _checks().items():
        row = cursor.execute(query).fetchone()
        if row and row[0]:
            problems.append(f"{row[0]} {what}")
    return problems


@cache
def _checks() -> dict[str, bytes]:
    parts = _HEADER.split(sql_file("consistency.sql"))[1:]
    return {what: query.encode() for what, query in zip(parts[::2], parts[1::2], strict=True)}
