"""Notes of what a user stated and no rule reads, in the user's own words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plastic_memories.language.reading.verbatim_notes import stated_sentences, verbatim_draft
from plastic_memories.model.memory import Draft
from plastic_memories.model.message import Message
from plastic_memories.model.owner import Realm
from plastic_memories.ports.judge import JudgeEngine


def unread_notes(
    judge: JudgeEngine, message: Message, found: Sequence[Draft], time_zone: str
) -> list[Draft]:
    """Return a message as one note if no rule reads any of it, else its unread sentences as notes.

    `found` is what the rules read in the whole conversation: a later message may have corrected
    what they read in this one.
    """
    if message.realm is not Realm.REAL or not stated_sentences(message):
        return []
    own = [draft for draft in found if message.id in draft.source_message_ids]
    if not own and not judge.extract([message], time_zone):
        return [verbatim_draft(message)]
    return unread_sentence_notes(judge, message, own, time_zone)


def unread_sentence_notes(
    judge: JudgeEngine, message: Message, own: Sequence[Draft], time_zone: str
) -> list[Draft]:
    """Return notes of the sentences that yield no draft; `own` are the drafts of the message."""
    if message.realm is not Realm.REAL:
        return []
    pieces = [replace(message, content=sentence) for sentence in stated_sentences(message)]
    quotes = [draft.quote for draft in own if draft.quote]
    return [
        verbatim_draft(piece)
        for piece in pieces
        if not any(quote in piece.content for quote in quotes)
        and not judge.extract([piece], time_zone)
    ]
