"""The loop of a worker: do what is due, put memories in order, wait for more."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from secrets import token_hex

from plastic_memories.errors import Unavailable
from plastic_memories.hub.formation.job_runner import JobRunner
from plastic_memories.hub.memories.consolidate import Consolidate

logger = logging.getLogger(__name__)
# Looks for jobs between two looks for sessions that fell silent.
_IDLE_CHECKS = 5


@dataclass(frozen=True, slots=True)
class Worker:
    job_runner: JobRunner
    consolidate: Consolidate
    poll_s: float = 1.0
    # Beside a server in one process, what the worker takes is missing there: it steps back.
    sleep_factor: float = 0.0
    name: str = field(default_factory=lambda: f"worker-{token_hex(8)}")

    async def run_forever(self) -> None:
        """Work until it is cancelled; what fails is tried again later."""
        while True:
            try:
                # What fell silent need not be found to the second.
                await self.job_runner.jobs.queue_idle_sessions()
                await self._run_until_idle()
                await self.consolidate.run_step(self.sleep_factor)
            except Unavailable as error:
                logger.warning("worker", extra={"fields": {"err": error.message}})
                await self.job_runner.wakeup.wait(self.poll_s)
            except Exception:  # one bad round must not be the last
                logger.exception("worker")
                await self.job_runner.wakeup.wait(self.poll_s)

    async def _run_until_idle(self) -> None:
        for _ in range(_IDLE_CHECKS):
            await self.job_runner.run_all_due(self.name, self.sleep_factor)
            await self.job_runner.wakeup.wait(self.poll_s)

    async def run_once(self) -> int:
        """Do everything that is due; return how many jobs that was."""
        await self.job_runner.jobs.queue_idle_sessions()
        done = await self.job_runner.run_all_due(self.name)
        await self.consolidate.run_full_round()
        return done
