"""Embedding backfill: entries without a vector, and a cursor over all entries."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.model.entry import Partition


@dataclass(frozen=True, slots=True)
class PendingEmbedding:
    """An entry without a vector, and the text to embed."""

    partition: Partition
    memory_id: int
    text: str
    terms: bytes  # terms at read time: if they changed since, the vector is not stored


@dataclass(frozen=True, slots=True)
class EntryCursor:
    """A position in the order of all entries; the default is before the first."""

    tenant_id: str = ""
    user_id: str = ""
    partition_id: str = ""
    memory_id: int = 0
