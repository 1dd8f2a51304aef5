"""The statements of one engine: those that all share, and its own."""

from __future__ import annotations

from importlib.resources import files

from plastic_memories.adapters.sql.dialect import Dialect
from plastic_memories.adapters.sql.rows import column_fragments
from plastic_memories.adapters.sql.statements import Statement, parse_statements

_MEMBERSHIPS = (
    ("id", "ids"), ("row_id", "ids"), ("message_id", "ids"), ("old_message_id", "ids"),
    ("digest", "digests"), ("goal_id", "goal_ids"),
)  # fmt: skip
_NAMED_INDEXES = (
    "audit_by_memory", "memory_core", "memory_by_key", "recall_by_revision", "recall_unembedded",
    "talk_by_revision", "talk_unembedded",
)  # fmt: skip


def engine_statements(dialect: Dialect, engine_text: str) -> dict[str, Statement]:
    """Return every statement by its name; one of the engine's own wins over a shared one."""
    shared = files(__package__).joinpath("queries.sql").read_text(encoding="utf-8")
    fragments = {**column_fragments(), **_dialect_fragments(dialect)}
    return parse_statements(f"{shared}\n{engine_text}", fragments, dialect.parameter_style)


def _dialect_fragments(dialect: Dialect) -> dict[str, str]:
    """Return what shared statements name as `{id_among_ids}`, `{use_memory_core}` and the like."""
    fragments = {
        f"{column}_among_{values}": dialect.is_member(column, f":{values}")
        for column, values in _MEMBERSHIPS
    }
    fragments |= {f"use_{name}": dialect.use_index(name) for name in _NAMED_INDEXES}
    return {**fragments, "app_of_data": dialect.json_text("data", "source_app")}
