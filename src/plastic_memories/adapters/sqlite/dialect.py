"""How SQLite writes what engines write differently."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from plastic_memories.adapters.sql.record_columns import to_json
from plastic_memories.adapters.sql.statements import ParameterStyle


class SqliteDialect:
    @property
    def parameter_style(self) -> ParameterStyle:
        return ParameterStyle.QUESTION_MARK

    def array(self, values: Collection[Any]) -> str:
        return to_json(list(values))

    def is_member(self, column: str, parameter: str) -> str:
        return f"{column} IN ({self.members(parameter)})"

    def members(self, parameter: str) -> str:
        return f"SELECT value FROM json_each({parameter})"  # noqa: S608 - ours

    def contains(self, column: str, parameter: str) -> str:
        return f"{column} LIKE {parameter} ESCAPE '\\'"

    def starts_with(self, column: str, parameter: str) -> str:
        # Not LIKE: there Latin letters are the same in either case, or some characters special.
        return f"substr({column}, 1, length({parameter})) = {parameter}"

    def json_text(self, column: str, name: str) -> str:
        return f"json_extract({column}, '$.{name}')"

    def skip_index(self, column: str) -> str:
        return f"+{column}"

    def use_index(self, name: str) -> str:
        return f"INDEXED BY {name}"


SQLITE = SqliteDialect()
