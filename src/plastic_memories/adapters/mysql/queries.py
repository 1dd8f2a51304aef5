"""The statements of MySQL and MariaDB, and the other `.sql` files of this folder."""

from __future__ import annotations

from importlib.resources import files

from plastic_memories.adapters.mysql.dialect import MYSQL
from plastic_memories.adapters.sql.engine_statements import engine_statements


def sql_file(name: str) -> str:
    """Return the text of one `.sql` file beside this module."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


QUERIES = engine_statements(MYSQL, sql_file("engine_queries.sql"))
