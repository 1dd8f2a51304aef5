"""The statements of PostgreSQL, and the other `.sql` files of this folder."""

from __future__ import annotations

from importlib.resources import files

from plastic_memories.adapters.postgres.dialect import POSTGRES
from plastic_memories.adapters.sql.engine_statements import engine_statements


def sql_file(name: str) -> str:
    """Return the text of one `.sql` file beside this module."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


QUERIES = engine_statements(POSTGRES, sql_file("engine_queries.sql"))
