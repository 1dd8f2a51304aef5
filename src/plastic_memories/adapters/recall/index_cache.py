"""LRU cache of owner indexes; an evicted index is read again when needed."""

from __future__ import annotations

import threading
from collections import OrderedDict

from plastic_memories.adapters.recall.owner_index import OwnerIndex
from plastic_memories.model.owner import Owner


class IndexCache:
    """Bounded by bytes: the least recently used index is evicted first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._indexes: OrderedDict[Owner, OwnerIndex] = OrderedDict()
        self._bytes: dict[Owner, int] = {}
        self._total = 0

    def get(self, owner: Owner) -> OwnerIndex:
        with self._lock:
            index = self._indexes.get(owner)
            if index is None:
                index = self._indexes[owner] = OwnerIndex(owner)
            self._indexes.move_to_end(owner)
            return index

    def update_size(self, index: OwnerIndex) -> None:
        """Record the current size of an index, and evict others if necessary."""
        with self._lock:
            if self._indexes.get(index.owner) is not index:
                return  # it was evicted while a caller still used it
            self._record_size(index.owner, index.nbytes)
            while self._total > self._max_bytes and len(self._indexes) > 1:
                oldest, _ = self._indexes.popitem(last=False)
                self._record_size(oldest, 0)

    def _record_size(self, owner: Owner, size: int) -> None:
        self._total += size - self._bytes.pop(owner, 0)
        if size:
            self._bytes[owner] = size
