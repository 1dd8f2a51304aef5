"""Where work in the background waits for a burst of writes to pass."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf

# Writes that follow each other within this time are a burst; one alone delays nobody.
_APART_S = 0.25
# What may be waited at a time, and what share of the time that is worked earns it again.
_MOST_S = 2.0
_EARNED = 0.1


@dataclass(slots=True)
class Lull:
    """Tells a thread that keeps a core busy when to stand back.

    Beside a model that works, a write takes half as long again: there is one lock for Python and
    one cache for both. Writes that never end are not waited for.
    """

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _last: float = -inf
    _until: float = -inf
    _resumed: float = -inf
    _credit_s: float = _MOST_S

    def noted(self) -> None:
        """Say that something was written."""
        now = self.clock()
        if now - self._last <= _APART_S:
            self._until = now + _APART_S
        self._last = now

    def wait(self) -> None:
        """Return when nobody writes, or when enough was waited; called between pieces of work."""
        worked_s = self.clock() - self._resumed
        self._credit_s = min(_MOST_S, self._credit_s + worked_s * _EARNED)
        while (left_s := min(self._until - self.clock(), self._credit_s)) > 0:
            self._credit_s -= left_s
            self.sleep(left_s)
        self._resumed = self.clock()
