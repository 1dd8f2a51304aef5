"""Between rows of the database and the model: owners, viewpoints, memories and messages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from plastic_memories.adapters.sql.record_columns import RecordColumns, from_json, to_json
from plastic_memories.adapters.sql.sql_session import Row
from plastic_memories.model.memory import Memory, MemoryOutline, MemoryType
from plastic_memories.model.message import Message, visible_message
from plastic_memories.model.owner import Owner, User, Viewpoint
from plastic_memories.rules.prompt.always_told import core_level

OWNER_COLUMNS = ("tenant_id", "user_id", "persona_id")
_MEMORY = RecordColumns(Memory, left_out={"id", "owner", "root_id"}, renamed={"key": "mkey"})
_MESSAGE = RecordColumns(Message, left_out={"id", "owner", "hidden_spans"}, renamed={})
# All columns but the id. Two of a memory are in no field: they follow from others.
MEMORY_COLUMNS = (*OWNER_COLUMNS, *_MEMORY.columns, "root_id", "scope_ref", "core")
MESSAGE_COLUMNS = (*OWNER_COLUMNS, *_MESSAGE.columns, "hidden_spans")
# What a memory is from the first: no `save` changes it.
_FIXED_MEMORY_COLUMNS = frozenset({
    *OWNER_COLUMNS, "type", "mkey", "scope", "scope_ref", "realm", "bot_id", "source_app",
    "session_id", "branch_id", "source_type", "source_ref", "speaker", "source_message_ids",
    "occurred_at", "created_at", "last_recalled_at", "recall_count", "idempotency_key",
    "told_to",
})  # fmt: skip
_NEW_MESSAGE_COLUMNS = tuple(
    column for column in MESSAGE_COLUMNS if column not in ("hidden_at", "hidden_spans")
)
_MEMORY_TYPES = {kind.value: kind for kind in MemoryType}


def column_fragments() -> dict[str, str]:
    """Return the lists of columns that statements name as `{memory_columns}` and the like."""
    changes = (column for column in MEMORY_COLUMNS if column not in _FIXED_MEMORY_COLUMNS)
    return {
        "memory_columns": ", ".join(MEMORY_COLUMNS),
        "memory_values": ", ".join(f":{column}" for column in MEMORY_COLUMNS),
        "memory_changes": ", ".join(f"{column} = :{column}" for column in changes),
        "message_columns": ", ".join(_NEW_MESSAGE_COLUMNS),
        "message_values": ", ".join(f":{column}" for column in _NEW_MESSAGE_COLUMNS),
    }


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


def memory_params(memory: Memory) -> dict[str, Any]:
    """Return every column of a memory, for insert and update."""
    return {
        **owner_params(memory.owner),
        **_MEMORY.params(memory),
        "id": memory.id,
        "root_id": _root(memory),
        "scope_ref": memory.scope_ref,
        "core": core_level(memory),
    }


def memory_of(row: Row) -> Memory:
    row_id = row["id"]
    return Memory(
        id=row_id,
        root_id=row["root_id"] or row_id,
        owner=_owner(row["tenant_id"], row["user_id"], row["persona_id"]),
        **_MEMORY.field_values(row),
    )


def outline_of(owner: Owner, row: Sequence[Any]) -> MemoryOutline:
    """Read the columns of `statement_builder.OUTLINE`, in their order: thousands at a time."""
    (
        row_id, root_id, kind, content, tags, session_id, source_app, speaker, told_to, occurred_at,
        created_at, updated_at, made_at, metadata, attributes,
    ) = row  # fmt: skip
    return MemoryOutline(
        owner,
        row_id,
        root_id,
        _MEMORY_TYPES[kind],
        content,
        tuple(from_json(tags)),
        session_id,
        source_app,
        speaker,
        told_to,
        occurred_at,
        created_at,
        updated_at,
        made_at,
        from_json(metadata),
        from_json(attributes),
    )


def message_params(message: Message) -> dict[str, Any]:
    """Return every column of a message, for insert and update."""
    return {
        **owner_params(message.owner),
        **_MESSAGE.params(message),
        "id": message.id,
        "hidden_spans": to_json(message.hidden_spans),
    }


def message_of(row: Row) -> Message:
    """Read a message as it was stored, with what is hidden in it."""
    spans = row["hidden_spans"]
    return Message(
        id=row["id"],
        owner=owner_of(row),
        hidden_spans=() if spans == "[]" else tuple(map(tuple, from_json(spans))),
        **_MESSAGE.field_values(row),
    )


def visible_message_of(row: Row) -> Message:
    """Read a message as recall, rules and archive may: without what was forgotten."""
    return visible_message(message_of(row))


def _root(memory: Memory) -> int | None:
    """A row that starts a chain is its own root, and its id is not known before the insert."""
    return None if memory.root_id in (0, memory.id) else memory.root_id
