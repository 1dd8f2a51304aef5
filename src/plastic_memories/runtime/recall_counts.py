"""Remembers which memories were recalled until there is time to write it down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from plastic_memories.model.memory import Memory
from plastic_memories.model.owner import Owner
from plastic_memories.ports.storage import StorageBackend

# More than this is dropped: a lost count harms nobody, a recall that waits for a write does.
_MAX_PENDING = 10_000


@dataclass(slots=True)
class RecallCountBuffer:
    _pending: list[tuple[Owner, int]] = field(default_factory=list)
    _latest: float = 0.0

    def add(self, memories: Sequence[Memory], now: float) -> None:
        if len(self._pending) < _MAX_PENDING:
            self._pending += [(memory.owner, memory.id) for memory in memories]
            self._latest = max(self._latest, now)

    async def flush(self, storage: StorageBackend) -> int:
        """Write down what has gathered; return how many."""
        waiting, self._pending = self._pending, []
        if waiting:
            latest = self._latest
            await storage.write(lambda stores: stores.memory_search.touch(waiting, latest))
        return len(waiting)
