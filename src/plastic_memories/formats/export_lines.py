"""Convert rows to JSON lines of an export and back, validating every imported field."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any, get_type_hints
from zoneinfo import ZoneInfo

from plastic_memories.errors import InvalidInput
from plastic_memories.formats.json_object import (
    MAX_ATTRIBUTES_BYTES,
    MAX_METADATA_BYTES,
    check_json_object,
)
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.model.goal import Goal, GoalLink, GoalStatus
from plastic_memories.model.memory import (
    Draft,
    Memory,
    MemoryType,
    Scope,
    SourceType,
    Status,
)
from plastic_memories.model.message import Message, Role, visible_message
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.model.persona import Persona
from plastic_memories.rules.conversation.session_key import plain_session_id, session_key
from plastic_memories.rules.lifecycle.transitions import memory_from_draft

FORMAT = "plastic_memories"
VERSION = 1
MAX_CONTENT_CHARS = 1_000_000
MAX_NAME_CHARS = 500
# Far enough from the ends of the calendar that every time zone can represent the date.
EARLIEST, LATEST = -62_000_000_000, 253_000_000_000
_MAX_INT = 2**62
_LONG_TEXT_FIELDS = frozenset(
    {"content", "quote", "description", "details", "note", "source_ref", "tags"}
)
_CONTROL = regex(r"[\x00-\x1f\x7f]")


def persona_line(persona: Persona) -> dict[str, Any]:
    return {"kind": "persona", **_json_row(persona)}


def card_line(owner: Owner, original: bytes) -> dict[str, Any]:
    text = base64.b64encode(original).decode()
    return {"kind": "card", "persona_id": owner.persona_id, "original": text}


def card_from_line(line: Mapping[str, Any]) -> bytes:
    try:
        return base64.b64decode(str(line.get("original") or ""), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInput("original must be a file in base64") from None


def memory_line(memory: Memory) -> dict[str, Any]:
    return {"kind": "memory", **_json_row(memory)}


def message_line(message: Message) -> dict[str, Any]:
    """Return a message without what was forgotten of it."""
    row = _json_row(visible_message(message))
    del row["hidden_spans"]
    plain = plain_session_id(message.session_id, message.platform, message.message_type)
    return {"kind": "message", **row, "session_id": plain}


def goal_line(goal: Goal) -> dict[str, Any]:
    return {"kind": "goal", **_json_row(goal), "links": [_json_row(link) for link in goal.links]}


def _json_row(row: Any) -> dict[str, Any]:
    values = {item.name: getattr(row, item.name) for item in fields(row)}
    owner = values.pop("owner", None)
    if owner is not None:
        values["persona_id"] = owner.persona_id
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}


def settings_from_line(line: Mapping[str, Any]) -> tuple[str, str]:
    """Return time zone and language; raise `InvalidInput` for an unknown time zone."""
    zone = _text_field(line, "time_zone") or "UTC"
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        raise InvalidInput("time_zone is not known") from None
    return zone, _text_field(line, "language")


def owner_from_line(line: Mapping[str, Any], tenant_id: str, user_id: str) -> Owner:
    return Owner(tenant_id, user_id, _text_field(line, "persona_id", required=True))


def persona_from_line(line: Mapping[str, Any], owner: Owner) -> Persona:
    return Persona(
        owner=owner,
        display_name=_text_field(line, "display_name"),
        description=_text_field(line, "description"),
        created_at=_time_field(line, "created_at") or 0.0,
        updated_at=_time_field(line, "updated_at") or 0.0,
    )


def memory_from_line(line: Mapping[str, Any], owner: Owner, now: float) -> Memory:
    """Read one memory, status and times as they were; ids are those of the other place."""
    draft = Draft(**{name: read(line, name) for name, read in _DRAFT_READERS.items()})
    return replace(
        memory_from_draft(owner, draft, now),
        id=_int_field(line, "id") or 0,
        root_id=_int_field(line, "root_id") or 0,
        superseded_by=_int_field(line, "superseded_by"),
        status=_enum_field(line, "status", Status, Status.ACTIVE),
        created_at=_time_field(line, "created_at") or now,
        updated_at=_time_field(line, "updated_at") or now,
        last_recalled_at=_time_field(line, "last_recalled_at"),
        recall_count=_int_field(line, "recall_count") or 0,
        told_to=_text_field(line, "told_to"),
    )


_MESSAGE_TEXT_FIELDS = (
    "speaker", "session_id", "source_app", "bot_id", "branch_id", "platform", "message_type",
    "client_msg_id",
)  # fmt: skip


def message_from_line(line: Mapping[str, Any], owner: Owner, now: float) -> Message:
    texts = {name: _text_field(line, name) for name in _MESSAGE_TEXT_FIELDS}
    texts["session_id"] = session_key(texts["session_id"], texts["platform"], texts["message_type"])
    return Message(
        owner=owner,
        id=_int_field(line, "id") or 0,
        role=_enum_field(line, "role", Role, None),
        content=_text_field(line, "content", required=True),
        ts=_time_field(line, "ts") or now,
        realm=_enum_field(line, "realm", Realm, Realm.REAL),
        created_at=_time_field(line, "created_at") or now,
        hidden_at=_time_field(line, "hidden_at"),
        hidden_spans=(),
        **texts,
    )


def goal_from_line(line: Mapping[str, Any], owner: Owner, now: float) -> Goal:
    links = line.get("links") or []
    if not isinstance(links, list) or not all(isinstance(link, dict) for link in links):
        raise InvalidInput("links must be a list of objects")
    return Goal(
        id=_int_field(line, "id") or 0,
        owner=owner,
        title=_text_field(line, "title", required=True),
        details=_text_field(line, "details"),
        status=_enum_field(line, "status", GoalStatus, GoalStatus.ACTIVE),
        created_at=_time_field(line, "created_at") or now,
        updated_at=_time_field(line, "updated_at") or now,
        links=tuple(_link_from_line(link, now) for link in links),
    )


def _link_from_line(line: Mapping[str, Any], now: float) -> GoalLink:
    return GoalLink(
        id=0,
        goal_id=0,
        memory_id=_int_field(line, "memory_id"),
        note=_text_field(line, "note"),
        created_at=_time_field(line, "created_at") or now,
    )


def _text_field(line: Mapping[str, Any], name: str, *, required: bool = False) -> str:
    value = line.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or (required and not value):
        raise InvalidInput(f"{name} must be text")
    return _checked_text(value, name)


def _checked_text(value: str, name: str) -> str:
    limit = MAX_CONTENT_CHARS if name in _LONG_TEXT_FIELDS else MAX_NAME_CHARS
    if len(value) > limit or "\x00" in value or not _has_no_surrogates(value):
        raise InvalidInput(f"{name} is too long, or holds what is no character")
    if name not in _LONG_TEXT_FIELDS and _CONTROL.search(value):
        raise InvalidInput(f"{name} holds control characters")
    return value


def _has_no_surrogates(value: str) -> bool:
    """Return whether a text has no lone surrogate, which JSON allows."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text_list(line: Mapping[str, Any], name: str) -> list[str]:
    values = line.get(name) or []
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InvalidInput(f"{name} must be a list of texts")
    return [_checked_text(value, name) for value in values]


