"""Backfill of missing vectors: prefetches the next batch while the model embeds this one."""

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
from plastic_memories.model.entry import EntryKind, PendingEmbedding
from plastic_memories.ports.embedder import Embedder, Vectors
from plastic_memories.ports.meter import Meter
from plastic_memories.ports.storage import StorageBackend
from plastic_memories.rules.ranking.vector_codec import pack_vectors, usable_rows
from plastic_memories.runtime.model_thread import ModelThread
from plastic_memories.runtime.write_burst import WriteBurstThrottle

logger = logging.getLogger(__name__)
READ_BATCH = 256
# Texts per model call.
MODEL_BATCH = 32
_MODEL_TIMEOUT_S = 120.0
PackedVectors = list[tuple[PendingEmbedding, bytes]]


@dataclass(slots=True)
class VectorBackfill:
    """Embeds entries without a vector, for one embedder; `model` is its name in the storage."""

    storage: StorageBackend
    meter: Meter
    embedder: Embedder
    model: str
    backend: str
    model_thread: ModelThread
    patience_s: float = _MODEL_TIMEOUT_S
    batch: int = READ_BATCH
    write_throttle: WriteBurstThrottle = field(default_factory=WriteBurstThrottle)
    # Entries the model rejects. They are not retried before the next start.
    skipped: set[tuple[EntryKind, int]] = field(default_factory=set)

    async def fill_missing(self) -> int:
        """Embed every entry without a vector, once; return how many vectors were stored."""
        return await self._fill(EntryKind.MEMORY) + await self._fill(EntryKind.MESSAGE)

    async def _fill(self, kind: EntryKind) -> int:
        stored = 0
        reading = asyncio.create_task(self._read_batch(0, kind))
        storing: asyncio.Task[int] | None = None
        try:
            while rows := await reading:
                reading = asyncio.create_task(self._read_batch(rows[-1].entry_id, kind))
                vectors = await self._make_vectors(rows)
                stored += await storing if storing else 0
                storing = asyncio.create_task(self._store_batch(vectors))
            stored += await storing if storing else 0
            return stored
        finally:
            # Vectors already made are stored even if this round was cancelled.
            unfinished = [task for task in (reading, storing) if task is not None]
            await asyncio.gather(*unfinished, return_exceptions=True)

    async def embed_entries(self, rows: Sequence[PendingEmbedding]) -> int:
        """Embed these entries now; return how many vectors were stored."""
        return await self._store_batch(await self._make_vectors(rows))

    async def probe(self) -> None:
        """Embed a harmless text; raise `Unavailable` if that fails."""
        # The full probe ran when the model was adopted; this one runs often, so it is short.
        await self.model_thread.run(lambda: probe_embedder(self.embedder, (".",)), self.patience_s)

    async def _read_batch(self, after_id: int, kind: EntryKind) -> list[PendingEmbedding]:
        return await self.storage.read(
            lambda stores: stores.vectors.list_missing(after_id, self.batch, kind)
        )

    async def _store_batch(self, vectors: PackedVectors) -> int:
        if not vectors:
            return 0
        return await self.storage.write(lambda stores: stores.vectors.put(self.model, vectors))

    async def _make_vectors(self, rows: Sequence[PendingEmbedding]) -> PackedVectors:
        """Return the vectors of these rows; rows without one are skipped from now on."""
        wanted = [row for row in rows if (row.kind, row.entry_id) not in self.skipped]
        if not wanted:
            return []
        started = time.perf_counter()
        try:
            embedded = await self._embed_rows(wanted)
        except PlasticMemoriesError:
            self._count(wanted, "failed")
            raise
        self._count(wanted, "ok", time.perf_counter() - started)
        missing = {(row.kind, row.entry_id) for row, vector in embedded if vector is None}
        if missing:
            await self._skip_rows(missing)
        return [(row, vector) for row, vector in embedded if vector is not None]

    async def _embed_rows(
        self, rows: Sequence[PendingEmbedding]
    ) -> list[tuple[PendingEmbedding, bytes | None]]:
        """Embed the rows in one batch; if one is rejected, bisect the batch to find it."""
        try:
            vectors = await self._run_model([row.text for row in rows])
        except InvalidInput:
            if len(rows) == 1:
                return [(rows[0], None)]
            half = len(rows) // 2
            return [*await self._embed_rows(rows[:half]), *await self._embed_rows(rows[half:])]
        return list(zip(rows, vectors, strict=True))

    async def _skip_rows(self, rows: set[tuple[EntryKind, int]]) -> None:
        # If the model rejects even a harmless text, the model is broken, not the texts.
        await self.probe()
        self.skipped |= rows
        memory_ids = sorted(entry_id for kind, entry_id in rows if kind is EntryKind.MEMORY)
        fields = {"memory_ids": memory_ids[:20], "number": len(rows)}
        logger.warning("vectors.set_aside", extra={"fields": fields})

    async def _run_model(self, texts: Sequence[str]) -> list[bytes | None]:
        try:
            return await self.model_thread.run(lambda: self._packed_vectors(texts), self.patience_s)
        except PlasticMemoriesError:
            raise
        # A plug-in's model may raise anything; the entries wait until it works again.
        except Exception as error:
            raise Unavailable(f"The embedder raised {type(error).__name__}.") from error

    def _packed_vectors(self, texts: Sequence[str]) -> list[bytes | None]:
        passages = [split_passages(text) for text in texts]
        rows = self._embed_texts([passage for group in passages for passage in group])
        ends = list(accumulate(len(group) for group in passages))
        vectors = [rows[end - len(group) : end] for group, end in zip(passages, ends, strict=True)]
        # The first row is the whole text: without it, the other passages say too little.
        usable = [(group, usable_rows(group)) for group in vectors]
        return [pack_vectors(group[good]) if good[0] else None for group, good in usable]

    def _embed_texts(self, texts: Sequence[str]) -> Vectors:
        # Texts of similar length share a batch: less padding, where a model pads.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        rows = np.empty((len(texts), self.embedder.dimension), np.float32)
        for start in range(0, len(order), MODEL_BATCH):
            batch = order[start : start + MODEL_BATCH]
            self.write_throttle.wait()
            vectors = self.embedder.embed([texts[index] for index in batch], purpose="passage")
            check_shape(vectors, (len(batch), self.embedder.dimension))
            rows[batch] = vectors
        return rows

    def _count(
        self, rows: Sequence[PendingEmbedding], status: str, seconds: float | None = None
    ) -> None:
        labels = {"backend": self.backend, "operation": "embed"}
        for tenant in {row.partition.user.tenant_id for row in rows}:
            self.meter.count(tenant, "vector_operations", **labels, status=status)
            if seconds is not None:
                self.meter.observe(tenant, "vector_latency_seconds", seconds, **labels)
