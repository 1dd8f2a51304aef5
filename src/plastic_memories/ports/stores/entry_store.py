"""Keeps what ranking reads of every active memory."""

from __future__ import annotations

from typing import Protocol

from plastic_memories.model.entry import Partition, PartitionChanges


class EntryStore(Protocol):
    """One transaction's view of the entries of a partition.

    Entries follow their memories: `MemoryStore` adds, changes and removes them in its own
    transactions. The promises below are executable: `plastic_memories.testing.StorageContract`.
    """

    def changes_since(self, partition: Partition, known: int = 0) -> PartitionChanges:
        """Return what changed after revision `known`; with 0, everything."""
        ...
