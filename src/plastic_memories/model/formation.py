"""A stretch of conversation to learn from, what is proposed, and what is said about it."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.model.memory import Draft
from plastic_memories.model.message import Message
from plastic_memories.model.owner import Owner


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkWindow:
    """The messages of one session since it was last looked at, oldest first.

    `language` is that of the talk (`zh`, `en`); empty means "see for yourself".
    """

    owner: Owner
    messages: tuple[Message, ...]
    persona_name: str = ""
    time_zone: str = "UTC"
    language: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a conversation was about, in its own language."""

    text: str
    topics: tuple[str, ...] = ()
    emotion: str = "neutral"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What could be learned from a window; every draft carries its quote and its message.

    `dropped` holds one reason for each item that was not worth a draft, never its text.
    """

    drafts: tuple[Draft, ...] = ()
    summary: Summary | None = None
    dropped: tuple[str, ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """Keep it or not, and why; `reason` never repeats the text it is about."""

    keep: bool
    reason: str = ""
    category: str = ""


KEEP = Verdict(keep=True)


@dataclass(frozen=True, slots=True)
class ScreeningResult:
    """A text after the sensitive policy: passed, masked, or refused with a category."""

    text: str
    refused_category: str = ""  # the category, if the policy refuses
    masked_categories: tuple[str, ...] = ()  # the categories that were masked
