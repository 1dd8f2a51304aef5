"""Between rows of the database and the model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import attrgetter, itemgetter
from typing import Any

from plastic_memories.adapters.sqlite.connection import Row
from plastic_memories.model.event import Event
from plastic_memories.model.memory import (
    Memory,
    MemoryOutline,
    MemoryType,
    Scope,
    SourceType,
    Status,
)
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner, Realm, User, Viewpoint
from plastic_memories.rules.prompt.always_told import core_level

# Columns that stand in the row as they stand in the model.
_SHARED_MEMORY_COLUMNS = (
    "content", "source_ref", "source_app", "bot_id", "session_id", "branch_id", "speaker", "quote",
    "confidence", "importance", "expires_at", "occurred_at", "supersedes_id", "superseded_by",
    "created_at", "updated_at", "last_recalled_at", "recall_count", "idempotency_key",
)  # fmt: skip
_shared_memory_fields = attrgetter(*_SHARED_MEMORY_COLUMNS)
_shared_row_columns = itemgetter(*_SHARED_MEMORY_COLUMNS)
_SHARED_MESSAGE_COLUMNS = (
    "id", "content", "ts", "speaker", "session_id", "source_app", "bot_id", "branch_id",
    "platform", "message_type", "client_msg_id", "created_at", "hidden_at",
)  # fmt: skip


# Made once: with options of its own, json.dumps builds an encoder for every value.
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

# Looked up by value: calling an enumeration costs ten times as much.
_TYPES = {kind.value: kind for kind in MemoryType}
_STATUSES = {status.value: status for status in Status}
_SCOPES = {scope.value: scope for scope in Scope}
_REALMS = {realm.value: realm for realm in Realm}
_ROLES = {role.value: role for role in Role}
_SOURCES = {source.value: source for source in SourceType}


def user_params(user: User) -> dict[str, Any]:
    return {"tenant_id": user.tenant_id, "user_id": user.user_id}


def owner_params(owner: Owner) -> dict[str, Any]:
    return {
        "tenant_id": owner.tenant_id,
        "user_id": owner.user_id,
        "persona_id": owner.persona_id,
    }


def view_params(view: Viewpoint) -> dict[str, Any]:
    return {
        **owner_params(view.owner),
        "bot_id": view.bot_id,
        "all_bots": view.all_bots,
        "session_id": view.session_id,
        "source_app": view.source_app,
        "only_session": view.only_session,
        "only_app": view.only_app,
        "realm": view.realm.value,
    }


def owner_of(row: Row) -> Owner:
    return _owner(row["tenant_id"], row["user_id"], row["persona_id"])


# Rows come many at a time, nearly all of one owner.
_owner = lru_cache(maxsize=256)(Owner)


def to_json(value: object) -> str:
    # Most tags, metadata and attributes are empty.
    if not value and isinstance(value, (list, tuple, dict)):
        return "{}" if isinstance(value, dict) else "[]"
    return _ENCODE(value)


def memory_params(memory: Memory) -> dict[str, Any]:
    """Return every column of a memory, for insert and update."""
    return {
        **owner_params(memory.owner),
        **dict(zip(_SHARED_MEMORY_COLUMNS, _shared_memory_fields(memory), strict=True)),
        "id": memory.id,
        "root_id": _root(memory),
        "type": memory.type,
        "mkey": memory.key,
        "tags": to_json(memory.tags),
        "status": memory.status,
        "scope": memory.scope,
        "scope_ref": memory.scope_ref,
        "realm": memory.realm,
        "source_type": memory.source_type,
        "source_message_ids": to_json(memory.source_message_ids),
        "pinned": int(memory.pinned),
        "core": core_level(memory),
        "metadata": to_json(memory.metadata),
        "attributes": to_json(memory.attributes),
    }


def memory_of(row: Row) -> Memory:
    row_id, owner = row["id"], (row["tenant_id"], row["user_id"], row["persona_id"])
    return Memory(
        id=row_id,
        root_id=row["root_id"] or row_id,
        owner=_owner(*owner),
        type=_TYPES[row["type"]],
        key=row["mkey"],
        tags=tuple(_from_json(row["tags"])),
        status=_STATUSES[row["status"]],
        scope=_SCOPES[row["scope"]],
        realm=_REALMS[row["realm"]],
        source_type=_SOURCES[row["source_type"]],
        source_message_ids=tuple(_from_json(row["source_message_ids"])),
        pinned=bool(row["pinned"]),
        metadata=_from_json(row["metadata"]),
        attributes=_from_json(row["attributes"]),
        **dict(zip(_SHARED_MEMORY_COLUMNS, _shared_row_columns(row), strict=True)),
    )


def outline_of(owner: Owner, row: Sequence[Any]) -> MemoryOutline:
    """Read the columns of `filters.OUTLINE`, in their order: thousands at a time."""
    (
        row_id, root_id, kind, content, tags, session_id, source_app, speaker, occurred_at,
        created_at, updated_at, made_at, metadata, attributes,
    ) = row  # fmt: skip
    return MemoryOutline(
        owner,
        row_id,
        root_id,
        _TYPES[kind],
        content,
        tuple(_from_json(tags)),
        session_id,
        source_app,
        speaker,
        occurred_at,
        created_at,
        updated_at,
        made_at,
        _from_json(metadata),
        _from_json(attributes),
    )


def _from_json(text: str) -> Any:
    # Most are empty, and a recall reads many.
    if text == "[]":
        return []
    return {} if text == "{}" else json.loads(text)


def message_params(message: Message) -> dict[str, Any]:
    return {
        **owner_params(message.owner),
        **{name: getattr(message, name) for name in _SHARED_MESSAGE_COLUMNS},
        "role": message.role.value,
        "realm": message.realm.value,
    }


def message_of(row: Row) -> Message:
    same: Mapping[str, Any] = {name: row[name] for name in _SHARED_MESSAGE_COLUMNS}
    role, realm = _ROLES[row["role"]], _REALMS[row["realm"]]
    return Message(owner=owner_of(row), role=role, realm=realm, **same)


def event_params(event: Event) -> dict[str, Any]:
    return {
        **user_params(event.user),
        "persona_id": event.persona_id,
        "event": event.event,
        "memory_id": event.memory_id,
        "key_label": event.key_label,
        "request_id": event.request_id,
        "ts": event.ts,
        "data": to_json(event.data),
    }


def event_of(row: Row) -> Event:
    return Event(
        id=row["id"],
        user=User(row["tenant_id"], row["user_id"]),
        persona_id=row["persona_id"],
        event=row["event"],
        memory_id=row["memory_id"],
        key_label=row["key_label"],
        request_id=row["request_id"],
        ts=row["ts"],
        data=json.loads(row["data"]),
    )


def _root(memory: Memory) -> int | None:
    """A row that starts a chain is its own root, and its id is not known before the insert."""
    return None if memory.root_id in (0, memory.id) else memory.root_id
