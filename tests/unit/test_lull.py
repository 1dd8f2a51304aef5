"""Work in the background stands back while others write, and not for ever."""

from __future__ import annotations

from dataclasses import dataclass, field

from plastic_memories.hub.lull import Lull


@dataclass
class Time:
    """A clock that only sleeping and `pass_by` move; writes come while somebody sleeps."""

    now: float = 1000.0
    slept: float = 0.0
    writes_at: list[float] = field(default_factory=list)
    lull: Lull = field(init=False)

    def __post_init__(self) -> None:
        self.lull = Lull(clock=lambda: self.now, sleep=self.sleep)

    def sleep(self, seconds: float) -> None:
        self.slept += seconds
        self.pass_by(seconds)

    def pass_by(self, seconds: float) -> None:
        end = self.now + seconds
        while self.writes_at and self.writes_at[0] <= end:
            self.now = self.writes_at.pop(0)
            self.lull.noted()
        self.now = end


def burst(time: Time, seconds: float, every: float = 0.1) -> None:
    time.writes_at += [time.now + step * every for step in range(int(seconds / every))]


def test_without_writes_nobody_waits() -> None:
    time = Time()

    time.lull.wait()

    assert time.slept == 0


def test_one_write_alone_delays_nothing() -> None:
    time = Time()
    time.lull.noted()

    time.lull.wait()

    assert time.slept == 0


def test_a_burst_is_waited_out() -> None:
    time = Time()
    burst(time, 1.0)
    time.pass_by(0.2)

    time.lull.wait()

    assert time.writes_at == []
    assert 0.5 < time.slept < 1.5


def test_writes_that_never_end_are_not_waited_for() -> None:
    time = Time()
    burst(time, 600.0)
    time.pass_by(0.2)
    started = time.now

    while time.now < started + 500:
        time.lull.wait()
        time.pass_by(0.1)

    assert time.slept < 60


def test_after_much_work_the_next_burst_is_waited_out_again() -> None:
    time = Time()
    burst(time, 10.0)
    time.pass_by(0.2)
    time.lull.wait()
    time.pass_by(60.0)
    slept = time.slept

    burst(time, 1.0)
    time.pass_by(0.2)
    time.lull.wait()

    assert time.slept > slept + 0.5
