"""How PostgreSQL writes what engines write differently."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from plastic_memories.adapters.sql.statements import ParameterStyle


class PostgresDialect:
    @property
    def parameter_style(self) -> ParameterStyle:
        return ParameterStyle.DOLLAR

    def array(self, values: Collection[Any]) -> list[Any]:
        return list(values)

    def is_member(self, column: str, parameter: str) -> str:
        return f"{column} = ANY({parameter})"

    def members(self, parameter: str) -> str:
        # Only ids are asked for so.
        return f"SELECT unnest({parameter}::bigint[])"

    def contains(self, column: str, parameter: str) -> str:
        return f"{column} ILIKE {parameter} ESCAPE '\\'"

    def starts_with(self, column: str, parameter: str) -> str:
        # Not LIKE: there Latin letters are the same in either case, or some characters special.
        return f"substr({column}, 1, length({parameter})) = {parameter}"

    def json_text(self, column: str, name: str) -> str:
        return f"({column}::json ->> '{name}')"

    def skip_index(self, column: str) -> str:
        return column

    def use_index(self, name: str) -> str:
        """The planner counts rows, and takes no hints."""
        return ""


POSTGRES = PostgresDialect()
