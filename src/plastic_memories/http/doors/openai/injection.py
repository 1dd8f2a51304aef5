"""Insert memory blocks into the messages of a request; every other byte stays the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plastic_memories.http.doors.openai.json_splice import (
    Edit,
    JsonSpan,
    apply_edits,
    array_elements,
    insertion_edit,
    object_members,
    to_json,
)

_SYSTEM_ROLES = ("system", "developer")


@dataclass(frozen=True, slots=True)
class InjectionPoint:
    """The position and the role of the turn block."""

    position: str = "before_last_user"  # or "depth", "system"
    depth: int = 4
    role: str = "system"


def inject_memory(messages: str, stable: str, turn: str, place: InjectionPoint) -> str:
    """Return messages, as JSON, with both blocks inserted; skip an empty block.

    The stable block goes to the end of the first system message, so that the prompt begins with the
    same bytes from call to call.
    """
    if place.position == "system":
        stable, turn = "\n\n".join(block for block in (stable, turn) if block), ""
    found = array_elements(messages)
    if not found:
        return f"[{_json_message('system', stable)}]" if stable else messages
    edits: list[Edit] = []
    system = _first_system_message(found)
    if stable and system is None:
        edits.append(insertion_edit(found, 0, _json_message("system", stable)))
    elif stable and system is not None:
        message = messages[system.start : system.end]
        edits.append((system.start, system.end, _append_text(message, stable)))
    at = _turn_index(found, place) if turn else None
    if at is not None:
        edits.append(insertion_edit(found, at, _json_message(place.role, turn)))
    return apply_edits(messages, edits)


def _json_message(role: str, text: str) -> str:
    return to_json({"role": role, "content": text})


def _first_system_message(found: Sequence[JsonSpan]) -> JsonSpan | None:
    """Return the first system message, if text can be appended to it."""
    first = next((part for part in found if part.value.get("role") in _SYSTEM_ROLES), None)
    return first if first and isinstance(first.value.get("content"), str | list) else None


def _append_text(message: str, text: str) -> str:
    """Return a message with text appended: to its string, or as one more part."""
    content = next(part for part in reversed(object_members(message)) if part.key == "content")
    if isinstance(content.value, str):
        joint = "\n\n" if content.value else ""
        # Before the closing quote.
        return apply_edits(
            message, [(content.end - 1, content.end - 1, to_json(joint + text)[1:-1])]
        )
    part = to_json({"type": "text", "text": text})
    before = "," if content.value else ""
    return apply_edits(message, [(content.end - 1, content.end - 1, before + part)])


def _turn_index(found: Sequence[JsonSpan], place: InjectionPoint) -> int | None:
    users = [at for at, part in enumerate(found) if part.value.get("role") == "user"]
    if not users:
        return None
    if place.position == "before_last_user":
        return users[-1]
    at = max(len(found) - place.depth, 0)
    # Keep the client's system messages first, and keep a tool call next to its result.
    while at < len(found) and found[at].value.get("role") in _SYSTEM_ROLES and at < users[0]:
        at += 1
    while 0 < at < len(found) and found[at].value.get("role") == "tool":
        at -= 1
    return at
