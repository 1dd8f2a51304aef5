"""Where work in the background waits for a burst of writes to pass."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf

# Writes that follow each other within this time are a burst; one alone delays nobody.
_BURST_GAP_S = 0.15
# What may be waited at a time, and what share of the time that is worked earns it again.
_MAX_WAIT_S = 2.0
_CREDIT_RATE = 0.1


@dataclass(slots=True)
class WriteBurstThrottle:
    """Tells a thread that keeps a core busy when to stand back; `with lull:` is around a write.

    Beside a model that works, a burst of writes takes half as long again: there is one lock for
    Python, and often no third core. Writes that never end are not waited for.
    """

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _active_writes: int = 0
    _last_write_ended: float = -inf
    _is_burst: bool = False
    _resumed: float = -inf
    _credit_s: float = _MAX_WAIT_S

    def __enter__(self) -> None:
        self._is_burst = (
            self._active_writes > 0 or self.clock() - self._last_write_ended <= _BURST_GAP_S
        )
        self._active_writes += 1

    def __exit__(self, *_: object) -> None:
        self._active_writes -= 1
        self._last_write_ended = self.clock()

    def wait(self) -> None:
        """Return when nobody writes, or when enough was waited; called between pieces of work."""
        worked_s = self.clock() - self._resumed
        self._credit_s = min(_MAX_WAIT_S, self._credit_s + worked_s * _CREDIT_RATE)
        while (left_s := min(self._remaining_s(), self._credit_s)) > 0:
            self._credit_s -= left_s
            self.sleep(left_s)
        self._resumed = self.clock()

    def _remaining_s(self) -> float:
        if not self._is_burst:
            return 0.0
        return (
            _BURST_GAP_S
            if self._active_writes
            else self._last_write_ended + _BURST_GAP_S - self.clock()
        )
