"""In-memory index of one persona's entries as arrays, kept in sync with the database."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from plastic_memories.adapters.recall.growing_array import GrowableArray
from plastic_memories.adapters.recall.postings import Codes, PostingsLevel, add_to_levels
from plastic_memories.adapters.recall.vector_rows import VectorRows
from plastic_memories.adapters.recall.visibility import VisibleEntries
from plastic_memories.errors import Unavailable
from plastic_memories.language.text.tokens import QUESTION_MARKER
from plastic_memories.model.entry import (
    IndexEntry,
    Listener,
    PartitionChanges,
    partitions_for,
)
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.ports.storage import Stores
from plastic_memories.rules.ranking.score_parts import Ints

T = TypeVar("T")
_COLUMNS: dict[str, type[np.generic]] = {
    "memory_id": np.int64, "shared": np.bool_, "place": np.int64, "session": np.int64,
    "speaker": np.int64, "happened_at": np.float64, "expires_at": np.float64,
    "importance": np.float64, "ageless": np.bool_, "asks": np.bool_, "alive": np.bool_,
    "by_assistant": np.bool_,
    "size": np.int64,
    "before": np.int64, "after": np.int64,
}  # fmt: skip
_NONE = -1
_CODE_BYTES = 4
# The share of dead entries above which the index is rebuilt.
_MAX_DEAD_SHARE = 0.3
_MIN_COMPACTION_SIZE = 100
# A session may go on for months: what was said a day later is another conversation.
_MAX_GAP_S = 86_400.0


class OwnerIndex:
    """The entries of a persona's own partition and of the partition all personas share.

    An entry has the same position in every column. An entry that was removed or whose text
    changed is dead; dead entries are never counted. Not thread-safe: use it inside `locked`.
    """

    def __init__(self, owner: Owner) -> None:
        self.owner = owner
        self._lock = threading.Lock()
        self._reset()

    def _reset(self) -> None:
        self._known = [0, 0]
        self._cached_values: dict[str, tuple[Hashable, Any]] = {}
        self._columns = {name: GrowableArray(dtype) for name, dtype in _COLUMNS.items()}
        self._codes = GrowableArray(np.uint32)
        self._offsets = GrowableArray(np.int64)
        self._offsets.extend(np.zeros(1, np.int64))
        self.vectors = VectorRows()
        self._position: dict[int, int] = {}
        self._last_of: dict[int, int] = {}
        self.levels: list[PostingsLevel] = []
        self.places: dict[Any, int] = {}
        self.sessions: dict[str, int] = {}
        self.speakers: dict[str, int] = {}

    @contextmanager
    def lock(self, patience_s: float) -> Iterator[None]:
        """Hold the lock; raise `Unavailable` if another thread holds it for too long."""
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
        return self.memoize("nbytes", None, self._count_bytes)

    def _count_bytes(self) -> int:
        columns = sum(column.nbytes for column in self._columns.values())
        postings = sum(level.nbytes for level in self.levels)
        rest = 130 * len(self)  # dictionaries and cached values, roughly
        return columns + postings + rest + self._codes.nbytes + self.vectors.nbytes

    def refresh(self, stores: Stores) -> None:
        """Apply the changes since the last refresh."""
        for number, changes in enumerate(self._read_changes(stores)):
            self._apply_changes(changes, shared=bool(number))
            self._known[number] = changes.revision
        if len(self) > _MIN_COMPACTION_SIZE and np.count_nonzero(self["alive"]) < (
            1 - _MAX_DEAD_SHARE
        ) * len(self):
            self._reset()
            self.refresh(stores)
        self.levels = add_to_levels(self.levels, self._codes.array, self._offsets.array)

    def _read_changes(self, stores: Stores) -> list[PartitionChanges]:
        return [
            stores.entries.changes_since(partition, known)
            for partition, known in zip(partitions_for(self.owner), self._known, strict=True)
        ]

    def memoize(self, name: str, about: Hashable, make: Callable[[], T]) -> T:
        """Return a cached value; it is made again if an entry or `about` changed.

        Most recalls need the same values of the same entries. Callers must not modify them.
        """
        entry = self._cached_values.get(name)
        if entry is None or entry[0] != about:
            entry = self._cached_values[name] = about, make()
        return cast("T", entry[1])

    @property
    def zeros(self) -> NDArray[np.float64]:
        """Return a zero for every entry."""
        return self.memoize("nothing", None, lambda: np.zeros(len(self)))

    def visible_entries(self, view: Viewpoint | Listener, now: float) -> VisibleEntries:
        """Return which entries are visible to this reader now."""
        allowed = tuple([place.is_visible_from(view) for place in self.places])
        first_end = self.memoize("first_end", None, lambda: self["expires_at"].min(initial=np.inf))
        return self.memoize(
            "sight",
            (allowed, now if first_end <= now else None),
            lambda: VisibleEntries.from_mask(self._visible_mask(np.array(allowed, np.bool_), now)),
        )

    def _visible_mask(self, allowed: NDArray[np.bool_], now: float) -> NDArray[np.bool_]:
        seen = self["alive"] & (self["expires_at"] > now)
        return seen & allowed[self["place"]] if len(allowed) else seen

    def term_codes_at(self, position: int) -> Codes:
        """Return the terms of an entry, in order."""
        return self.term_codes_at_each([position])[0]

    def term_codes_at_each(self, positions: Sequence[int]) -> list[Codes]:
        """Return the terms of several entries."""
        codes, offsets = self._codes.array, self._offsets.array
        return [codes[offsets[position] : offsets[position + 1]] for position in positions]

    def positions_with_codes(self, wanted: Codes) -> Ints:
        """Return the entries that have exactly these terms, in order."""
        codes, offsets = self._codes.array, self._offsets.array
        found: Ints = np.flatnonzero(self["size"] == len(wanted))
        # Term by term for all entries at once: after the first two hardly any is left.
        for place, code in enumerate(wanted):
            found = found[codes[offsets[found] + place] == code]
        return found

    def _apply_changes(self, changes: PartitionChanges, *, shared: bool) -> None:
        if changes.remaining_ids is None and not changes.entries:
            return
        self._cached_values = {}
        if changes.remaining_ids is not None:
            removed = self["alive"] & (self["shared"] == shared)
            removed &= ~np.isin(self["memory_id"], np.array(changes.remaining_ids, dtype=np.int64))
            self._mark_dead(np.flatnonzero(removed))
        known = [entry for entry in changes.entries if entry.memory_id in self._position]
        same = [entry for entry in known if self._update_entry(entry)]
        self.vectors.put([(self._position[entry.memory_id], entry.vector) for entry in same])
        added = [entry for entry in changes.entries if entry.memory_id not in self._position]
        if added:
            self._append(added, shared=shared)

    def _update_entry(self, entry: IndexEntry) -> bool:
        """Update a known entry; if its terms or place changed, mark it dead and return False."""
        position = self._position[entry.memory_id]
        moved = self["place"][position] != self.places.get(entry.place, _NONE)
        before = self.term_codes_at(position).tobytes() + QUESTION_MARKER * int(
            self["asks"][position]
        )
        if moved or before != entry.terms:
            self._mark_dead(np.array([position]))
            return False
        self["expires_at"][position] = np.inf if entry.expires_at is None else entry.expires_at
        self["importance"][position] = entry.importance
        self["ageless"][position] = entry.ageless
        return True

    def _mark_dead(self, positions: NDArray[np.int64]) -> None:
        self["alive"][positions] = False
        self.vectors.put([(int(position), None) for position in positions])
        for position in positions:
            self._position.pop(int(self["memory_id"][position]), None)

    def _append(self, entries: Sequence[IndexEntry], *, shared: bool) -> None:
        # In chronological order, so that neighbours have adjacent positions.
        entries = sorted(entries, key=lambda entry: (entry.happened_at, entry.memory_id))
        first = len(self)
        asks = [entry.terms.endswith(QUESTION_MARKER) for entry in entries]
        terms = [entry.terms.removesuffix(QUESTION_MARKER) for entry in entries]
        rows: dict[str, list[Any]] = {
            "memory_id": [entry.memory_id for entry in entries],
            "shared": [shared] * len(entries),
            "place": _intern(self.places, [entry.place for entry in entries]),
            "session": _intern(self.sessions, [entry.session_id for entry in entries]),
            "speaker": _intern(self.speakers, [entry.speaker for entry in entries]),
            "happened_at": [entry.happened_at for entry in entries],
            "expires_at": [
                np.inf if entry.expires_at is None else entry.expires_at for entry in entries
            ],
            "importance": [entry.importance for entry in entries],
            "ageless": [entry.ageless for entry in entries],
            "by_assistant": [entry.by_assistant for entry in entries],
            "asks": asks,
            "alive": [True] * len(entries),
            "size": [len(codes) // _CODE_BYTES for codes in terms],
            "before": [_NONE] * len(entries),
            "after": [_NONE] * len(entries),
        }
        for name, values in rows.items():
            self._columns[name].extend(np.array(values, dtype=_COLUMNS[name]))
        self._codes.extend(np.frombuffer(b"".join(terms), np.uint32))
        self._offsets.extend(self._offsets.array[-1] + np.cumsum(rows["size"]))
        self._position.update(zip(rows["memory_id"], range(first, len(self)), strict=True))
        self._link_neighbours(first, rows["session"])
        self.vectors.put([(first + number, row.vector) for number, row in enumerate(entries)])

    def _link_neighbours(self, first: int, sessions: Sequence[int]) -> None:
        """Link new entries to the last one of their conversation.

        A conversation that is imported in pieces, backwards, loses the links between the pieces.
        """
        before, after = self["before"], self["after"]
        for position, session in enumerate(sessions, start=first):
            if session < 0:
                continue
            last = self._last_of.get(session, _NONE)
            self._last_of[session] = position
            if last >= 0 and self._are_neighbours(last, position):
                before[position] = last
                after[last] = position

    def _are_neighbours(self, earlier: int, later: int) -> bool:
        return True


class TalkIndex(OwnerIndex):
    """The entries of a persona's messages."""

    def count_pending(self, stores: Stores, limit: int) -> int:
        """Return how many entries a refresh would read; stop counting at `limit`."""
        return stores.talk_entries.count_changes(self.owner, self._known[0], limit)

    def _read_changes(self, stores: Stores) -> list[PartitionChanges]:
        return [stores.talk_entries.changes_since(self.owner, self._known[0])]

    def _are_neighbours(self, earlier: int, later: int) -> bool:
        """Return whether two messages of a session belong to one conversation."""
        happened = self["happened_at"]
        return bool(abs(happened[later] - happened[earlier]) <= _MAX_GAP_S)


def _intern(known: dict[Any, int], names: Sequence[Any]) -> list[int]:
    """Return a small integer for each name; -1 for an empty one."""
    found: list[int] = []
    last, number = None, _NONE
    for name in names:
        # Consecutive names are mostly the same object, which need not be looked up again.
        if name is not last:
            last, number = name, known.setdefault(name, len(known)) if name else _NONE
        found.append(number)
    return found
