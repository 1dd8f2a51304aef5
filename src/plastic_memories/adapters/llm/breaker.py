"""Circuit breaker for a model that does not answer."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.errors import Unavailable
from plastic_memories.ports.clock import Clock

MAX_FAILURES = 5
COOLDOWN_S = 60.0


@dataclass(slots=True)
class CircuitBreaker:
    """Opens after several failures in a row; after a cooldown one probe decides.

    While it is open no request is sent: a model that is down does not cost every job a timeout.
    """

    clock: Clock
    max_failures: int = MAX_FAILURES
    cooldown_s: float = COOLDOWN_S
    _failure_count: int = 0
    _open_until: float = 0.0
    _probing: bool = False

    def acquire(self) -> None:
        """Allow one request; raise `Unavailable` while the breaker is open or a probe runs."""
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
        """End a request that says nothing about the model's health."""
        self._probing = False

    def open_for(self, seconds: float) -> None:
        """Stay open for this long, because the model asked for it or failed."""
        self._open_until = max(self._open_until, self.clock.now() + seconds)
