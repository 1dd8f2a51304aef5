"""Which words of a question bear on old messages, and which are in too many to tell anything."""

from __future__ import annotations

import pytest

from plastic_memories.language.questions.evidence_terms import (
    READ_OF_EACH,
    evidence_in,
    evidence_of,
    searched,
    weighed,
)
from plastic_memories.model.message import Spread

MOST = 2_000
QUESTIONS = [
    ("小雨的护照", "小雨", "护照"),
    ("Priya, passport", "priya", "passport"),
    ("小雨 passport", "小雨", "passport"),
]


def _spread(common: str, **held: int) -> Spread:
    return Spread(20_000, {common: MOST, **held}, MOST)


@pytest.mark.parametrize(("question", "common", "rare"), QUESTIONS)
def test_what_nobody_counts_on_tells_least_and_is_not_searched_for(
    question: str, common: str, rare: str
) -> None:
    told = evidence_in(question)
    spread = _spread(common, **{rare: 20})

    weights = weighed(told, spread)

    assert weights[common] == pytest.approx(0.1)
    assert weights[rare] == pytest.approx(1.0)
    assert searched(told, spread) == [rare]


@pytest.mark.parametrize(("question", "common", "rare"), QUESTIONS)
def test_a_number_that_was_counted_out_is_what_it_is(question: str, common: str, rare: str) -> None:
    told = evidence_in(question)
    spread = Spread(20_000, {common: MOST, rare: 20})

    assert weighed(told, spread)[common] == pytest.approx(0.5, abs=0.01)
    assert searched(told, spread) == [rare, common]


@pytest.mark.parametrize(("question", "one", "other"), QUESTIONS)
def test_words_that_are_all_common_choose_only_in_a_short_time(
    question: str, one: str, other: str
) -> None:
    told = evidence_in(question)
    spread = _spread(one, **{other: MOST})

    assert searched(told, spread) == []
    assert searched(told, spread, in_short=True) in ([one], [other])


@pytest.mark.parametrize("filler", ["天气不错", "nice day ", "今天 nice "])
def test_of_a_long_message_the_beginning_counts(filler: str) -> None:
    weights = {"priya": 1.0, "护照": 1.0}
    long = filler * READ_OF_EACH

    assert evidence_of(f"Priya 的护照。{long}", weights) == 2.0
    assert evidence_of(f"{long}。Priya 的护照", weights) == 0.0
