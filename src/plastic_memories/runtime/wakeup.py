"""Wakes the worker of the same process when something may be due."""

from __future__ import annotations

import asyncio
from contextlib import suppress


class WakeUp:
    """Never needed to be right: who is not woken looks by itself a little later."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def notify(self) -> None:
        self._rung.set()

    async def wait(self, timeout_s: float) -> None:
        """Return when it rings, or when the time is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._rung.wait()
        self._rung.clear()
