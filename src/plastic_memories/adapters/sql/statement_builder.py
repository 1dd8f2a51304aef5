"""The only SQL built in Python: conditions from closed lists of filter fields and of tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from functools import lru_cache
from operator import attrgetter
from typing import Any

from plastic_memories.adapters.sql.dialect import Dialect
from plastic_memories.adapters.sql.rows import OWNER_COLUMNS
from plastic_memories.adapters.sql.statements import Statement
from plastic_memories.ports.stores.memory_store import MemoryFilter, MemoryOrder, MemoryPosition
from plastic_memories.ports.stores.message_store import MessageFilter

_OWNED = "{tenant} = :tenant_id AND {user} = :user_id AND {persona} = :persona_id"
# A persona's memories are its own and what is true of the user for every persona.
_KNOWN = "{tenant} = :tenant_id AND {user} = :user_id AND {persona} IN (:persona_id, '')"
_GLOBAL = (
    "{tenant} = :tenant_id AND {user} = :user_id AND scope = 'global' "
    "AND (realm = 'real' OR persona_id = :persona_id)"
)
_BY_OWNER = _OWNED.format(tenant="tenant_id", user="user_id", persona="persona_id")
# One of several values: an equation if there is just one, which an index can follow in order;
# spelt out if there are few, because a list from JSON costs more than the search itself.
_MAX_EXACT_COUNT = 4
_ONE_OF = {"statuses": "status", "types": "type", "ids": "id", "scopes": "scope"}
_CONDITIONS = {
    "key": "mkey = :key",
    "min_importance": "importance >= :min_importance",
    "created_since": "created_at >= :created_since",
    "created_before": "created_at < :created_before",
    "scope": "scope = :scope",
    "scope_ref": "scope_ref = :scope_ref",
    "realm": "realm = :realm",
    "bot_id": "bot_id = :bot_id",
    "idempotency_key": "idempotency_key = :idempotency_key AND idempotency_key <> ''",
    "for_app": "(scope <> 'app' OR scope_ref = :for_app)",
    "only_app": "(scope IN ('persona', 'global') OR source_app = :only_app)",
    "for_session": ("(scope <> 'session' OR (scope_ref = :for_session AND scope_ref <> ''))"),
    "not_expired_at": "(expires_at IS NULL OR expires_at > :not_expired_at)",
    "unchanged_since": "updated_at <= :unchanged_since",
    "is_superseded": "(superseded_by IS NOT NULL) = :is_superseded",
    "session_id": "session_id = :session_id",
    "learned_in": (
        "(session_id IN ('', :learned_in) OR id IN (SELECT s.memory_id FROM memory_sources s "
        "JOIN messages t ON t.id = s.message_id "
        "WHERE s.tenant_id = :tenant_id AND s.user_id = :user_id "
        "AND t.tenant_id = :tenant_id AND t.user_id = :user_id AND t.session_id = :learned_in))"
    ),
    "source_app": "source_app = :source_app",
    "since_ts": "ts >= :since_ts",
    "until_ts": "ts < :until_ts",
    "before_id": "id < :before_id",
    "client_msg_id": "client_msg_id = :client_msg_id AND client_msg_id <> ''",
    "hidden": "(hidden_at IS NOT NULL) = :hidden",
}
# A version that began no chain was first made when the one was that did.
OUTLINE = (
    "id, coalesce(root_id, id), type, content, tags, session_id, source_app, speaker, told_to, "
    "occurred_at, created_at, updated_at, "
    "coalesce((SELECT CASE WHEN r.created_at < memory_items.created_at "
    "THEN r.created_at ELSE memory_items.created_at END "
    "FROM memory_items r WHERE r.tenant_id = :tenant_id AND r.user_id = :user_id "
    "AND r.persona_id = memory_items.persona_id AND r.id = memory_items.root_id), created_at), "
    "metadata, attributes"
)
_ORDERS = {
    MemoryOrder.NEWEST: "id DESC",
    MemoryOrder.OLDEST: "id",
    MemoryOrder.IMPORTANCE: "importance DESC, id DESC",
}
_AFTER = {
    MemoryOrder.NEWEST: "id < :after_id",
    MemoryOrder.OLDEST: "id > :after_id",
    MemoryOrder.IMPORTANCE: (
        "(importance < :after_importance OR (importance = :after_importance AND id < :after_id))"
    ),
}
_BY_ID = ("ids", "root_ids", "source_message_ids")


# The names and values of a filter, taken all at once.
_NAMES = {kind: tuple(item.name for item in fields(kind)) for kind in (MemoryFilter, MessageFilter)}
_VALUES = {kind: attrgetter(*names) for kind, names in _NAMES.items()}


def select(
    dialect: Dialect,
    table: str,
    wanted: MemoryFilter | MessageFilter,
    *,
    columns: str = "*",
    all_personas: bool = False,
) -> tuple[Statement, dict[str, Any]]:
    """Return the statement for a filter, in its order, and its parameters less the owner's."""
    kind = type(wanted)
    every = zip(_NAMES[kind], _VALUES[kind](wanted), strict=True)
    given = {name: value for name, value in every if value is not None}
    order = given.pop("order", MemoryOrder.NEWEST)
    shape = tuple([(name, _value_count(name, value)) for name, value in given.items()])
    params: dict[str, Any] = {}
    for name, value in given.items():
        params |= _parameters(dialect, name, value)
    return _select(dialect, (table, columns, order), shape, all_personas=all_personas), params


