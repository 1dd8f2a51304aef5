"""Rows as lines of an export, and back. What comes in is input from outside: checked, once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from plastic_memories.errors import InvalidInput
from plastic_memories.model.goal import Goal, GoalLink, GoalStatus
from plastic_memories.model.memory import (
    Draft,
    Memory,
    MemoryType,
    Scope,
    SourceType,
    Status,
)
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.model.persona import Persona
from plastic_memories.rules.lifecycle import memory_from

FORMAT = "plastic_memories"
VERSION = 1
MAX_CONTENT_CHARS = 1_000_000


def persona_line(persona: Persona) -> dict[str, Any]:
    return {"kind": "persona", **_plain(persona)}


def memory_line(memory: Memory) -> dict[str, Any]:
    return {"kind": "memory", **_plain(memory)}


def message_line(message: Message) -> dict[str, Any]:
    return {"kind": "message", **_plain(message)}


def goal_line(goal: Goal) -> dict[str, Any]:
    return {"kind": "goal", **_plain(goal), "links": [_plain(link) for link in goal.links]}


def _plain(row: Any) -> dict[str, Any]:
    values = {item.name: getattr(row, item.name) for item in fields(row)}
    owner = values.pop("owner", None)
    if owner is not None:
        values["persona_id"] = owner.persona_id
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}


def owner_from(line: Mapping[str, Any], tenant_id: str, user_id: str) -> Owner:
    return Owner(tenant_id, user_id, _text(line, "persona_id", required=True))


def persona_from(line: Mapping[str, Any], owner: Owner) -> Persona:
    return Persona(
        owner=owner,
        display_name=_text(line, "display_name"),
        description=_text(line, "description"),
        created_at=_number(line, "created_at") or 0.0,
        updated_at=_number(line, "updated_at") or 0.0,
    )


def memory_from_line(line: Mapping[str, Any], owner: Owner, now: float) -> Memory:
    """Read one memory, status and times as they were; ids are those of the other place."""
    draft = Draft(
        type=_choice(line, "type", MemoryType, None),
        key=_text(line, "key", required=True),
        content=_text(line, "content", required=True),
        tags=tuple(_texts(line, "tags")),
        expires_at=_number(line, "expires_at"),
        scope=_choice(line, "scope", Scope, Scope.PERSONA),
        realm=_choice(line, "realm", Realm, Realm.REAL),
        source_type=_choice(line, "source_type", SourceType, SourceType.IMPORTED),
        occurred_at=_number(line, "occurred_at"),
        confidence=_share(line, "confidence"),
        importance=_share(line, "importance"),
        pinned=bool(line.get("pinned")),
        metadata=_object(line, "metadata"),
        attributes=_object(line, "attributes"),
        supersedes_id=_whole(line, "supersedes_id"),
        source_message_ids=tuple(_wholes(line, "source_message_ids")),
        **{name: _text(line, name) for name in _DRAFT_TEXTS},
    )
    row = memory_from(owner, draft, now)
    given = {
        "id": _whole(line, "id") or 0,
        "root_id": _whole(line, "root_id") or 0,
        "superseded_by": _whole(line, "superseded_by"),
        "status": _choice(line, "status", Status, Status.ACTIVE),
        "created_at": _number(line, "created_at") or now,
        "updated_at": _number(line, "updated_at") or now,
        "last_recalled_at": _number(line, "last_recalled_at"),
        "recall_count": _whole(line, "recall_count") or 0,
    }
    return Memory(**{**{f.name: getattr(row, f.name) for f in fields(row)}, **given})


_DRAFT_TEXTS = (
    "source_ref", "source_app", "bot_id", "session_id", "branch_id", "speaker", "quote",
)  # fmt: skip
_MESSAGE_TEXTS = (
    "speaker", "session_id", "source_app", "bot_id", "branch_id", "platform", "message_type",
    "client_msg_id",
)  # fmt: skip


def message_from_line(line: Mapping[str, Any], owner: Owner, now: float) -> Message:
    return Message(
        owner=owner,
        id=_whole(line, "id") or 0,
        role=_choice(line, "role", Role, None),
        content=_text(line, "content", required=True),
        ts=_number(line, "ts") or now,
        realm=_choice(line, "realm", Realm, Realm.REAL),
        created_at=_number(line, "created_at") or now,
        hidden_at=_number(line, "hidden_at"),
        **{name: _text(line, name) for name in _MESSAGE_TEXTS},
    )


def goal_from_line(line: Mapping[str, Any], owner: Owner, now: float) -> Goal:
    links = line.get("links") or []
    if not isinstance(links, list) or not all(isinstance(link, dict) for link in links):
        raise InvalidInput("links must be a list of objects")
    return Goal(
        id=_whole(line, "id") or 0,
        owner=owner,
        title=_text(line, "title", required=True),
        details=_text(line, "details"),
        status=_choice(line, "status", GoalStatus, GoalStatus.ACTIVE),
        created_at=_number(line, "created_at") or now,
        updated_at=_number(line, "updated_at") or now,
        links=tuple(_link(link, now) for link in links),
    )


def _link(line: Mapping[str, Any], now: float) -> GoalLink:
    return GoalLink(
        id=0,
        goal_id=0,
        memory_id=_whole(line, "memory_id"),
        note=_text(line, "note"),
        created_at=_number(line, "created_at") or now,
    )


def _text(line: Mapping[str, Any], name: str, *, required: bool = False) -> str:
    value = line.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or (required and not value):
        raise InvalidInput(f"{name} must be text")
    if len(value) > MAX_CONTENT_CHARS or "\x00" in value:
        raise InvalidInput(f"{name} is too long or holds a null character")
    return value


def _texts(line: Mapping[str, Any], name: str) -> list[str]:
    values = line.get(name) or []
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InvalidInput(f"{name} must be a list of texts")
    return values


def _wholes(line: Mapping[str, Any], name: str) -> list[int]:
    values = line.get(name) or []
    if not isinstance(values, list) or not all(isinstance(value, int) for value in values):
        raise InvalidInput(f"{name} must be a list of whole numbers")
    return values


def _number(line: Mapping[str, Any], name: str) -> float | None:
    value = line.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{name} must be a number")
    return float(value)


def _share(line: Mapping[str, Any], name: str) -> float | None:
    value = _number(line, name)
    if value is not None and not 0 <= value <= 1:
        raise InvalidInput(f"{name} must be between 0 and 1")
    return value


def _whole(line: Mapping[str, Any], name: str) -> int | None:
    value = line.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{name} must be a whole number")
    return value


def _object(line: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = line.get(name) or {}
    if not isinstance(value, dict):
        raise InvalidInput(f"{name} must be an object")
    return value


def _choice(line: Mapping[str, Any], name: str, kind: Any, default: Any) -> Any:
    value = line.get(name, default)
    try:
        return kind(value)
    except ValueError:
        raise InvalidInput(f"{name} is not one of {', '.join(kind)}") from None
