"""The only SQL built in Python: conditions from a closed list of filter fields."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from plastic_memories.adapters.sqlite.rows import to_json
from plastic_memories.ports.memory_store import MemoryFilter
from plastic_memories.ports.message_store import MessageFilter

_MEMORY_CONDITIONS = {
    "statuses": "status IN (SELECT value FROM json_each(:statuses))",
    "types": "type IN (SELECT value FROM json_each(:types))",
    "key": "mkey = :key",
    "scope": "scope = :scope",
    "scope_ref": "scope_ref = :scope_ref",
    "realm": "realm = :realm",
    "bot_id": "bot_id = :bot_id",
    "ids": "id IN (SELECT value FROM json_each(:ids))",
    "root_ids": (
        "(id IN (SELECT value FROM json_each(:root_ids)) "
        "OR root_id IN (SELECT value FROM json_each(:root_ids)))"
    ),
    "idempotency_key": "idempotency_key = :idempotency_key AND idempotency_key <> ''",
    "source_message_ids": (
        "id IN (SELECT s.memory_id FROM memory_sources s WHERE s.tenant_id = :tenant_id "
        "AND s.user_id = :user_id "
        "AND s.message_id IN (SELECT value FROM json_each(:source_message_ids)))"
    ),
    "containing": "(content LIKE :containing ESCAPE '\\' OR mkey LIKE :containing ESCAPE '\\')",
    "before_id": "id < :before_id",
    "not_expired_at": "(expires_at IS NULL OR expires_at > :not_expired_at)",
}
_MESSAGE_CONDITIONS = {
    "ids": "id IN (SELECT value FROM json_each(:ids))",
    "session_id": "session_id = :session_id",
    "source_app": "source_app = :source_app",
    "bot_id": "bot_id = :bot_id",
    "since_ts": "ts >= :since_ts",
    "until_ts": "ts < :until_ts",
    "before_id": "id < :before_id",
    "hidden": "(hidden_at IS NOT NULL) = :hidden",
}
_CONVERT: dict[str, Callable[[Any], Any]] = {
    "containing": lambda text: f"%{_escape(text)}%",
    "hidden": int,
}


def memory_conditions(wanted: MemoryFilter) -> tuple[list[str], dict[str, Any]]:
    return _conditions(wanted, _MEMORY_CONDITIONS)


def message_conditions(wanted: MessageFilter) -> tuple[list[str], dict[str, Any]]:
    return _conditions(wanted, _MESSAGE_CONDITIONS)


def _conditions(wanted: object, known: dict[str, str]) -> tuple[list[str], dict[str, Any]]:
    given = {name: getattr(wanted, name) for name in known}
    given = {name: value for name, value in given.items() if value is not None}
    return [known[name] for name in given], {n: _parameter(n, v) for n, v in given.items()}


def _parameter(name: str, value: Any) -> Any:
    if name in _CONVERT:
        return _CONVERT[name](value)
    if isinstance(value, Collection) and not isinstance(value, str):
        return to_json(list(value))
    return value


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
