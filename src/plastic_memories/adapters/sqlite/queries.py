"""The statements of SQLite, read from the `.sql` files of this folder."""

from __future__ import annotations

from importlib.resources import files

from plastic_memories.adapters.sql.rows import column_fragments
from plastic_memories.adapters.sql.statements import parse_statements
from plastic_memories.adapters.sqlite.dialect import SQLITE


def sql_file(name: str) -> str:
    """Return the text of one `.sql` file beside this module."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


QUERIES = parse_statements(sql_file("queries.sql"), column_fragments(), SQLITE.parameter_style)
