"""Conversations for tests of what is learned from talk."""

from __future__ import annotations

import json
from typing import Any

from plastic_memories.model.formation import TalkWindow
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner

OWNER = Owner("default", "userA", "p1")
# Wednesday, 15 May 2024, 16:00 in Shanghai.
WEDNESDAY = 1_715_760_000.0


def message(text: str, place: int = 1, role: Role = Role.USER, **more: Any) -> Message:
    """One message, a minute after the one before it."""
    at = WEDNESDAY + 60 * place
    return Message(owner=OWNER, role=role, content=text, ts=at, id=place, **more)


def talk(*lines: str, **more: Any) -> TalkWindow:
    """A window of lines; those that begin with `bot:` are the assistant's."""
    messages = tuple(
        message(line.removeprefix("bot:").strip(), place, role_of(line))
        for place, line in enumerate(lines, start=1)
    )
    return TalkWindow(owner=OWNER, messages=messages, time_zone="Asia/Shanghai", **more)


def role_of(line: str) -> Role:
    return Role.ASSISTANT if line.startswith("bot:") else Role.USER


def fact(quote: str, key: str, value: str, **more: Any) -> dict[str, Any]:
    """One item of a model's profile; `key` is written `category.key`."""
    category, _, name = key.partition(".")
    return {"quote": quote, "category": category, "key": name, "value": value, **more}


def happening(quote: str, kind: str, title: str, **more: Any) -> dict[str, Any]:
    return {"quote": quote, "event_type": kind, "title": title, **more}


def reply(*items: dict[str, Any], summary: dict[str, Any] | None = None) -> str:
    """A model's answer with these items, in the form it was asked for."""
    return json.dumps(
        {
            "profile": [item for item in items if "value" in item],
            "events": [item for item in items if "event_type" in item],
            "summary": summary,
        },
        ensure_ascii=False,
    )
