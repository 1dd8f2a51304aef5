"""Work in the background stands back while others write, and not for ever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from plastic_memories.runtime.write_burst import WriteBurstThrottle


@dataclass
class Time:
    """A clock that only sleeping and `pass_by` move; writes begin and end meanwhile."""

    now: float = 1000.0
    slept: float = 0.0
    due: list[tuple[float, Callable[[], None]]] = field(default_factory=list)
    lull: WriteBurstThrottle = field(init=False)

    def __post_init__(self) -> None:
        self.lull = WriteBurstThrottle(clock=lambda: self.now, sleep=self.sleep)

    def sleep(self, seconds: float) -> None:
        self.slept += seconds
        self.pass_by(seconds)

    def pass_by(self, seconds: float) -> None:
        end = self.now + seconds
        while self.due and self.due[0][0] <= end:
            self.now, happens = self.due.pop(0)
            happens()
        self.now = end

    def writes(self, number: int, *, each: float = 0.05, pause: float = 0.05) -> None:
        """Let so many writes follow each other from now on."""
        at = self.now
        for _ in range(number):
            self.due.append((at, self.lull.__enter__))
            self.due.append((at + each, self.lull.__exit__))
            at += each + pause


def test_without_writes_nobody_waits() -> None:
    time = Time()

    time.lull.wait()

    assert time.slept == 0


@pytest.mark.parametrize("passed", [0.01, 0.06])
def test_one_write_alone_delays_nothing(passed: float) -> None:
    time = Time()
    time.writes(1)
    time.pass_by(passed)

    time.lull.wait()

    assert time.slept == 0


@pytest.mark.parametrize(("number", "each"), [(10, 0.05), (2, 1.0)])
def test_a_burst_is_waited_out(number: int, each: float) -> None:
    time = Time()
    time.writes(number, each=each)
    time.pass_by(each + 0.06)

    time.lull.wait()

    assert time.due == []
    assert 0.5 < time.slept < 1.5


def test_writes_side_by_side_are_a_burst() -> None:
    time = Time()
    with time.lull, time.lull:
        time.lull.wait()

    assert time.slept > 0


def test_a_write_that_fails_is_over_too() -> None:
    time = Time()
    for _ in range(2):
        with pytest.raises(RuntimeError), time.lull:
            raise RuntimeError("the disk is full")

    time.lull.wait()

    assert 0 < time.slept < 0.5


def test_writes_that_never_end_are_not_waited_for() -> None:
    time = Time()
    time.writes(6000)
    time.pass_by(0.2)
    started = time.now

    while time.now < started + 500:
        time.lull.wait()
        time.pass_by(0.1)

    assert time.slept < 60


def test_after_much_work_the_next_burst_is_waited_out_again() -> None:
    time = Time()
    time.writes(100)
    time.pass_by(0.2)
    time.lull.wait()
    time.pass_by(60.0)
    slept = time.slept

    time.writes(10)
    time.pass_by(0.2)
    time.lull.wait()

    assert time.slept > slept + 0.5
