"""How MySQL and MariaDB write what engines write differently."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from plastic_memories.adapters.sql.statements import ParameterStyle


class MysqlDialect:
    @property
    def parameter_style(self) -> ParameterStyle:
        return ParameterStyle.FORMAT

    def array(self, values: Collection[Any]) -> tuple[Any, ...]:
        """The driver writes a tuple as a list in parentheses, which may not be empty."""
        return tuple(values) or (None,)

    def is_member(self, column: str, parameter: str) -> str:
        return f"{column} IN {parameter}"

    def members(self, parameter: str) -> str:
        # Only ids of memories are asked for so.
        return (
            "SELECT w.id FROM memory_items w WHERE w.tenant_id = :tenant_id "  # noqa: S608 - ours
            f"AND w.user_id = :user_id AND w.id IN {parameter}"
        )

    def contains(self, column: str, parameter: str) -> str:
        return f"lower({column}) LIKE lower({parameter}) ESCAPE '\\'"

    def starts_with(self, column: str, parameter: str) -> str:
        # `length` counts bytes here.
        return f"left({column}, char_length({parameter})) = {parameter}"

    def json_text(self, column: str, name: str) -> str:
        # As bytes: the texts of JSON have an order of their own, which fits no column's.
        return f"CAST(json_unquote(json_extract({column}, '$.{name}')) AS BINARY)"

    def skip_index(self, column: str) -> str:
        return column

    def use_index(self, name: str) -> str:
        """Indexes have no conditions here, so those that others name may not fit."""
        return ""


MYSQL = MysqlDialect()
