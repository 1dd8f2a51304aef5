"""Rate limits: requests per API key, wrong keys per address."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from plastic_memories.errors import TooManyRequests

_MAX_KEYS = 10_000


@dataclass(slots=True)
class RateLimit:
    """A token bucket for each key: it holds `burst` requests and refills over the period."""

    burst: int
    period_s: float
    message: str = "Too many requests with this key."
    _buckets: dict[str, tuple[float, float]] = field(default_factory=dict)

    def take_request(self, key: str) -> None:
        """Take one request from the bucket; raise `TooManyRequests` with the seconds to wait."""
        now = time.monotonic()
        left, since = self._buckets.get(key, (float(self.burst), now))
        left = min(self.burst, left + (now - since) * self.burst / self.period_s)
        if left < 1:
            wait = math.ceil((1 - left) * self.period_s / self.burst)
            raise TooManyRequests(self.message, {"seconds": wait})
        if len(self._buckets) >= _MAX_KEYS:
            self._buckets.clear()
        self._buckets[key] = (left - 1, now)
