"""How many event sockets may be open, in all and for one key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from plastic_memories.errors import TooManyRequests


@dataclass(slots=True)
class EventSocketLimits:
    """Counts open sockets. One that has not sent its key yet counts among all."""

    total: int
    per_key: int
    _open: int = 0
    _open_by_key: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def socket(self) -> Iterator[None]:
        """Count a socket while it is open; raise `TooManyRequests` if there are too many."""
        if self._open >= self.total:
            raise TooManyRequests(
                f"More than {self.total} event sockets (PLASTIC_MEMORIES_MAX_EVENT_SOCKETS)."
            )
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1

    @contextmanager
    def socket_of_key(self, digest: str) -> Iterator[None]:
        """Count a socket of a key; raise `TooManyRequests` if that key has too many."""
        if self._open_by_key[digest] >= self.per_key:
            raise TooManyRequests(
                f"More than {self.per_key} event sockets with this key "
                "(PLASTIC_MEMORIES_MAX_EVENT_SOCKETS_PER_KEY)."
            )
        self._open_by_key[digest] += 1
        try:
            yield
        finally:
            self._open_by_key[digest] -= 1
            if not self._open_by_key[digest]:
                del self._open_by_key[digest]
