"""A model that fails is left alone, and tried again by one caller at a time."""

from __future__ import annotations

import pytest

from harness import StillClock
from plastic_memories.adapters.llm.breaker import CircuitBreaker
from plastic_memories.errors import Unavailable


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
def breaker(clock: StillClock) -> CircuitBreaker:
    return CircuitBreaker(clock, max_failures=2, cooldown_s=60)


def test_a_success_forgets_the_failures_before_it(breaker: CircuitBreaker) -> None:
    breaker.record_failure()
    breaker.record_success()
    breaker.record_failure()

    breaker.acquire()


def test_it_says_how_long_it_rests(breaker: CircuitBreaker, clock: StillClock) -> None:
    breaker.record_failure()
    breaker.record_failure()
    clock.at += 20

    with pytest.raises(Unavailable) as caught:
        breaker.acquire()

    assert caught.value.detail == {"retry_after_s": 40}


def test_after_the_rest_one_caller_probes_and_others_wait(
    breaker: CircuitBreaker, clock: StillClock
) -> None:
    breaker.record_failure()
    breaker.record_failure()
    clock.at += 60
    breaker.acquire()

    with pytest.raises(Unavailable):
        breaker.acquire()

    breaker.record_success()
    breaker.acquire()
    breaker.acquire()


def test_a_probe_that_was_abandoned_lets_the_next_one_in(
    breaker: CircuitBreaker, clock: StillClock
) -> None:
    breaker.record_failure()
    breaker.record_failure()
    clock.at += 60
    breaker.acquire()

    breaker.release_probe()

    breaker.acquire()
