"""Where memory goes in the messages of a request; every other byte of them stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plastic_memories.http.doors.openai.json_splice import (
    Edit,
    Part,
    elements,
    insertion,
    members,
    spliced,
    written,
)

_SYSTEM = ("system", "developer")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the turn block goes, and in whose name."""

    position: str = "before_last_user"  # or "depth", "system"
    depth: int = 4
    role: str = "system"


def injected(messages: str, stable: str, turn: str, place: Place) -> str:
    """Return messages, as JSON, with both blocks in their places; an empty block goes nowhere.

    The stable block stands at the end of the first system message, so that the prompt begins
    with the same bytes from call to call.
    """
    if place.position == "system":
        stable, turn = "\n\n".join(block for block in (stable, turn) if block), ""
    found = elements(messages)
    if not found:
        return f"[{_message('system', stable)}]" if stable else messages
    edits: list[Edit] = []
    system = _first_system(found)
    if stable and system is None:
        edits.append(insertion(found, 0, _message("system", stable)))
    elif stable and system is not None:
        message = messages[system.start : system.end]
        edits.append((system.start, system.end, _longer(message, stable)))
    at = _turn_place(found, place) if turn else None
    if at is not None:
        edits.append(insertion(found, at, _message(place.role, turn)))
    return spliced(messages, edits)


def _message(role: str, text: str) -> str:
    return written({"role": role, "content": text})


def _first_system(found: Sequence[Part]) -> Part | None:
    """Return the first system message, if text can be added to it."""
    first = next((part for part in found if part.value.get("role") in _SYSTEM), None)
    return first if first and isinstance(first.value.get("content"), str | list) else None


def _longer(message: str, text: str) -> str:
    """Return a message with text at its end: in its string, or as one part more."""
    content = next(part for part in reversed(members(message)) if part.key == "content")
    if isinstance(content.value, str):
        joint = "\n\n" if content.value else ""
        # Before the closing quote.
        return spliced(message, [(content.end - 1, content.end - 1, written(joint + text)[1:-1])])
    part = written({"type": "text", "text": text})
    before = "," if content.value else ""
    return spliced(message, [(content.end - 1, content.end - 1, before + part)])


def _turn_place(found: Sequence[Part], place: Place) -> int | None:
    users = [at for at, part in enumerate(found) if part.value.get("role") == "user"]
    if not users:
        return None
    if place.position == "before_last_user":
        return users[-1]
    at = max(len(found) - place.depth, 0)
    # The prompt begins as the client wrote it, and nothing parts a call from its answer.
    while at < len(found) and found[at].value.get("role") in _SYSTEM and at < users[0]:
        at += 1
    while 0 < at < len(found) and found[at].value.get("role") == "tool":
        at -= 1
    return at
