"""Name and content of the JSON file that exports all data of one user."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from plastic_memories.formats import export_lines
from plastic_memories.formats.archive_file import iso_utc, user_folder
from plastic_memories.model.goal import Goal
from plastic_memories.model.memory import Memory, MemoryType
from plastic_memories.model.message import Message
from plastic_memories.model.owner import User
from plastic_memories.model.persona import Persona, UserSettings

_ROOT = "exports"
_EXPORT_NAME = re.compile(r"full_export_(\d{8}T\d{6}\.\d{6})Z\.json")
_TIMESTAMP_FORMAT = "%Y%m%dT%H%M%S.%f"
_TIME_FIELDS = frozenset(
    {"created_at", "updated_at", "expires_at", "occurred_at", "last_recalled_at", "timestamp"}
)
_RENAMED_FIELDS = {"ts": "timestamp", "source_message_ids": "msg_ids"}
ExportContent = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PersonaExport:
    """The current rows of one persona, or those that are left of an earlier export."""

    persona: Persona
    card: bytes | None
    memories: Sequence[Memory]
    messages: Sequence[Message]
    goals: Sequence[Goal]
    erased_message_ids: Collection[int] = ()  # messages that were erased or hidden on purpose


def exports_folder(user: User) -> str:
    return user_folder(_ROOT, user)


def export_name(now: float) -> str:
    """Return the file name of an export.

    >>> export_name(0.5)
    'full_export_19700101T000000.500000Z.json'
    """
    return f"full_export_{datetime.fromtimestamp(now, UTC).strftime(_TIMESTAMP_FORMAT)}Z.json"


def exported_at(name: str) -> str | None:
    """Return the export time encoded in a file name; None if it is not the name of an export."""
    found = _EXPORT_NAME.fullmatch(name)
    if found is None:
        return None
    return iso_utc(datetime.strptime(found[1], _TIMESTAMP_FORMAT).replace(tzinfo=UTC).timestamp())


def export_content(
    user: User, now: float, settings: UserSettings, parts: Sequence[PersonaExport]
) -> ExportContent:
    """Return the content of an export."""
    return {
        "user_id": user.user_id,
        "exported_at": iso_utc(now),
        "settings": {"time_zone": settings.time_zone, "language": settings.language},
        "personas": [_persona_export(part) for part in parts],
    }


def export_text(content: ExportContent) -> str:
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def read_export(text: str) -> ExportContent | None:
    """Parse an export; return None if it is not one of ours."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_ours = isinstance(content, dict) and isinstance(content.get("personas"), list)
    return content if is_ours else None


def without_forgotten(
    content: ExportContent, now_there: Mapping[str, PersonaExport]
) -> ExportContent:
    """Return an export without memories forgotten since, and with current message texts.

    Messages that only retention removed stay, as they do in the conversation archive.
    """
    left = [
        _without_forgotten_rows(entry, now_there[entry["character_id"]])
        for entry in content["personas"]
        if entry["character_id"] in now_there
    ]
    return {**content, "personas": left}


def exported_ids(entry: Mapping[str, Any]) -> tuple[set[int], set[int]]:
    """Return the memory ids and the message ids that an export lists for a persona."""
    rows = (*entry["memories"], *entry["events"])
    return {row["memory_id"] for row in rows}, {row["msg_id"] for row in entry["messages"]}


def _persona_export(part: PersonaExport) -> ExportContent:
    rows = sorted(part.memories, key=lambda row: row.id)
    return {
        **_persona_fields(part),
        "memories": [_memory_object(row) for row in rows if row.type is not MemoryType.EVENT],
        "events": [_memory_object(row) for row in rows if row.type is MemoryType.EVENT],
        "messages": [_message_object(row) for row in sorted(part.messages, key=lambda row: row.id)],
        "goals": [_goal_object(goal) for goal in part.goals],
    }


def _without_forgotten_rows(entry: ExportContent, part: PersonaExport) -> ExportContent:
    held = {row.id for row in part.memories}
    said = {row.id: _message_object(row) for row in part.messages}
    goals = {goal.id: _goal_object(goal) for goal in part.goals}
    card = {} if entry["card"] is not None else {"card": None}
    return {
        **entry,
        **_persona_fields(part),
        **card,
        "memories": [row for row in entry["memories"] if row["memory_id"] in held],
        "events": [row for row in entry["events"] if row["memory_id"] in held],
        "messages": [
            said.get(row["msg_id"], row)
            for row in entry["messages"]
            if row["msg_id"] not in part.erased_message_ids
        ],
        "goals": [goals[row["goal_id"]] for row in entry["goals"] if row["goal_id"] in goals],
    }


def _persona_fields(part: PersonaExport) -> ExportContent:
    persona = part.persona
    return {
        "character_id": persona.owner.persona_id,
        "display_name": persona.display_name,
        "description": persona.description,
        "created_at": iso_utc(persona.created_at),
        "updated_at": iso_utc(persona.updated_at),
        "card": None if part.card is None else base64.b64encode(part.card).decode(),
    }


def _memory_object(memory: Memory) -> ExportContent:
    return _export_object(export_lines.memory_line(memory), "memory_id")


def _message_object(message: Message) -> ExportContent:
    return _export_object(export_lines.message_line(message), "msg_id", but=("hidden_at",))


def _goal_object(goal: Goal) -> ExportContent:
    entry = _export_object(export_lines.goal_line(goal), "goal_id")
    links = [_export_object(link, "link_id", but=("goal_id",)) for link in entry["links"]]
    return {**entry, "links": links}


def _export_object(
    line: Mapping[str, Any], id_name: str, but: Collection[str] = ()
) -> ExportContent:
    """Return a row under the field names of the export, with times as ISO text in UTC."""
    named = {_RENAMED_FIELDS.get(name, name): value for name, value in line.items()}
    entry = {id_name: named.pop("id")}
    for name, value in named.items():
        if name not in ("kind", "persona_id", *but):
            entry[name] = iso_utc(value) if name in _TIME_FIELDS and value is not None else value
    return entry
