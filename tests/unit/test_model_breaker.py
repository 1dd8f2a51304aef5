"""A model that fails is left alone, and tried again by one caller at a time."""

from __future__ import annotations

import pytest

from harness import StillClock
from plastic_memories.adapters.llm.breaker import Breaker
from plastic_memories.errors import Unavailable


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
def breaker(clock: StillClock) -> Breaker:
    return Breaker(clock, failures=2, rest_s=60)


def test_a_success_forgets_the_failures_before_it(breaker: Breaker) -> None:
    breaker.failed()
    breaker.succeeded()
    breaker.failed()

    breaker.enter()


def test_it_says_how_long_it_rests(breaker: Breaker, clock: StillClock) -> None:
    breaker.failed()
    breaker.failed()
    clock.at += 20

    with pytest.raises(Unavailable) as caught:
        breaker.enter()

    assert caught.value.detail == {"retry_after_s": 40}


def test_after_the_rest_one_caller_probes_and_others_wait(
    breaker: Breaker, clock: StillClock
) -> None:
    breaker.failed()
    breaker.failed()
    clock.at += 60
    breaker.enter()

    with pytest.raises(Unavailable):
        breaker.enter()

    breaker.succeeded()
    breaker.enter()
    breaker.enter()


def test_a_probe_that_was_abandoned_lets_the_next_one_in(
    breaker: Breaker, clock: StillClock
) -> None:
    breaker.failed()
    breaker.failed()
    clock.at += 60
    breaker.enter()

    breaker.abandoned()

    breaker.enter()
