"""Where memory goes in the messages of a request; every other byte of them stays."""

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
    """Where the turn block goes, and in whose name."""

    position: str = "before_last_user"  # or "depth", "system"
    depth: int = 4
    role: str = "system"


def inject_memory(messages: str, stable: str, turn: str, place: InjectionPoint) -> str:
    """Return messages, as JSON, with both blocks in their places; an empty block goes nowhere.

    The stable block stands at the end of the first system message, so that the prompt begins
    with the same bytes from call to call.
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
    """Return the first system message, if text can be added to it."""
    first = next((part for part in found if part.value.get("role") in _SYSTEM_ROLES), None)
    return first if first and isinstance(first.value.get("content"), str | list) else None


def _append_text(message: str, text: str) -> str:
    """Return a message with text at its end: in its string, or as one part more."""
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
    # The prompt begins as the client wrote it, and nothing parts a call from its answer.
    while at < len(found) and found[at].value.get("role") in _SYSTEM_ROLES and at < users[0]:
        at += 1
    while 0 < at < len(found) and found[at].value.get("role") == "tool":
        at -= 1
    return at
