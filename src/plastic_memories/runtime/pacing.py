"""How work in the background leaves time to others."""

from __future__ import annotations

import asyncio
import time

_MAX_SLEEP_S = 1.0


async def sleep_proportionally(started: float, times: float) -> None:
    """Rest so many times as long as was worked since then (`time.monotonic`), and never long."""
    await asyncio.sleep(min(times * (time.monotonic() - started), _MAX_SLEEP_S))