def _int_list(line: Mapping[str, Any], name: str) -> list[int]:
    values = line.get(name) or []
    if not isinstance(values, list):
        raise InvalidInput(f"{name} must be a list of whole numbers")
    return [_int_field({name: value}, name) or 0 for value in values]


def _time_field(line: Mapping[str, Any], name: str) -> float | None:
    value = _number_field(line, name)
    if value is not None and not EARLIEST <= value <= LATEST:
        raise InvalidInput(f"{name} is no time of the calendar")
    return value


def _number_field(line: Mapping[str, Any], name: str) -> float | None:
    value = line.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{name} must be a number")
    if not abs(value) <= _MAX_INT:  # written this way to reject NaN too
        raise InvalidInput(f"{name} is too large")
    return float(value)


def _unit_interval_field(line: Mapping[str, Any], name: str) -> float | None:
    value = _number_field(line, name)
    if value is not None and not 0 <= value <= 1:
        raise InvalidInput(f"{name} must be between 0 and 1")
    return value


def _int_field(line: Mapping[str, Any], name: str) -> int | None:
    value = line.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_INT:
        raise InvalidInput(f"{name} must be a whole number")
    return value


def _object_field(line: Mapping[str, Any], name: str, limit: int) -> Mapping[str, Any]:
    value = line.get(name) or {}
    if not isinstance(value, dict):
        raise InvalidInput(f"{name} must be an object")
    try:
        check_json_object(value, limit)
    except ValueError as error:
        raise InvalidInput(f"{name} {error}") from None
    return value


def _enum_field(line: Mapping[str, Any], name: str, kind: Any, default: Any) -> Any:
    value = line.get(name, default)
    try:
        return kind(value)
    except ValueError:
        raise InvalidInput(f"{name} is not one of {', '.join(kind)}") from None


_FieldReader = Callable[[Mapping[str, Any], str], Any]
_READERS_BY_TYPE: Mapping[Any, _FieldReader] = {
    str: _text_field,
    bool: lambda line, name: bool(line.get(name)),
    tuple[str, ...]: lambda line, name: tuple(_text_list(line, name)),
    tuple[int, ...]: lambda line, name: tuple(_int_list(line, name)),
    int | None: _int_field,
    float | None: _time_field,
    Scope: lambda line, name: _enum_field(line, name, Scope, Scope.PERSONA),
    Realm: lambda line, name: _enum_field(line, name, Realm, Realm.REAL),
    SourceType: lambda line, name: _enum_field(line, name, SourceType, SourceType.IMPORTED),
    MemoryType: lambda line, name: _enum_field(line, name, MemoryType, None),
}
# Fields that their type does not tell how to read.
_READERS_BY_NAME: Mapping[str, _FieldReader] = {
    "key": partial(_text_field, required=True),
    "content": partial(_text_field, required=True),
    "confidence": _unit_interval_field,
    "importance": _unit_interval_field,
    "metadata": partial(_object_field, limit=MAX_METADATA_BYTES),
    "attributes": partial(_object_field, limit=MAX_ATTRIBUTES_BYTES),
}
_DRAFT_READERS = {
    name: _READERS_BY_NAME.get(name) or _READERS_BY_TYPE[kind]
    for name, kind in get_type_hints(Draft).items()
    if name != "idempotency_key"  # of the call that wrote it, not of the memory
}
