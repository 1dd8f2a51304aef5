"""Leaves a model alone that does not answer."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.errors import Unavailable
from plastic_memories.ports.clock import Clock

FAILURES = 5
REST_S = 60.0


@dataclass(slots=True)
class Breaker:
    """Opens after so many failures in a row; after a rest one probe decides.

    While it is open nothing is asked at all: a model that is down costs no time-out for each job.
    """

    clock: Clock
    failures: int = FAILURES
    rest_s: float = REST_S
    _failed: int = 0
    _closed_from: float = 0.0
    _probing: bool = False

    def enter(self) -> None:
        """Ask for leave; raise `Unavailable` while the model is to be left alone."""
        now = self.clock.now()
        if now < self._closed_from:
            wait = self._closed_from - now
            raise Unavailable("The model is left alone for a while.", {"retry_after_s": wait})
        if self._failed >= self.failures:
            if self._probing:
                raise Unavailable("The model is being tried again.", {"retry_after_s": 1.0})
            self._probing = True

    def succeeded(self) -> None:
        self._failed, self._probing = 0, False

    def failed(self) -> None:
        self._failed += 1
        self._probing = False
        if self._failed >= self.failures:
            self.rest(self.rest_s)

    def abandoned(self) -> None:
        """End a question that says nothing about the model's health."""
        self._probing = False

    def rest(self, seconds: float) -> None:
        """Stay away for so long, because the model asked for it or failed."""
        self._closed_from = max(self._closed_from, self.clock.now() + seconds)
