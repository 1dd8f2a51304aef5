"""Extract drafts from the messages of a conversation, attributed to their speakers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from plastic_memories.language.dates.time_zones import zone_or_utc
from plastic_memories.language.reading.group_members import attribute_to_speaker, is_from_bot
from plastic_memories.language.reading.message_reading import (
    ReadClause,
    latest_by_key,
    message_drafts,
    read_clauses,
)
from plastic_memories.model.memory import Draft
from plastic_memories.model.message import Message, Role


def extract_drafts(talk: Sequence[Message], time_zone: str = "UTC") -> list[Draft]:
    """Return drafts of what people state about themselves, in message order.

    Dates are relative to the time of each message, in the user's time zone. Of two statements with
    one key the later wins. What another group member says is a fact about that member, under a key
    of its own: never part of the user's profile.
    """
    zone = zone_or_utc(time_zone)
    return latest_by_key(
        attribute_to_speaker(message, draft)
        for message, before in _user_turns(talk)
        for draft in message_drafts(message, zone, before)
    )


def read_window(talk: Sequence[Message], time_zone: str = "UTC") -> list[ReadClause]:
    """Return the clauses in which users state something, in order, with what the rules read.

    Clauses without findings are those that no rule can read.
    """
    zone = zone_or_utc(time_zone)
    return [
        replace(
            clause,
            findings=tuple(attribute_to_speaker(message, draft) for draft in clause.findings),
        )
        for message, before in _user_turns(talk)
        for clause in read_clauses(message, zone, before)
    ]


def _user_turns(talk: Sequence[Message]) -> Iterator[tuple[Message, str]]:
    """Yield the messages of people, each with what the persona said just before."""
    before = ""
    for message in talk:
        # A bot whose own messages come back from a group is not a member.
        if message.role is Role.USER and not is_from_bot(message):
            yield message, before
        before = message.content if message.role is Role.ASSISTANT else ""
