"""Queue of messages for the hub: in order, in the background, kept while it is unreachable."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .hub_link import HubProblem
from .identity import Identity

logger = logging.getLogger("astrbot")
_ROOM = 500
_LONGEST_WAIT_S = 60.0
_LAST_CALL_S = 1.0


@dataclass(frozen=True)
class Parcel:
    """Messages of one turn; sent twice, they are stored once."""

    who: Identity
    messages: Sequence[Mapping[str, Any]]
    delivered: Callable[[Sequence[int]], None] = lambda _: None


class Outbox:
    def __init__(
        self,
        append: Callable[[Identity, Sequence[Mapping[str, Any]]], Awaitable[Sequence[int]]],
        first_wait_s: float = 1.0,
    ) -> None:
        self._append = append
        self._first_wait_s = first_wait_s
        self._waiting: deque[Parcel] = deque()
        self._task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, parcel: Parcel) -> None:
        """Queue a parcel without waiting; when the queue is full, drop the oldest."""
        if len(self._waiting) >= _ROOM:
            self._waiting.popleft()
            logger.warning("[plastic_memories] 待发送的消息太多，丢弃最早的 / dropped the oldest")
        self._waiting.append(parcel)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._deliver())

    async def drained(self, patience_s: float | None = None) -> None:
        """Wait until everything is delivered, or the time is over."""
        if self._task is not None:
            await asyncio.wait([self._task], timeout=patience_s)

    async def close(self) -> None:
        await self.drained(_LAST_CALL_S)
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _deliver(self) -> None:
        wait_s = self._first_wait_s
        while self._waiting:
            parcel = self._waiting[0]
            try:
                ids = await self._append(parcel.who, parcel.messages)
            except HubProblem as problem:
                logger.warning(
                    "[plastic_memories] 未能记录 / not kept yet user=%s: %s (%s)",
                    parcel.who.user_id,
                    problem,
                    problem.code,
                )
                if problem.is_passing:
                    await asyncio.sleep(wait_s)
                    wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
                    continue
            else:
                parcel.delivered(ids)
                wait_s = self._first_wait_s
            # It may have been dropped from a full queue while it was being sent.
            if self._waiting and self._waiting[0] is parcel:
                self._waiting.popleft()
