"""Path and content of the archive file of one conversation."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.model.memory import Memory, MemoryType
from plastic_memories.model.message import Message
from plastic_memories.model.owner import Owner, User
from plastic_memories.model.session import Session

_ROOT = "conversations"
_DEFAULT_TENANT = "default"
_UNSAFE = regex(r"[^\w\-@+=.]|^[.]|[.]$")
_MAX_PART_BYTES = 120
# Device names that Windows reserves, with or without an extension.
_WINDOWS_RESERVED = regex(r"^(con|prn|aux|nul|com\d|lpt\d)($|\.)", re.IGNORECASE)


def safe_path_part(text: str) -> str:
    """Return an id as one safe path segment: readable, without traversal, unique per id.

    >>> safe_path_part("小明"), safe_path_part("../a b"), safe_path_part("")
    ('小明', '%2E.%2Fa%20b', '_')
    """
    safe = _UNSAFE.sub(lambda found: "".join(f"%{b:02X}" for b in found[0].encode()), text)
    if _WINDOWS_RESERVED.match(safe):
        safe = f"%{safe.encode()[0]:02X}{safe[1:]}"
    if len(safe.encode()) > _MAX_PART_BYTES:
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        safe = safe.encode()[:_MAX_PART_BYTES].decode(errors="ignore") + f"~{digest}"
    return safe or "_"


def persona_folder(owner: Owner) -> str:
    """Return the folder with the conversations of one persona with one user."""
    return f"{user_folder(_ROOT, owner.user)}/{safe_path_part(owner.persona_id)}"


def conversations_folder(user: User) -> str:
    """Return the folder with all conversations of one user."""
    return user_folder(_ROOT, user)


def user_folder(root: str, user: User) -> str:
    """Return a user's folder below a root."""
    # Users of two tenants may have the same id.
    tenant = [] if user.tenant_id == _DEFAULT_TENANT else [f"~{safe_path_part(user.tenant_id)}"]
    return "/".join([root, *tenant, safe_path_part(user.user_id)])


def conversation_path(session: Session, started: float, *, alone: bool) -> str:
    """Return the path of a session; `alone`: no other session has its plain name that day."""
    place = session.place
    day = datetime.fromtimestamp(started, UTC)
    name = safe_path_part(place.session_id) if place.session_id else "talk"
    for mark, text in (("bot", place.bot_id), ("branch", place.branch_id)):
        name += f"~{mark}~{safe_path_part(text)}" if text else ""
    if not alone:
        name += f"~{session.id}"
    return f"{persona_folder(session.owner)}/{day:%Y/%m/%d}/{name}.json"


def conversation_file_text(
    session: Session, entries: Sequence[Mapping[str, Any]], memories: Sequence[Memory]
) -> str:
    """Return the JSON text of a conversation's archive file."""
    content = conversation_object(session, entries, memories)
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def conversation_object(
    session: Session, entries: Sequence[Mapping[str, Any]], memories: Sequence[Memory]
) -> dict[str, Any]:
    """Return the content of a conversation's archive file."""
    owner = session.owner
    return {
        "session_id": session.place.session_id,
        "user_id": owner.user_id,
        "character_id": owner.persona_id,
        "bot_id": session.place.bot_id,
        "source_app": session.place.source_app,
        "branch_id": session.place.branch_id,
        "start_time": entries[0]["timestamp"],
        "end_time": entries[-1]["timestamp"],
        "messages": list(entries),
        "summary": _summary_object(memories),
        "extracted_profiles": [_memory_object(row) for row in memories if _is_profile_memory(row)],
        "extracted_events": [
            _memory_object(row) for row in memories if row.type is MemoryType.EVENT
        ],
    }


def merge_messages(
    kept: str | None, messages: Sequence[Message], erased: Collection[int]
) -> list[dict[str, Any]]:
    """Return the messages of a file: the stored ones, and older ones that retention has removed.

    Messages that were erased or hidden on purpose are left out.
    """
    old = _archived_messages(kept)
    known = {entry["msg_id"]: entry for entry in old if entry["msg_id"] not in erased}
    known |= {message.id: _message_object(message) for message in messages}
    return [known[key] for key in sorted(known)]


def archived_message_ids(kept: str | None) -> list[int]:
    return [entry["msg_id"] for entry in _archived_messages(kept)]


def _archived_messages(kept: str | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(kept)["messages"] if kept else []
    return found


def _message_object(message: Message) -> dict[str, Any]:
    entry = {
        "msg_id": message.id,
        "role": message.role.value,
        "content": message.content,
        "timestamp": iso_utc(message.ts),
    }
    return {**entry, "speaker": message.speaker} if message.speaker else entry


def iso_utc(seconds: float) -> str:
    """Return a time as ISO 8601 in UTC.

    >>> iso_utc(0)
    '1970-01-01T00:00:00Z'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def seconds_of(text: str) -> float:
    """Return a time in ISO 8601 as epoch seconds.

    >>> seconds_of("1970-01-01T00:01:00Z")
    60.0
    """
    return datetime.fromisoformat(text).timestamp()


def _is_profile_memory(memory: Memory) -> bool:
    return memory.type not in (MemoryType.EVENT, MemoryType.SUMMARY)


def _summary_object(memories: Sequence[Memory]) -> dict[str, Any]:
    parts = [row for row in memories if row.type is MemoryType.SUMMARY]
    parts.sort(key=lambda row: row.id)
    topics = [topic for row in parts for topic in row.attributes.get("topics", ())]
    felt = [str(row.attributes.get("emotion", "neutral")) for row in parts]
    return {
        "text": "\n".join(row.content for row in parts),
        "topics": list(dict.fromkeys(topics)),
        "emotion": next((one for one in felt[::-1] if one != "neutral"), "neutral"),
    }


def _memory_object(memory: Memory) -> dict[str, Any]:
    return {
        "memory_id": memory.id,
        "type": memory.type.value,
        "key": memory.key,
        "content": memory.content,
        "confidence": memory.confidence,
        "importance": memory.importance,
        "quote": memory.quote,
        "attributes": dict(memory.attributes),
        "msg_ids": list(memory.source_message_ids),
    }
