"""Leaves a model alone that does not answer."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.errors import Unavailable
from plastic_memories.ports.clock import Clock

MAX_FAILURES = 5
COOLDOWN_S = 60.0


@dataclass(slots=True)
class CircuitBreaker:
    """Opens after so many failures in a row; after a rest one probe decides.

    While it is open nothing is asked at all: a model that is down costs no time-out for each job.
    """

    clock: Clock
    max_failures: int = MAX_FAILURES
    cooldown_s: float = COOLDOWN_S
    _failure_count: int = 0
    _open_until: float = 0.0
    _probing: bool = False

    def acquire(self) -> None:
        """Ask for leave; raise `Unavailable` while the model is to be left alone."""
        now = self.clock.now()
        if now < self._open_until:
            wait = self._open_until - now
            raise Unavailable("The model is left alone for a while.", {"retry_after_s": wait})
        if self._failure_count >= self.max_failures:
            if self._probing:
                raise Unavailable("The model is being tried again.", {"retry_after_s": 1.0})
            self._probing = True

    def record_success(self) -> None:
        self._failure_count, self._probing = 0, False

    def record_failure(self) -> None:
        self._failure_count += 1
        self._probing = False
        if self._failure_count >= self.max_failures:
            self.open_for(self.cooldown_s)

    def release_probe(self) -> None:
        """End a question that says nothing about the model's health."""
        self._probing = False

    def open_for(self, seconds: float) -> None:
        """Stay away for so long, because the model asked for it or failed."""
        self._open_until = max(self._open_until, self.clock.now() + seconds)
