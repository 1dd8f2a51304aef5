"""Which words of a question bear on old messages, and which are in too many to tell anything."""

from __future__ import annotations

import pytest

from plastic_memories.language.questions.evidence_terms import (
    MAX_SCORED_CHARS,
    evidence_score,
    evidence_terms,
    idf_weighted_terms,
    search_terms,
)
from plastic_memories.model.message import TermDocumentCounts

MOST = 2_000
QUESTIONS = [
    ("小雨的护照", "小雨", "护照"),
    ("Priya, passport", "priya", "passport"),
    ("小雨 passport", "小雨", "passport"),
]


def _spread(common: str, **held: int) -> TermDocumentCounts:
    return TermDocumentCounts(20_000, {common: MOST, **held}, MOST)


@pytest.mark.parametrize(("question", "common", "rare"), QUESTIONS)
def test_what_nobody_counts_on_tells_least_and_is_not_searched_for(
    question: str, common: str, rare: str
) -> None:
    told = evidence_terms(question)
    spread = _spread(common, **{rare: 20})

    weights = idf_weighted_terms(told, spread)

    assert weights[common] == pytest.approx(0.1)
    assert weights[rare] == pytest.approx(1.0)
    assert search_terms(told, spread) == [rare]


@pytest.mark.parametrize(("question", "common", "rare"), QUESTIONS)
def test_a_number_that_was_counted_out_is_what_it_is(question: str, common: str, rare: str) -> None:
    told = evidence_terms(question)
    spread = TermDocumentCounts(20_000, {common: MOST, rare: 20})

    assert idf_weighted_terms(told, spread)[common] == pytest.approx(0.5, abs=0.01)
    assert search_terms(told, spread) == [rare, common]


@pytest.mark.parametrize(("question", "one", "other"), QUESTIONS)
def test_words_that_are_all_common_choose_only_in_a_short_time(
    question: str, one: str, other: str
) -> None:
    told = evidence_terms(question)
    spread = _spread(one, **{other: MOST})

    assert search_terms(told, spread) == []
    assert search_terms(told, spread, in_short=True) in ([one], [other])


@pytest.mark.parametrize("filler", ["天气不错", "nice day ", "今天 nice "])
def test_of_a_long_message_the_beginning_counts(filler: str) -> None:
    weights = {"priya": 1.0, "护照": 1.0}
    long = filler * MAX_SCORED_CHARS

    assert evidence_score(f"Priya 的护照。{long}", weights) == 2.0
    assert evidence_score(f"{long}。Priya 的护照", weights) == 0.0
