"""Convert memories to mem0's JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from plastic_memories.errors import BadRequest
from plastic_memories.http.doors.mem0.memory_ids import encode_id, memory_item_id
from plastic_memories.hub.conversation.ingest import IngestOutcome, IngestResult
from plastic_memories.hub.memories.search import FoundMemory
from plastic_memories.model.memory import Memory, MemoryOutline, Status

Json = dict[str, Any]
# Memories added without an agent or an app belong to these; responses leave them out.
DEFAULT_PERSONA = "default"
DEFAULT_APP = "mem0"


class FilterFields(Mapping[str, Any]):
    """The fields that filters can test, computed on access: most rows are tested on few."""

    def __init__(self, row: MemoryOutline) -> None:
        self._row = row

    def __getitem__(self, name: str) -> Any:
        return _FIELDS[name](self._row)

    def __contains__(self, name: object) -> bool:
        return name in _FIELDS

    def __iter__(self) -> Iterator[str]:
        return iter(_FIELDS)

    def __len__(self) -> int:
        return len(_FIELDS)


def memory_item(found: FoundMemory) -> Json:
    """Return a memory in the shape that both mem0 APIs share."""
    memory = found.memory
    item = {
        "id": memory_item_id(memory),
        "memory": memory.content,
        "hash": hashlib.md5(memory.content.encode(), usedforsecurity=False).hexdigest(),
        "metadata": dict(memory.metadata) or None,
        "categories": _categories(memory),
        "user_id": memory.owner.user_id,
        "agent_id": _none_if_default(DEFAULT_PERSONA, memory.told_to or memory.owner.persona_id),
        "run_id": memory.session_id or None,
        "app_id": _none_if_default(DEFAULT_APP, memory.source_app),
        "actor_id": memory.speaker or None,
        "role": _role(memory),
        "created_at": iso_time(found.first_created_at),
        "updated_at": iso_time(memory.updated_at),
        "expiration_date": _last_day(memory.expires_at),
    }
    return item if found.score is None else {**item, "score": round(found.score, 6)}


def _statement_time(row: MemoryOutline) -> float:
    return row.created_at if row.occurred_at is None else row.occurred_at


def _categories(memory: Memory | MemoryOutline) -> list[str]:
    return [memory.type.value, *memory.tags]


def _role(memory: Memory | MemoryOutline) -> str:
    return str(memory.attributes.get("role") or "user")


_FIELDS: dict[str, Callable[[MemoryOutline], Any]] = {
    "user_id": lambda row: row.owner.user_id,
    "agent_id": lambda row: row.owner.persona_id,
    "run_id": lambda row: row.session_id or None,
    "app_id": lambda row: row.source_app or None,
    "created_at": lambda row: row.made_at,
    "updated_at": lambda row: row.updated_at,
    "timestamp": _statement_time,
    "metadata": lambda row: row.metadata,
    "categories": _categories,
    "keywords": lambda row: row.content,
    "memory": lambda row: row.content,
    "id": memory_item_id,
    "memory_ids": lambda row: [memory_item_id(row)],
    "actor_id": lambda row: row.speaker or None,
    "role": _role,
}


def _none_if_default(default: str, name: str) -> str | None:
    return None if name in ("", default) else name


def add_response(result: IngestResult) -> Json:
    """Return the response to `add`; what was not stored is in `skipped`, with the reason."""
    response: Json = {"results": [_add_result(one) for one in result.outcomes]}
    if result.skipped:
        response["skipped"] = [
            {"memory": one.text or None, "reason": one.reason} for one in result.skipped
        ]
    return response


def _add_result(outcome: IngestOutcome) -> Json:
    """Return the result of `add` for one memory."""
    memory, before = outcome.memory, outcome.previous
    event = "NONE" if outcome.is_known else "ADD" if before is None else "UPDATE"
    item = {
        "id": memory_item_id(memory),
        "memory": memory.content,
        "event": event,
        "actor_id": memory.speaker or None,
        "role": _role(memory),
    }
    return {**item, "previous_memory": before.content} if event == "UPDATE" and before else item


def history_events(versions: Sequence[Memory]) -> list[Json]:
    """Return the changes of a memory, oldest first."""
    events: list[Json] = []
    before: Memory | None = None
    for version in versions:
        events.append(_history_event("UPDATE" if before else "ADD", version, before, version))
        before = version
    if before is not None and before.status is Status.REVOKED and before.superseded_by is None:
        events.append(_history_event("DELETE", before, before, None))
    return events


def _history_event(kind: str, row: Memory, old: Memory | None, new: Memory | None) -> Json:
    at = iso_time(row.created_at if new else row.updated_at)
    return {
        "id": f"{encode_id(row.owner, row.id)}-{kind.lower()}",
        "memory_id": memory_item_id(row),
        "old_memory": old.content if old else None,
        "new_memory": new.content if new else None,
        "event": kind,
        "user_id": row.owner.user_id,
        "metadata": dict(row.metadata) or None,
        "created_at": at,
        "updated_at": at,
        "is_deleted": kind == "DELETE",
        "actor_id": row.speaker or None,
        "role": _role(row),
    }


def deletion_event(memory_id: str, at: float) -> Json:
    """Return the only event that remains of a forgotten memory: its text is gone."""
    return {
        "id": f"{memory_id}-delete",
        "memory_id": memory_id,
        "old_memory": None,
        "new_memory": None,
        "event": "DELETE",
        "created_at": iso_time(at),
        "updated_at": iso_time(at),
        "is_deleted": True,
        "actor_id": None,
        "role": None,
    }


def iso_time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


def end_of_day(day: str | None) -> float | None:
    """Return when a memory expires that is valid through a day."""
    if day is None:
        return None
    try:
        following = date.fromisoformat(day) + timedelta(days=1)
    except (ValueError, OverflowError):
        raise BadRequest("expiration_date must be a date in the form YYYY-MM-DD.") from None
    return datetime(following.year, following.month, following.day, tzinfo=UTC).timestamp()


def _last_day(expires_at: float | None) -> str | None:
    if expires_at is None:
        return None
    return datetime.fromtimestamp(expires_at - 1, UTC).date().isoformat()
