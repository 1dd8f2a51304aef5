"""Everything one persona can find, as arrays in memory, kept up with the database."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from plastic_memories.adapters.recall.growing_array import Growing
from plastic_memories.adapters.recall.postings import Codes, Level, grown
from plastic_memories.adapters.recall.vector_rows import VectorRows
from plastic_memories.adapters.recall.visibility import Sight
from plastic_memories.errors import Unavailable
from plastic_memories.language.text.tokens import ASKS
from plastic_memories.model.entry import Entry, News, Place, partitions_for
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.ports.storage import Stores

T = TypeVar("T")
_COLUMNS: dict[str, type[np.generic]] = {
    "memory_id": np.int64, "shared": np.bool_, "place": np.int64, "session": np.int64,
    "speaker": np.int64, "happened_at": np.float64, "expires_at": np.float64,
    "importance": np.float64, "ageless": np.bool_, "asks": np.bool_, "alive": np.bool_,
    "size": np.int64,
    "before": np.int64, "after": np.int64,
}  # fmt: skip
_NONE = -1
_CODE_BYTES = 4
# This much of what is kept may be dead before it is worth making everything anew.
_DEAD_SHARE = 0.3
_SMALL = 100


class OwnerIndex:
    """The entries of a persona's own partition and of the one its user's personas share.

    An entry has the same position in every column. One that was removed or got other words is
    dead; dead entries count nowhere. For one thread at a time: use it while it is `held`.
    """

    def __init__(self, owner: Owner) -> None:
        self.owner = owner
        self._lock = threading.Lock()
        self._empty()

    def _empty(self) -> None:
        self._known = [0, 0]
        self._kept: dict[str, tuple[Hashable, Any]] = {}
        self._columns = {name: Growing(dtype) for name, dtype in _COLUMNS.items()}
        self._codes = Growing(np.uint32)
        self._offsets = Growing(np.int64)
        self._offsets.extend(np.zeros(1, np.int64))
        self.vectors = VectorRows()
        self._position: dict[int, int] = {}
        self._last_of: dict[int, int] = {}
        self.levels: list[Level] = []
        self.places: dict[Place, int] = {}
        self.sessions: dict[str, int] = {}
        self.speakers: dict[str, int] = {}

    @contextmanager
    def held(self, patience_s: float) -> Iterator[None]:
        """Keep other threads out; raise `Unavailable` if one of them is in for too long."""
        if not self._lock.acquire(timeout=patience_s):
            raise Unavailable("The index of this persona is being read.")
        try:
            yield
        finally:
            self._lock.release()

    def __len__(self) -> int:
        return len(self._columns["alive"])

    def __getitem__(self, column: str) -> NDArray[Any]:
        return self._columns[column].array

    @property
    def nbytes(self) -> int:
        return self.kept("nbytes", None, self._counted_bytes)

    def _counted_bytes(self) -> int:
        columns = sum(column.nbytes for column in self._columns.values())
        postings = sum(level.nbytes for level in self.levels)
        rest = 130 * len(self)  # dictionaries and what is kept, roughly
        return columns + postings + rest + self._codes.nbytes + self.vectors.nbytes

    def refresh(self, stores: Stores) -> None:
        """Take in what changed since the last time."""
        for number, partition in enumerate(partitions_for(self.owner)):
            news = stores.entries.news(partition, self._known[number])
            self._take(news, shared=bool(number))
            self._known[number] = news.revision
        if len(self) > _SMALL and np.count_nonzero(self["alive"]) < (1 - _DEAD_SHARE) * len(self):
            self._empty()
            self.refresh(stores)
        self.levels = grown(self.levels, self._codes.array, self._offsets.array)

    def kept(self, name: str, about: Hashable, make: Callable[[], T]) -> T:
        """Return what was worked out before, as long as no entry and nothing it is about changed.

        Most recalls ask the same of the same entries. What is kept is not to be written to.
        """
        known = self._kept.get(name)
        if known is None or known[0] != about:
            known = self._kept[name] = about, make()
        return cast("T", known[1])

    @property
    def nothing(self) -> NDArray[np.float64]:
        """Return a zero for every entry."""
        return self.kept("nothing", None, lambda: np.zeros(len(self)))

    def sight(self, view: Viewpoint, now: float) -> Sight:
        """Say of each entry whether it exists for this reader now."""
        allowed = tuple([place.seen_from(view) for place in self.places])
        first_end = self.kept("first_end", None, lambda: self["expires_at"].min(initial=np.inf))
        return self.kept(
            "sight",
            (allowed, now if first_end <= now else None),
            lambda: Sight.of(self._seen(np.array(allowed, np.bool_), now)),
        )

    def _seen(self, allowed: NDArray[np.bool_], now: float) -> NDArray[np.bool_]:
        seen = self["alive"] & (self["expires_at"] > now)
        return seen & allowed[self["place"]] if len(allowed) else seen

    def codes_of(self, position: int) -> Codes:
        """Return the terms of an entry, in order."""
        return self.codes_of_each([position])[0]

    def codes_of_each(self, positions: Sequence[int]) -> list[Codes]:
        """Return the terms of several entries."""
        codes, offsets = self._codes.array, self._offsets.array
        return [codes[offsets[position] : offsets[position + 1]] for position in positions]

    def _take(self, news: News, *, shared: bool) -> None:
        if news.present is None and not news.entries:
            return
        self._kept = {}
        if news.present is not None:
            gone = self["alive"] & (self["shared"] == shared)
            gone &= ~np.isin(self["memory_id"], np.array(news.present, dtype=np.int64))
            self._bury(np.flatnonzero(gone))
        known = [entry for entry in news.entries if entry.memory_id in self._position]
        same = [entry for entry in known if self._updated(entry)]
        self.vectors.put([(self._position[entry.memory_id], entry.vector) for entry in same])
        added = [entry for entry in news.entries if entry.memory_id not in self._position]
        if added:
            self._append(added, shared=shared)

    def _updated(self, entry: Entry) -> bool:
        """Bring a known entry up to date; bury it and say no if it has other words by now."""
        position = self._position[entry.memory_id]
        moved = self["place"][position] != self.places.get(entry.place, _NONE)
        before = self.codes_of(position).tobytes() + ASKS * int(self["asks"][position])
        if moved or before != entry.terms:
            self._bury(np.array([position]))
            return False
        self["expires_at"][position] = np.inf if entry.expires_at is None else entry.expires_at
        self["importance"][position] = entry.importance
        self["ageless"][position] = entry.ageless
        return True

    def _bury(self, positions: NDArray[np.int64]) -> None:
        self["alive"][positions] = False
        self.vectors.put([(int(position), None) for position in positions])
        for position in positions:
            self._position.pop(int(self["memory_id"][position]), None)

    def _append(self, entries: Sequence[Entry], *, shared: bool) -> None:
        # In the order of the conversation, so that neighbours stand side by side.
        entries = sorted(entries, key=lambda entry: (entry.happened_at, entry.memory_id))
        first = len(self)
        asks = [entry.terms.endswith(ASKS) for entry in entries]
        terms = [entry.terms.removesuffix(ASKS) for entry in entries]
        rows: dict[str, list[Any]] = {
            "memory_id": [entry.memory_id for entry in entries],
            "shared": [shared] * len(entries),
            "place": _numbers(self.places, [entry.place for entry in entries]),
            "session": _numbers(self.sessions, [entry.session_id for entry in entries]),
            "speaker": _numbers(self.speakers, [entry.speaker for entry in entries]),
            "happened_at": [entry.happened_at for entry in entries],
            "expires_at": [
                np.inf if entry.expires_at is None else entry.expires_at for entry in entries
            ],
            "importance": [entry.importance for entry in entries],
            "ageless": [entry.ageless for entry in entries],
            "asks": asks,
            "alive": [True] * len(entries),
            "size": [len(some) // _CODE_BYTES for some in terms],
            "before": [_NONE] * len(entries),
            "after": [_NONE] * len(entries),
        }
        for name, values in rows.items():
            self._columns[name].extend(np.array(values, dtype=_COLUMNS[name]))
        self._codes.extend(np.frombuffer(b"".join(terms), np.uint32))
        self._offsets.extend(self._offsets.array[-1] + np.cumsum(rows["size"]))
        self._position.update(zip(rows["memory_id"], range(first, len(self)), strict=True))
        self._join_neighbours(first, rows["session"])
        self.vectors.put([(first + number, row.vector) for number, row in enumerate(entries)])

    def _join_neighbours(self, first: int, sessions: Sequence[int]) -> None:
        """Tie new entries to the last one of their conversation.

        A conversation that is imported in pieces, backwards, loses the ties between the pieces.
        """
        before, after = self["before"], self["after"]
        for position, session in enumerate(sessions, start=first):
            if session < 0:
                continue
            last = self._last_of.get(session, _NONE)
            self._last_of[session] = position
            if last >= 0:
                before[position] = last
                after[last] = position


def _numbers(known: dict[Any, int], names: Sequence[Any]) -> list[int]:
    """Return a small number for each name; -1 for none."""
    found: list[int] = []
    last, number = None, _NONE
    for name in names:
        # Neighbours mostly share the very same object, which need not be looked up again.
        if name is not last:
            last, number = name, known.setdefault(name, len(known)) if name else _NONE
        found.append(number)
    return found
