"""Run CompanionBench against one system and collect the scores."""

from __future__ import annotations

from typing import Any

from bench.companion.companion import Companion
from bench.companion.hub import HubCompanion
from bench.companion.people import Person
from bench.companion.scores import (
    MONTH_S,
    NEXT_EVENING_S,
    Scores,
    asker,
    score_corrections,
    score_questions,
    score_rows,
)
from bench.companion.situations import Situation, score_situations
from bench.companion.small_talk import small_talk

_MARGIN_S = 60.0


def measure(
    companion: Companion, people: list[Person], situations: list[Situation], others: int
) -> dict[str, Any]:
    """Let everybody talk, then ask: the next evening, a month later, and after other talk.

    Situations are played with systems that can forget and branch.
    """
    scores = Scores()
    for person in people:
        companion.listen(person.name, person.utterances)
    for person in people:
        companion.finish(person.name)
        _score_evening(scores, companion, person)
    if others:
        _score_after_small_talk(scores, companion, people, others)
    if isinstance(companion, HubCompanion):
        score_situations(scores, companion, situations)
    return scores.as_json()


def _score_evening(scores: Scores, companion: Companion, person: Person) -> None:
    rows = companion.rows(person.name)
    if rows:
        score_rows(scores, person, rows)
    evening = asker(companion, person, person.last_at + NEXT_EVENING_S)
    score_questions(scores, "next evening", person, evening)
    score_corrections(scores, person, rows, evening)
    later = asker(companion, person, person.last_at + MONTH_S)
    score_questions(scores, "30 days", person, later)


def _score_after_small_talk(
    scores: Scores, companion: Companion, people: list[Person], others: int
) -> None:
    for person in people:
        talk = list(small_talk(person.language, person.last_at, others))
        companion.listen(person.name, talk)
    for person in people:
        companion.finish(person.name)
        later = asker(companion, person, person.last_at + MONTH_S + _MARGIN_S)
        score_questions(scores, f"30 days, {others} lines", person, later)
