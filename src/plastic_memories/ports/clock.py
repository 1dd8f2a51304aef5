"""Port of the clock: epoch seconds in UTC."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """Return the current time in epoch seconds."""
        ...
