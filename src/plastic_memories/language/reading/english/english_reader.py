"""Run the English rules on every clause of a message, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from plastic_memories.language.reading.clauses import MessageClause
from plastic_memories.language.reading.english import (
    constraints,
    events,
    identity,
    medication,
    people,
    reactions,
    speaking,
    tastes,
    together,
    work,
)
from plastic_memories.language.reading.english.clause import EnglishSubject, parse_english_clause
from plastic_memories.language.reading.finding import ExtractedItem
from plastic_memories.language.text.lazy_regex import regex

_FINDERS = (
    identity.find_identity,
    work.find_work,
    tastes.find_tastes,
    constraints.find_constraints,
    reactions.find_reactions,
    medication.find_medication,
    people.find_people,
    together.find_together,
    events.find_events,
)
_GREETING = regex(r"(?:hi|hey|hello|hiya|yo|good (?:morning|evening))\b", re.IGNORECASE)
_WISHES = ("preference.reply_", "constraint.", "relationship.with_persona.", "basic_info.")


def read_english_clauses(
    clauses: Sequence[MessageClause], now: datetime
) -> Iterator[tuple[MessageClause, ExtractedItem]]:
    """Yield the items of the clauses of one message; a subject carries over to the next clause."""
    subject, somebody = EnglishSubject.NONE, ""
    greeted = bool(clauses) and _GREETING.match(clauses[0].text) is not None
    for clause in clauses:
        parsed = parse_english_clause(clause, now, subject)
        items = [item for finder in _FINDERS for item in finder(parsed)]
        if not any(item.key.startswith(_WISHES) for item in items):
            items += speaking.find_speaking(parsed)
        if greeted and not items:
            items = list(identity.find_signed_name(parsed))
        if somebody and not items:
            items = list(people.find_later_name(parsed, somebody))
        for item in items:
            yield clause, item
        subject, somebody = parsed.subject, people.last_relative_key(items)
