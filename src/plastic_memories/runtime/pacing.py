"""Lets background work leave time to others."""

from __future__ import annotations

import asyncio
import time

_MAX_SLEEP_S = 1.0


async def sleep_proportionally(started: float, factor: float) -> None:
    """Sleep `factor` times as long as the work since `started` took, at most a second.

    `started` is a reading of `time.monotonic`.
    """
    await asyncio.sleep(min(factor * (time.monotonic() - started), _MAX_SLEEP_S))
