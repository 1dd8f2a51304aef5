"""English talk: every clause of a message, read in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from plastic_memories.language.reading.clauses import Clause
from plastic_memories.language.reading.english import (
    constraints,
    events,
    identity,
    people,
    reactions,
    tastes,
    work,
)
from plastic_memories.language.reading.english.clause import Subject, read
from plastic_memories.language.reading.finding import Found

_FINDERS = (
    identity.find,
    work.find,
    tastes.find,
    constraints.find,
    reactions.find,
    people.find,
    events.find,
)


def find(clauses: Sequence[Clause], now: datetime) -> Iterator[tuple[Clause, Found]]:
    """Yield what the clauses of one message say, carrying the subject from one to the next."""
    subject, somebody = Subject.NONE, ""
    for clause in clauses:
        said = read(clause, now, subject)
        items = [item for finder in _FINDERS for item in finder(said)]
        if somebody and not items:
            items = list(people.named_later(said, somebody))
        for item in items:
            yield clause, item
        subject, somebody = said.subject, people.spoken_of(items)