@lru_cache
def delete_owned(dialect: Dialect, table: str) -> Statement:
    """Return the statement that removes all rows of an owner from one of our tables."""
    text = f"DELETE FROM {table} WHERE {_BY_OWNER}"  # noqa: S608 - ours
    return Statement(text, style=dialect.parameter_style)


@lru_cache
def delete_of_user(dialect: Dialect, table: str) -> Statement:
    """Return the statement that removes all rows of a user from one of our tables."""
    text = f"DELETE FROM {table} WHERE tenant_id = :tenant_id AND user_id = :user_id"  # noqa: S608
    return Statement(text, style=dialect.parameter_style)


@lru_cache
def count_rows(dialect: Dialect, table: str) -> Statement:
    """Return the statement that counts the rows of one of our tables."""
    return Statement(f"SELECT count(*) AS n FROM {table}", style=dialect.parameter_style)  # noqa: S608


def _value_count(name: str, value: Any) -> int:
    """Return how many values there are to choose from, as far as the statement tells."""
    return min(len(value), _MAX_EXACT_COUNT + 1) if name in _ONE_OF else 0


# Few filters are ever asked for; what differs from call to call are the values.
@lru_cache(maxsize=512)
def _select(
    dialect: Dialect,
    source: tuple[str, str, MemoryOrder],
    shape: tuple[tuple[str, int], ...],
    *,
    all_personas: bool,
) -> Statement:
    table, columns, order = source
    given = dict(shape)
    limit = " LIMIT :limit" if "limit" in given else ""
    # Not by their owner, of whom there may be many rows, when ids name the few that matter.
    by_id = any(name in given for name in _BY_ID)
    tenant, user, persona = (dialect.skip_index(name) if by_id else name for name in OWNER_COLUMNS)
    whose = _GLOBAL if all_personas else _KNOWN if table == "memory_items" else _OWNED
    conditions = [whose.format(tenant=tenant, user=user, persona=persona)]
    conditions += [
        _AFTER[order] if name == "after" else _condition(dialect, name, number, given)
        for name, number in shape
        if name != "limit"
    ]
    where = " AND ".join(conditions)
    ordered = f"ORDER BY {_ORDERS[order]}{limit}"
    text = f"SELECT {columns} FROM {table} WHERE {where} {ordered}"  # noqa: S608 - ours
    return Statement(text, style=dialect.parameter_style)


def _condition(dialect: Dialect, name: str, number: int, given: Mapping[str, int]) -> str:
    if name in _ONE_OF:
        return _one_of(dialect, name, number, given)
    if name == "root_ids":
        roots = dialect.members(":root_ids")
        return (
            f"id IN ({roots} UNION SELECT r.id FROM memory_items r "  # noqa: S608 - ours
            "WHERE r.tenant_id = :tenant_id AND r.user_id = :user_id "
            f"AND {dialect.is_member('r.root_id', ':root_ids')})"
        )
    if name == "source_message_ids":
        return (
            "id IN (SELECT s.memory_id FROM memory_sources s WHERE s.tenant_id = :tenant_id "  # noqa: S608
            "AND s.user_id = :user_id "
            f"AND {dialect.is_member('s.message_id', ':source_message_ids')})"
        )
    return _text_condition(dialect, name) or _CONDITIONS[name]


def _text_condition(dialect: Dialect, name: str) -> str | None:
    """Return the condition on a part of a text; None if a field is no such condition."""
    if name == "containing":
        found = (dialect.contains(column, ":containing") for column in ("content", "mkey"))
        return f"({' OR '.join(found)})"
    if name == "key_prefix":
        return dialect.starts_with("mkey", ":key_prefix")
    if name == "event_type":
        return f"{dialect.json_text('attributes', name)} = :event_type"
    return None


def _one_of(dialect: Dialect, name: str, number: int, given: Mapping[str, int]) -> str:
    column = _ONE_OF[name]
    if name == "statuses" and "key" in given:
        column = dialect.skip_index(column)  # likewise: a key says far more than a status
    if not number:
        return "1 = 0"  # one of none: no row at all
    if number <= _MAX_EXACT_COUNT:
        marks = ", ".join(f":{name}{place}" for place in range(number))
        return f"{column} IN ({marks})" if number > 1 else f"{column} = {marks}"
    return dialect.is_member(column, f":{name}")


def _parameters(dialect: Dialect, name: str, value: Any) -> dict[str, Any]:
    if name in _ONE_OF and len(value) <= _MAX_EXACT_COUNT:
        return {f"{name}{place}": one for place, one in enumerate(sorted(value))}
    if name == "containing":
        return {name: f"%{_escape(value)}%"}
    if isinstance(value, MemoryPosition):
        return {"after_id": value.id, "after_importance": value.importance}
    if isinstance(value, Collection) and not isinstance(value, str):
        return {name: dialect.array(value)}
    return {name: value}


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
