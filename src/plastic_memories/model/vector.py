"""What waits to be embedded."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.model.entry import Partition


@dataclass(frozen=True, slots=True)
class PendingEmbedding:
    """An entry without a vector, with the text to make one from."""

    partition: Partition
    memory_id: int
    text: str
    terms: bytes  # its words when it was read: a vector of other words is not stored


@dataclass(frozen=True, slots=True)
class EntryCursor:
    """A place in the order of all entries; the default stands before the first."""

    tenant_id: str = ""
    user_id: str = ""
    partition_id: str = ""
    memory_id: int = 0
