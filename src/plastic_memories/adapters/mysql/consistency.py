"""Looks for what is wrong between the tables of a MySQL database."""

from __future__ import annotations

import re
from functools import cache

from pymysql.cursors import Cursor

from plastic_memories.adapters.mysql.queries import sql_file

_HEADER = re.compile(r"^-- ([\w ]+) --$", re.MULTILINE)


def consistency_problems(cursor: Cursor) -> list[str]:
    """Return what is wrong with the rows, one line each; empty means sound."""
    problems: list[str] = []
    for what, query in _checks().items():
        cursor.execute(query)
        row = cursor.fetchone()
        if row and row[0]:
            problems.append(f"{row[0]} {what}")
    return problems


@cache
def _checks() -> dict[str, str]:
    parts = _HEADER.split(sql_file("consistency.sql"))[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))
