"""Keeps what ranking reads of every active memory and every message."""

from __future__ import annotations

from typing import Protocol

from plastic_memories.model.entry import Partition, PartitionChanges
from plastic_memories.model.owner import Owner


class EntryStore(Protocol):
    """One transaction's view of the entries of a partition.

    Entries follow their memories: `MemoryStore` adds, changes and removes them in its own
    transactions. The promises below are executable: `plastic_memories.testing.StorageContract`.
    """

    def changes_since(self, partition: Partition, known: int = 0) -> PartitionChanges:
        """Return what changed after revision `known`; with 0, everything."""
        ...


class TalkEntryStore(Protocol):
    """One transaction's view of the entries of a persona's messages.

    Entries follow their messages: `MessageStore` adds, changes and removes them in its own
    transactions. Messages of the system and of tools have none, nor have hidden ones.
    """

    def changes_since(self, owner: Owner, known: int = 0) -> PartitionChanges:
        """Return what changed after revision `known`; with 0, everything."""
        ...

    def count_changes(self, owner: Owner, known: int, limit: int) -> int:
        """Return how many entries changed after revision `known`; stop counting at `limit`."""
        ...
