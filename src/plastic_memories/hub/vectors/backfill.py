"""Gives entries their vectors: reads ahead and stores behind while the model works."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from plastic_memories.errors import InvalidInput, PlasticMemoriesError, Unavailable
from plastic_memories.hub.vectors.embedder_probe import check_shape, probe_embedder
from plastic_memories.language.text.passages import split_passages
from plastic_memories.model.entry import PendingEmbedding
from plastic_memories.ports.embedder import Embedder, Vectors
from plastic_memories.ports.meter import Meter
from plastic_memories.ports.storage import StorageBackend
from plastic_memories.rules.ranking.vector_codec import pack_vectors, usable_rows
from plastic_memories.runtime.model_thread import ModelThread
from plastic_memories.runtime.write_burst import WriteBurstThrottle

logger = logging.getLogger(__name__)
READ_BATCH = 256
# Texts that a model is given in one call.
MODEL_BATCH = 32
_MODEL_TIMEOUT_S = 120.0
PackedVectors = list[tuple[PendingEmbedding, bytes]]


@dataclass(slots=True)
class VectorBackfill:
    """Fills in what is missing, for one embedder whose model the storage knows under a name."""

    storage: StorageBackend
    meter: Meter
    embedder: Embedder
    model: str
    backend: str
    model_thread: ModelThread
    patience_s: float = _MODEL_TIMEOUT_S
    batch: int = READ_BATCH
    write_throttle: WriteBurstThrottle = field(default_factory=WriteBurstThrottle)
    # What the model will not take. Not tried again before the next start.
    skipped_ids: set[int] = field(default_factory=set)

    async def fill_missing(self) -> int:
        """Go through everything that has no vector, once; return how many got one."""
        stored = 0
        reading = asyncio.create_task(self._read_batch(0))
        storing: asyncio.Task[int] | None = None
        try:
            while rows := await reading:
                reading = asyncio.create_task(self._read_batch(rows[-1].memory_id))
                made = await self._make_vectors(rows)
                stored += await storing if storing else 0
                storing = asyncio.create_task(self._store_batch(made))
            stored += await storing if storing else 0
            return stored
        finally:
            # What was embedded is stored even if this round was called off.
            left = [task for task in (reading, storing) if task is not None]
            await asyncio.gather(*left, return_exceptions=True)

    async def probe(self) -> None:
        """Embed something harmless; raise `Unavailable` if that fails."""
        # It was tried with more before it was taken on; this is asked again and again.
        await self.model_thread.run(lambda: probe_embedder(self.embedder, (".",)), self.patience_s)

    async def _read_batch(self, after_id: int) -> list[PendingEmbedding]:
        return await self.storage.read(
            lambda stores: stores.vectors.list_missing(after_id, self.batch)
        )

    async def _store_batch(self, made: PackedVectors) -> int:
        if not made:
            return 0
        return await self.storage.write(lambda stores: stores.vectors.put(self.model, made))

    async def _make_vectors(self, rows: Sequence[PendingEmbedding]) -> PackedVectors:
        """Return the vectors of these rows; what has none is set aside."""
        wanted = [row for row in rows if row.memory_id not in self.skipped_ids]
        if not wanted:
            return []
        started = time.perf_counter()
        try:
            found = await self._embed_rows(wanted)
        except PlasticMemoriesError:
            self._count(wanted, "failed")
            raise
        self._count(wanted, "ok", time.perf_counter() - started)
        missing = {row.memory_id for row, vector in found if vector is None}
        if missing:
            await self._skip_rows(missing)
        return [(row, vector) for row, vector in found if vector is not None]

    async def _embed_rows(
        self, rows: Sequence[PendingEmbedding]
    ) -> list[tuple[PendingEmbedding, bytes | None]]:
        """Embed together; if one of them is refused, find out which."""
        try:
            vectors = await self._run_model([row.text for row in rows])
        except InvalidInput:
            if len(rows) == 1:
                return [(rows[0], None)]
            half = len(rows) // 2
            return [*await self._embed_rows(rows[:half]), *await self._embed_rows(rows[half:])]
        return list(zip(rows, vectors, strict=True))

    async def _skip_rows(self, memory_ids: set[int]) -> None:
        # If the model takes nothing at all, it is the model that is broken, not the texts.
        await self.probe()
        self.skipped_ids |= memory_ids
        fields = {"memory_ids": sorted(memory_ids)[:20], "number": len(memory_ids)}
        logger.warning("vectors.set_aside", extra={"fields": fields})

    async def _run_model(self, texts: Sequence[str]) -> list[bytes | None]:
        try:
            return await self.model_thread.run(lambda: self._packed_vectors(texts), self.patience_s)
        except PlasticMemoriesError:
            raise
        # A plug-in's model may raise anything; the texts wait until it works again.
        except Exception as error:
            raise Unavailable(f"The embedder raised {type(error).__name__}.") from error

    def _packed_vectors(self, texts: Sequence[str]) -> list[bytes | None]:
        pieces = [split_passages(text) for text in texts]
        rows = self._embed_texts([piece for some in pieces for piece in some])
        ends = list(accumulate(len(some) for some in pieces))
        found = [rows[end - len(some) : end] for some, end in zip(pieces, ends, strict=True)]
        # The first is the whole text: without it, the others say too little.
        usable = [(some, usable_rows(some)) for some in found]
        return [pack_vectors(some[good]) if good[0] else None for some, good in usable]

    def _embed_texts(self, texts: Sequence[str]) -> Vectors:
        # Texts of one length together: less padding, where a model pads.
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        rows = np.empty((len(texts), self.embedder.dimension), np.float32)
        for start in range(0, len(order), MODEL_BATCH):
            some = order[start : start + MODEL_BATCH]
            self.write_throttle.wait()
            made = self.embedder.embed([texts[number] for number in some], purpose="passage")
            check_shape(made, (len(some), self.embedder.dimension))
            rows[some] = made
        return rows

    def _count(
        self, rows: Sequence[PendingEmbedding], status: str, seconds: float | None = None
    ) -> None:
        labels = {"backend": self.backend, "operation": "embed"}
        for tenant in {row.partition.user.tenant_id for row in rows}:
            self.meter.count(tenant, "vector_operations", **labels, status=status)
            if seconds is not None:
                self.meter.observe(tenant, "vector_latency_seconds", seconds, **labels)
