"""Vectors for the few entries an owner has just written, made when the owner searches."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field, replace

from plastic_memories.errors import PlasticMemoriesError
from plastic_memories.hub.vectors.backfill import VectorBackfill
from plastic_memories.model.entry import EntryKind, PendingEmbedding, partitions_for
from plastic_memories.model.owner import Owner
from plastic_memories.runtime.model_thread import ModelThread
from plastic_memories.runtime.write_burst import WriteBurstThrottle

logger = logging.getLogger(__name__)
# More than this takes too long to wait for: the backfill embeds it.
_MAX_ENTRIES = 20
_MAX_CHARS = 4000
_MAX_WAIT_S = 0.1
_MODEL_TIMEOUT_S = 5.0


@dataclass(slots=True)
class RecentEntries:
    """Embeds an owner's newest entries ahead of the backfill, which stands back during writes."""

    backfill: VectorBackfill  # with a thread of its own
    _tasks: dict[Owner, asyncio.Task[None]] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # the model takes one at a time

    @classmethod
    def ahead_of(cls, backfill: VectorBackfill) -> RecentEntries:
        """Return this for the same model; what one of both rejects, the other skips too."""
        own = replace(
            backfill,
            model_thread=ModelThread("embed-recent"),
            patience_s=_MODEL_TIMEOUT_S,
            # A reader waits: it does not stand back.
            write_throttle=WriteBurstThrottle(),
        )
        return cls(own)

    async def embed(self, owner: Owner, deadline_s: float) -> None:
        """Wait until the owner's few pending entries have vectors, but not beyond the deadline.

        Readers of the same owner share the work. It continues if they stop waiting.
        """
        task = self._tasks.get(owner)
        if task is None:
            task = asyncio.create_task(self._embed_pending(owner), name="embed-recent")
            self._tasks[owner] = task
            task.add_done_callback(lambda _: self._tasks.pop(owner, None))
        await asyncio.wait((task,), timeout=min(deadline_s, _MAX_WAIT_S))

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.backfill.model_thread.close()

    async def _embed_pending(self, owner: Owner) -> None:
        try:
            async with self._lock:
                rows = await self._read_pending(owner)
                if rows:
                    await self.backfill.embed_entries(rows)
        except PlasticMemoriesError as error:
            # The backfill embeds them later, and reports what is wrong with the model.
            logger.debug("vectors.recent", extra={"fields": {"err": error.message}})

    async def _read_pending(self, owner: Owner) -> list[PendingEmbedding]:
        """Return the owner's entries without a vector; nothing if many entries wait."""
        missing = await self.backfill.storage.read(
            lambda stores: [
                row
                for kind in EntryKind
                for row in stores.vectors.list_missing(0, _MAX_ENTRIES + 1, kind)
            ]
        )
        own = [row for row in missing if row.partition in partitions_for(owner)]
        is_short = sum(len(row.text) for row in own) <= _MAX_CHARS
        return own if is_short and len(missing) <= _MAX_ENTRIES else []
