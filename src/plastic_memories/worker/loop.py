"""The loop of a worker: do what is due, put memories in order, wait for more."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from secrets import token_hex

from plastic_memories.errors import Unavailable
from plastic_memories.hub.formation.job_runner import Work
from plastic_memories.hub.memories.consolidate import Consolidate

logger = logging.getLogger(__name__)
# Looks for jobs between two looks for sessions that fell silent.
_LOOKS = 5


@dataclass(frozen=True, slots=True)
class Worker:
    work: Work
    consolidate: Consolidate
    poll_s: float = 1.0
    # Beside a server in one process, what the worker takes is missing there: it steps back.
    rest: float = 0.0
    name: str = field(default_factory=lambda: f"worker-{token_hex(8)}")

    async def forever(self) -> None:
        """Work until it is cancelled; what fails is tried again later."""
        while True:
            try:
                # What fell silent need not be found to the second.
                await self.work.jobs.wake_quiet()
                await self._until_quiet_again()
                await self.consolidate.step(self.rest)
            except Unavailable as error:
                logger.warning("worker", extra={"fields": {"err": error.message}})
                await self.work.bell.wait(self.poll_s)
            except Exception:  # one bad round must not be the last
                logger.exception("worker")
                await self.work.bell.wait(self.poll_s)

    async def _until_quiet_again(self) -> None:
        for _ in range(_LOOKS):
            await self.work.all_due(self.name, self.rest)
            await self.work.bell.wait(self.poll_s)

    async def once(self) -> int:
        """Do everything that is due; return how many jobs that was."""
        await self.work.jobs.wake_quiet()
        done = await self.work.all_due(self.name)
        await self.consolidate.whole_round()
        return done
