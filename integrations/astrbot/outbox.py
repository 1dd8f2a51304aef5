"""Queue of messages for the hub: in order, in the background, kept while it is unreachable."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .hub_problem import HubProblem
from .identity import Identity
from .outbox_file import OutboxFile
from .parcel import Parcel

logger = logging.getLogger("astrbot")
_ROOM = 500
_LONGEST_WAIT_S = 60.0
_LAST_CALL_S = 1.0


class Outbox:
    def __init__(
        self,
        append: Callable[[Identity, Sequence[Mapping[str, Any]]], Awaitable[Sequence[int]]],
        first_wait_s: float = 1.0,
        path: Path | None = None,
    ) -> None:
        self._append = append
        self._first_wait_s = first_wait_s
        self._file = OutboxFile(path)
        self._waiting: deque[Parcel] = deque(self._file.load()[-_ROOM:])
        self._task: asyncio.Task[None] | None = None
        self.on_delivered: Callable[[str, Sequence[int]], None] = lambda _conversation, _ids: None

    def __len__(self) -> int:
        return len(self._waiting)

    def start(self) -> None:
        """Deliver what waits, if it is not being delivered already."""
        if self._waiting and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._deliver())

    def put(self, parcel: Parcel) -> None:
        """Queue a parcel without waiting; when the queue is full, drop the oldest."""
        if len(self._waiting) >= _ROOM:
            self._file.remove(self._waiting.popleft(), self._waiting)
            logger.warning("[plastic_memories] 待发送的消息太多，丢弃最早的 / dropped the oldest")
        self._waiting.append(parcel)
        self._file.add(parcel)
        self.start()

    async def drained(self, patience_s: float | None = None) -> None:
        """Wait until everything is delivered, or the time is over."""
        if self._task is not None:
            await asyncio.wait([self._task], timeout=patience_s)

    async def close(self) -> None:
        """Deliver what can be delivered at once; the rest waits in the file."""
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
                self.on_delivered(parcel.conversation, ids)
                wait_s = self._first_wait_s
            # It may have been dropped from a full queue while it was being sent.
            if self._waiting and self._waiting[0] is parcel:
                self._waiting.popleft()
                self._file.remove(parcel, self._waiting)
