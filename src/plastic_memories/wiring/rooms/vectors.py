"""The vectors of memories, made by the chosen embedder."""

from __future__ import annotations

from plastic_memories.hub.vectors.backfill import MODEL_BATCH, READ_BATCH
from plastic_memories.hub.vectors.embedding import EmbeddingService, EmbeddingTimings
from plastic_memories.ports.embedder import EmbedderChoice
from plastic_memories.ports.meter import Meter
from plastic_memories.ports.storage import StorageBackend


def build_embedding(
    storage: StorageBackend, choice: EmbedderChoice, meter: Meter, *, brief: bool
) -> EmbeddingService:
    """Build the embedding service; a `brief` one starts at once, and clears nothing."""
    return EmbeddingService(
        storage,
        choice,
        meter,
        EmbeddingTimings(settle_s=0) if brief else EmbeddingTimings(),
        may_clear=not brief,
        batch=MODEL_BATCH if brief else READ_BATCH,
    )
