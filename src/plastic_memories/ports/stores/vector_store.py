"""Keeps the vectors of entries, all of one model. The server's own work, over all owners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from plastic_memories.model.entry import EntryCursor, EntryKind, PendingEmbedding


class VectorStore(Protocol):
    """One transaction's view of the vectors. They live and die with their entries.

    The promises below are executable: `plastic_memories.testing.StorageContract`.
    """

    def model(self) -> str:
        """Return the name of the model that every stored vector is of; empty if none is set."""
        ...

    def set_model(self, name: str) -> None:
        """Note whose vectors are stored from now on; empty while those of another are cleared."""
        ...

    def list_missing(
        self, after_id: int, limit: int, kind: EntryKind = EntryKind.MEMORY
    ) -> list[PendingEmbedding]:
        """Return the next entries of a kind without a vector; `after_id` 0 starts.

        Memories come in the order of their ids, messages newest first.
        """
        ...

    def backlog(self, tenant_id: str | None = None) -> int:
        """Return how many entries have no vector: of one tenant, or of all for None."""
        ...

    def count_stored(self, tenant_id: str | None = None) -> int:
        """Return how many entries have one: of one tenant, or of all for None."""
        ...

    def put(self, model: str, rows: Sequence[tuple[PendingEmbedding, bytes]]) -> int:
        """Store vectors of this model; return how many were stored.

        An entry that is gone, has other words by now or has a vector gets none, and nothing is
        stored if another model is set.
        """
        ...

    def clear(self, after: EntryCursor, limit: int) -> EntryCursor | None:
        """Take the vectors of the next entries away; return the last of them, None at the end."""
        ...
