"""The statements of SQLite, and the other `.sql` files of this folder."""

from __future__ import annotations

from importlib.resources import files

from plastic_memories.adapters.sql.engine_statements import engine_statements
from plastic_memories.adapters.sqlite.dialect import SQLITE


def sql_file(name: str) -> str:
    """Return the text of one `.sql` file beside this module."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


QUERIES = engine_statements(SQLITE, sql_file("engine_queries.sql"))
