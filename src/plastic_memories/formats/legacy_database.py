"""Convert the tables of the older program's database to lines of our export, by user."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from plastic_memories.model.goal import GoalStatus
from plastic_memories.model.memory import LIST_SLOTS, SLOT_TYPES, MemoryType, Scope, SourceType
from plastic_memories.model.memory import Status as MemoryStatus
from plastic_memories.model.message import Role

DEFAULT_USER_ID = "local"
DEFAULT_PERSONA_ID = "default"
_ANY_USER = "*"
Row = Mapping[str, Any]
Kind = TypeVar("Kind", bound=StrEnum)
_ROLES = {"human": "user", "ai": "assistant", "bot": "assistant", "model": "assistant"}
_GOAL_STATUSES = {"completed": "done", "cancelled": "dropped", "abandoned": "dropped"}


@dataclass(frozen=True, slots=True)
class LegacyEntry:
    """One row of the older program: its table and id, and its export line."""

    place: str
    line: Mapping[str, Any]


@dataclass(slots=True)
class LegacyExport:
    """Everything of a file, by user, and what cannot be taken over."""

    users: defaultdict[str, list[LegacyEntry]] = field(default_factory=lambda: defaultdict(list))
    skipped: list[tuple[str, str]] = field(default_factory=list)  # (place, reason)

    def add(self, table: str, row: Row, line: Mapping[str, Any]) -> None:
        place = f"{table} {row.get('id')}"
        user_id = _text(row, "user_id") or DEFAULT_USER_ID
        if user_id == _ANY_USER:
            self.skipped.append((place, f"{user_id} is no user"))
            return
        persona_id = _text(row, "persona_id") or DEFAULT_PERSONA_ID
        entry = LegacyEntry(place, {**line, "persona_id": persona_id})
        self.users[user_id].append(entry)


def convert_legacy_tables(tables: Mapping[str, Sequence[Row]], now: float) -> LegacyExport:
    """Return the lines of an export that says the same as these tables.

    >>> row = {"id": 1, "user_id": "me", "type": "note", "mkey": "k", "content": "喜欢茶"}
    >>> convert_legacy_tables({"memory_items": [row]}, 0.0).users["me"][0].line["content"]
    '喜欢茶'
    """
    export = LegacyExport()
    for row in tables.get("personas", ()):
        export.add("personas", row, {"kind": "persona", **_persona_fields(row)})
    for row in tables.get("messages", ()):
        export.add("messages", row, {"kind": "message", **_message_fields(row)})
    memories = _MemoryTable(tables.get("memory_items", ()), tables.get("persona_slots", ()), now)
    memories.convert(export)
    links = _group(tables.get("goal_links", ()), lambda row: row.get("goal_id"))
    for row in tables.get("goals", ()):
        found = [_link_fields(link, memories.new_ids) for link in links[row.get("id")]]
        export.add("goals", row, {"kind": "goal", **_goal_fields(row), "links": found})
    return export


class _MemoryTable:
    """The memories of a file, with the slots that say which of them holds."""

    def __init__(self, rows: Sequence[Row], slots: Sequence[Row], now: float) -> None:
        self._now = now
        self._slots = slots
        self._by_id = {row.get("id"): row for row in rows}
        self._rows = sorted(rows, key=self._order)
        # A memory comes after the one it replaces, whatever their ids were.
        self.new_ids = {row.get("id"): number for number, row in enumerate(self._rows, 1)}
        self._holders = self._slot_holders()
        active = filter(self._is_active, self._rows)
        self._active_places = {_slot_place(row, "type") for row in active}

    def convert(self, export: LegacyExport) -> None:
        for row in self._rows:
            export.add("memory_items", row, {"kind": "memory", **self._memory_fields(row)})
        for number, slot in enumerate(self._slots, len(self._rows) + 1):
            self._convert_slot(export, slot, number)

    def _chain(self, row: Row) -> list[Row]:
        """Return the memory and what it replaced, newest first; a circle is cut."""
        chain = [row]
        while (older := self._by_id.get(chain[-1].get("supersedes_id"))) is not None:
            if older in chain:
                break
            chain.append(older)
        return chain

    def _order(self, row: Row) -> tuple[float, int]:
        chain = self._chain(row)
        return max(_number(one, "id") or 0 for one in chain), len(chain)

    def _slot_holders(self) -> dict[tuple[Any, ...], Any]:
        """Return, by slot of one value, the id of the row that holds it."""
        named = {_slot_place(slot, "slot_name"): _slot_memory_id(slot) for slot in self._slots}
        active = [row for row in self._rows if self._is_single_slot(row)]
        holders: dict[tuple[Any, ...], Any] = {}
        for place, rows in _group(active, lambda row: _slot_place(row, "type")).items():
            newest = max(rows, key=lambda row: (_number(row, "updated_at") or 0, row.get("id")))
            ids = {row.get("id") for row in rows}
            holders[place] = named[place] if named.get(place) in ids else newest.get("id")
        return holders

    def _is_single_slot(self, row: Row) -> bool:
        kind = _choice(row, "type", MemoryType, MemoryType.NOTE)
        is_single = kind in SLOT_TYPES and kind not in LIST_SLOTS
        return is_single and self._stored_status(row) is MemoryStatus.ACTIVE

    def _stored_status(self, row: Row) -> MemoryStatus:
        unknown = MemoryStatus.REVOKED if row.get("status") else MemoryStatus.ACTIVE
        status = _choice(row, "status", MemoryStatus, unknown)
        expiry = _expiry(row)
        is_live = status in (MemoryStatus.ACTIVE, MemoryStatus.CANDIDATE)
        if is_live and expiry is not None and expiry <= self._now:
            return MemoryStatus.EXPIRED
        return status

    def _status(self, row: Row) -> MemoryStatus:
        """Return the status; a slot has one value, and what else claims it waits for a yes."""
        if not self._is_single_slot(row):
            return self._stored_status(row)
        is_holder = self._holders[_slot_place(row, "type")] == row.get("id")
        return MemoryStatus.ACTIVE if is_holder else MemoryStatus.CANDIDATE

    def _memory_fields(self, row: Row) -> dict[str, Any]:
        kind = _choice(row, "type", MemoryType, MemoryType.NOTE)
        status = self._status(row)
        chain = self._chain(row) if status is not MemoryStatus.CANDIDATE else [row]
        was_named = _text(row, "type")
        key = _text(row, "mkey") or f"legacy.{row.get('id')}"
        return {
            "id": self.new_ids[row.get("id")],
            "root_id": self.new_ids[chain[-1].get("id")] if len(chain) > 1 else 0,
            "supersedes_id": self.new_ids.get(row.get("supersedes_id")),
            "type": kind.value,
            # A type of theirs alone becomes part of the key: a note may have the same one.
            "key": key if was_named == kind.value else f"{was_named}.{key}",
            "content": _text(row, "content"),
            "tags": _tags(row),
            "status": status.value,
            "scope": _choice(row, "scope", Scope, Scope.PERSONA).value,
            "source_type": _choice(row, "source_type", SourceType, SourceType.IMPORTED).value,
            "source_ref": _text(row, "source_ref"),
            "confidence": _confidence(row),
            "expires_at": _expiry(row),
            "metadata": {} if was_named == kind.value else {"legacy_type": was_named},
            **_times(row),
        }

    def _convert_slot(self, export: LegacyExport, slot: Row, number: int) -> None:
        """Add a slot that no memory stands behind; the others follow from their memories."""
        memory_id = _slot_memory_id(slot)
        if memory_id in self._by_id or _slot_place(slot, "slot_name") in self._active_places:
            return
        if memory_id is not None:
            # The older program did not clear a slot when its memory was forgotten.
            place = f"persona_slots {slot.get('id')}"
            export.skipped.append((place, "the memory behind this slot was forgotten"))
            return
        kind = _choice(slot, "slot_name", MemoryType, MemoryType.NOTE)
        made_at = _number(slot, "updated_at")
        for index, text in enumerate(_slot_texts(slot)):
            line = {
                "kind": "memory",
                "id": number if index == 0 else 0,
                "type": kind.value,
                "key": f"slot.{_text(slot, 'slot_name')}" + (f".{index}" if index else ""),
                "content": text,
                "status": MemoryStatus.ACTIVE.value,
                "source_type": SourceType.USER_EXPLICIT.value,
                "created_at": made_at,
                "updated_at": made_at,
            }
            export.add("persona_slots", slot, line)

    def _is_active(self, row: Row) -> bool:
        return self._stored_status(row) is MemoryStatus.ACTIVE


def _persona_fields(row: Row) -> dict[str, Any]:
    texts = {name: _text(row, name) for name in ("display_name", "description")}
    return {**texts, **_times(row)}


def _message_fields(row: Row) -> dict[str, Any]:
    role = _text(row, "role").lower()
    made_at = _number(row, "created_at")
    return {
        "id": row.get("id"),
        "role": _choice({"role": _ROLES.get(role, role)}, "role", Role, Role.SYSTEM).value,
        "content": _text(row, "content"),
        "session_id": _text(row, "session_id"),
        "source_app": _text(row, "source_app"),
        "ts": made_at,
        "created_at": made_at,
    }


def _goal_fields(row: Row) -> dict[str, Any]:
    status = _text(row, "status")
    known = {"status": _GOAL_STATUSES.get(status, status)}
    return {
        "id": row.get("id"),
        "title": _text(row, "title"),
        "details": _text(row, "details"),
        "status": _choice(known, "status", GoalStatus, GoalStatus.ACTIVE).value,
        **_times(row),
    }


def _link_fields(row: Row, new_ids: Mapping[Any, int]) -> dict[str, Any]:
    return {
        "memory_id": new_ids.get(row.get("memory_id")),
        "note": _text(row, "note"),
        "created_at": _number(row, "created_at"),
    }


def _slot_place(row: Row, name: str) -> tuple[Any, ...]:
    return row.get("user_id"), row.get("persona_id"), row.get(name)


def _slot_memory_id(slot: Row) -> int | None:
    provenance = _json(slot, "provenance_json")
    found = provenance.get("active_memory_id") if isinstance(provenance, dict) else None
    return found if isinstance(found, int) else None


def _slot_texts(slot: Row) -> list[str]:
    value = _json(slot, "value_json")
    values = value if isinstance(value, list) else [value]
    texts = [one.get("text") if isinstance(one, dict) else one for one in values]
    return [text for text in texts if isinstance(text, str) and text]


def _times(row: Row) -> dict[str, float | None]:
    made_at = _number(row, "created_at")
    return {"created_at": made_at, "updated_at": _number(row, "updated_at") or made_at}


def _expiry(row: Row) -> float | None:
    """Return when a memory ends; version 1 stored how long it lives."""
    given, lifetime = _number(row, "expires_at"), _number(row, "ttl_seconds")
    written_at = _number(row, "updated_at") or _number(row, "created_at")
    if given is None and lifetime and written_at is not None:
        return written_at + lifetime
    return given


def _confidence(row: Row) -> float | None:
    value = _number(row, "confidence")
    return None if value is None else min(max(value, 0.0), 1.0)


def _tags(row: Row) -> list[str]:
    tags = _json(row, "tags_json")
    return [tag for tag in tags if isinstance(tag, str) and tag] if isinstance(tags, list) else []


def _choice(row: Row, name: str, kind: type[Kind], default: Kind) -> Kind:
    value = row.get(name)
    return kind(value) if value in set(kind) else default


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    return "" if value is None else str(value)


def _number(row: Row, name: str) -> float | None:
    try:
        return float(row[name])
    except (KeyError, TypeError, ValueError):
        return None


def _json(row: Row, name: str) -> Any:
    try:
        return json.loads(_text(row, name))
    except (ValueError, RecursionError):
        return None


def _group(rows: Iterable[Row], key: Callable[[Row], Any]) -> defaultdict[Any, list[Row]]:
    found: defaultdict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return found
