"""A window of messages to extract memories from, and the resulting proposal."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.model.memory import Draft
from plastic_memories.model.message import Message
from plastic_memories.model.owner import Owner


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkWindow:
    """The messages of one session since the last digest, oldest first.

    `language` is that of the conversation (`zh`, `en`); empty means "detect it".
    """

    owner: Owner
    messages: tuple[Message, ...]
    persona_name: str = ""
    time_zone: str = "UTC"
    language: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of a conversation, in the language of the conversation."""

    text: str
    topics: tuple[str, ...] = ()
    emotion: str = "neutral"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Drafts extracted from a window; every draft carries its quote and its message.

    `dropped` holds one reason for each rejected item, never its text.
    """

    drafts: tuple[Draft, ...] = ()
    summary: Summary | None = None
    dropped: tuple[str, ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0
