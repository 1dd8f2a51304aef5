"""Periodic upkeep: expire memories, prune and index messages, flush recall counts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from plastic_memories.errors import Unavailable
from plastic_memories.hub.formation.job_runner import JobRunner
from plastic_memories.hub.formation.jobs import open_job
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.expiry import EXPIRY_BATCH
from plastic_memories.model.job import Job, TaskType, Trigger
from plastic_memories.ports.storage import Stores
from plastic_memories.runtime.recall_counts import RecallCountBuffer

logger = logging.getLogger(__name__)
_DAY_S = 86_400.0
_PRUNE_BATCH = 500
_ERASING_TASKS = frozenset({TaskType.SCRUB, TaskType.ERASE_USER, TaskType.FORGET})
_INDEX_BATCH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    message_days: float | None = 90
    messages_per_persona: int | None = None
    audit_days: float | None = 365


@dataclass(frozen=True, slots=True)
class UpkeepLoop:
    storage: AuditedStorage
    recall_counts: RecallCountBuffer
    retention: Retention
    work: JobRunner
    queue_forgets: Callable[[], Awaitable[int]]  # jobs for requests that are to be made final
    interval_s: float = 15.0

    async def run_forever(self) -> None:
        """Run rounds in a loop; a failed round is logged and retried at the next interval."""
        while True:
            try:
                await self.run_once()
            except Unavailable as error:
                logger.warning("upkeep", extra={"fields": {"err": error.message}})
            except Exception:  # one failed round must not end the loop
                logger.exception("upkeep")
            await asyncio.sleep(self.interval_s)

    async def run_once(self) -> dict[str, int]:
        """Run one round; return how many rows each step handled."""
        now = self.storage.clock.now()
        return {
            "touched": await self.recall_counts.flush(self.storage.backend),
            "expired": await self._expire(now),
            "pruned": await self._prune(now),
            "forgotten": await self.queue_forgets(),
            "scrubbed": await self._scrub(now),
            "indexed": await self._index_older(),
        }

    async def _index_older(self) -> int:
        """Index messages that an older version stored; what is interrupted goes on later."""
        total = 0
        if not await self.storage.read(lambda stores: stores.messages.count_unindexed()):
            return total
        while done := await self.storage.write(
            lambda stores: stores.messages.index_older(_INDEX_BATCH)
        ):
            total += done
        return total

    async def _expire(self, now: float) -> int:
        total = 0
        while due := await self.storage.read(
            lambda stores: stores.upkeep.expired_memories(now, EXPIRY_BATCH)
        ):
            await self.storage.write(lambda stores: None)  # every write ends expired memories
            total += len(due)
        return total

    async def _scrub(self, now: float) -> int:
        """Run the jobs that erase if formation is off: then no worker runs them."""
        if self.work.jobs.options.enabled:
            return 0
        due = await self.storage.read(lambda stores: stores.jobs.due(now, _PRUNE_BATCH))
        waiting = [job for job in due if job.task_type in _ERASING_TASKS]
        for job in waiting:
            await self.work.run_or_await(job, self.interval_s)
        return len(waiting)

    async def _archive(self, before_ts: float) -> None:
        """Digest and archive conversations before their messages are pruned."""
        now = self.storage.clock.now()
        max_messages = self.retention.messages_per_persona

        def work(stores: Stores) -> list[Job]:
            options = self.work.jobs.options
            return [
                open_job(stores, session, Trigger.IDLE, now, options)
                for session in stores.formation.unarchived_sessions(
                    before_ts, max_messages, _PRUNE_BATCH
                )
            ]

        if not await self.storage.read(
            lambda stores: stores.formation.unarchived_sessions(before_ts, max_messages, 1)
        ):
            return
        for job in await self.storage.write(work):
            await self.work.run_with_followups(job, self.interval_s)

    async def _prune(self, now: float) -> int:
        keep = self.retention
        before = now - keep.message_days * _DAY_S if keep.message_days is not None else 0.0
        await self._archive(before)
        total = 0
        while True:
            pruned = await self.storage.write(
                lambda stores: stores.upkeep.prune_messages(
                    before, keep.messages_per_persona, _PRUNE_BATCH
                )
            )
            total += pruned
            if pruned < _PRUNE_BATCH:
                break
        if total:
            await self.storage.backend.scrub()
        if keep.audit_days is not None:
            oldest = now - keep.audit_days * _DAY_S
            await self.storage.write(lambda stores: stores.upkeep.prune_audit(oldest))
            await self.storage.write(lambda stores: stores.jobs.prune(oldest))
        return total
