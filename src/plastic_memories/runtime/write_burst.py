"""Where work in the background waits for a burst of writes to pass."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf

# Writes that follow each other within this time are a burst; one alone delays nobody.
_APART_S = 0.15
# What may be waited at a time, and what share of the time that is worked earns it again.
_MOST_S = 2.0
_EARNED = 0.1


@dataclass(slots=True)
class Lull:
    """Tells a thread that keeps a core busy when to stand back; `with lull:` is around a write.

    Beside a model that works, a burst of writes takes half as long again: there is one lock for
    Python, and often no third core. Writes that never end are not waited for.
    """

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _under_way: int = 0
    _ended: float = -inf
    _is_burst: bool = False
    _resumed: float = -inf
    _credit_s: float = _MOST_S

    def __enter__(self) -> None:
        self._is_burst = self._under_way > 0 or self.clock() - self._ended <= _APART_S
        self._under_way += 1

    def __exit__(self, *_: object) -> None:
        self._under_way -= 1
        self._ended = self.clock()

    def wait(self) -> None:
        """Return when nobody writes, or when enough was waited; called between pieces of work."""
        worked_s = self.clock() - self._resumed
        self._credit_s = min(_MOST_S, self._credit_s + worked_s * _EARNED)
        while (left_s := min(self._left_s(), self._credit_s)) > 0:
            self._credit_s -= left_s
            self.sleep(left_s)
        self._resumed = self.clock()

    def _left_s(self) -> float:
        if not self._is_burst:
            return 0.0
        return _APART_S if self._under_way else self._ended + _APART_S - self.clock()
