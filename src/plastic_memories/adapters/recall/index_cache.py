"""LRU cache of owner indexes; an evicted index is read again when needed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TypeVar, cast

from plastic_memories.adapters.recall.owner_index import OwnerIndex, TalkIndex
from plastic_memories.model.owner import Owner

_Index = TypeVar("_Index", bound=OwnerIndex)
_Key = tuple[type[OwnerIndex], Owner]


class IndexCache:
    """Bounded by bytes: the least recently used index is evicted first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._indexes: OrderedDict[_Key, OwnerIndex] = OrderedDict()
        self._bytes: dict[_Key, int] = {}
        self._total = 0

    def get(self, owner: Owner) -> OwnerIndex:
        """Return the index of a persona's memories."""
        return self._get(OwnerIndex, owner)

    def get_talk(self, owner: Owner) -> TalkIndex:
        """Return the index of a persona's messages."""
        return self._get(TalkIndex, owner)

    def _get(self, kind: type[_Index], owner: Owner) -> _Index:
        with self._lock:
            index = self._indexes.get((kind, owner))
            if index is None:
                index = self._indexes[kind, owner] = kind(owner)
            self._indexes.move_to_end((kind, owner))
            return cast("_Index", index)

    def update_size(self, index: OwnerIndex) -> None:
        """Record the current size of an index, and evict others if necessary."""
        key = type(index), index.owner
        with self._lock:
            if self._indexes.get(key) is not index:
                return  # it was evicted while a caller still used it
            self._record_size(key, index.nbytes)
            while self._total > self._max_bytes and len(self._indexes) > 1:
                oldest, _ = self._indexes.popitem(last=False)
                self._record_size(oldest, 0)

    def _record_size(self, key: _Key, size: int) -> None:
        self._total += size - self._bytes.pop(key, 0)
        if size:
            self._bytes[key] = size
