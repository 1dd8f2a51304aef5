"""English talk: every clause of a message, read in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from plastic_memories.rules.talk import (
    en_body,
    en_events,
    en_limits,
    en_people,
    en_self,
    en_taste,
    en_work,
)
from plastic_memories.rules.talk.en_clause import Subject, read
from plastic_memories.rules.talk.found import Found
from plastic_memories.rules.talk.sentences import Clause

_FINDERS = (
    en_self.find,
    en_work.find,
    en_taste.find,
    en_limits.find,
    en_body.find,
    en_people.find,
    en_events.find,
)


def find(clauses: Sequence[Clause], now: datetime) -> Iterator[tuple[Clause, Found]]:
    """Yield what the clauses of one message say, carrying the subject from one to the next."""
    subject, somebody = Subject.NONE, ""
    for clause in clauses:
        said = read(clause, now, subject)
        items = [item for finder in _FINDERS for item in finder(said)]
        if somebody and not items:
            items = list(en_people.named_later(said, somebody))
        for item in items:
            yield clause, item
        subject, somebody = said.subject, en_people.spoken_of(items)
