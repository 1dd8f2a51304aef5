"""The vectors of entries, in memory: one row for each passage, compared with a question at once."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from simsimd import cdist

from plastic_memories.adapters.recall.growing_array import GrowableArray
from plastic_memories.rules.ranking.vector_codec import quantise, unpack_vectors

_NO_OWNER = -1


@dataclass(frozen=True, slots=True)
class _RowOwnership:
    """Which rows are whose, worked out once for many questions."""

    entries: NDArray[np.int64]  # in the order of their rows
    first: NDArray[np.int64]  # the row of the whole text of each
    start: NDArray[np.int64]  # where the rows of each start in `rows`
    rows: NDArray[np.int64] | None  # in that order; None if they stand so already


class VectorRows:
    """All of one model: vectors of another length push the former out."""

    def __init__(self) -> None:
        self._reset(0)

    def _reset(self, width: int) -> None:
        self._rows = GrowableArray(np.int8, width)
        self._owners = GrowableArray(np.int64)
        self._scales = GrowableArray(np.float32)
        self._first: dict[int, int] = {}
        self._whose: _RowOwnership | None = None

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes + self._owners.nbytes + self._scales.nbytes

    def put(self, vectors: Sequence[tuple[int, bytes | None]]) -> None:
        """Give entries their vectors, or take them away."""
        if not vectors:
            return
        self._whose = None
        self._remove({position for position, _ in vectors} & self._first.keys())
        found = [(position, unpack_vectors(packed)) for position, packed in vectors if packed]
        if not found:
            return
        width = found[-1][1].shape[1]
        if width != self._rows.array.shape[1]:
            self._reset(width)
        found = [(position, rows) for position, rows in found if rows.shape[1] == width]
        sizes = [len(rows) for _, rows in found]
        firsts = len(self._rows) + np.cumsum([0, *sizes[:-1]])
        positions = [position for position, _ in found]
        self._first.update(zip(positions, firsts.tolist(), strict=True))
        self._owners.extend(np.repeat(positions, sizes))
        every = np.concatenate([rows for _, rows in found])
        self._rows.extend(every)
        lengths = np.linalg.norm(every.astype(np.float32), axis=1)
        self._scales.extend(1 / np.maximum(lengths, 1.0))

    def _remove(self, positions: Set[int]) -> None:
        if not positions:
            return
        for position in positions:
            del self._first[position]
        owners = self._owners.array
        owners[np.isin(owners, np.fromiter(positions, np.int64))] = _NO_OWNER
        kept = owners != _NO_OWNER
        if np.count_nonzero(kept) < len(kept) / 2:
            self._compact(kept)

    def _compact(self, kept: NDArray[np.bool_]) -> None:
        """Give the room of rows that are nobody's back."""
        rows, owners, scales = self._rows.array, self._owners.array, self._scales.array
        moved = np.cumsum(kept) - 1
        first = {position: int(moved[row]) for position, row in self._first.items()}
        self._reset(rows.shape[1])
        self._rows.extend(rows[kept])
        self._owners.extend(owners[kept])
        self._scales.extend(scales[kept])
        self._first = first

    def similarity(
        self, question: NDArray[np.float32], entries: int, passage: float
    ) -> NDArray[np.float64] | None:
        """Return the cosine of each entry with a question; None if nothing can be compared.

        A long text has several vectors: `passage` is the share of the nearest of them, the rest
        is the whole text's. An entry without any gets no number (NaN).
        """
        if not self._first or self._rows.array.shape[1] != len(question):
            return None
        near, whose = self._cosines(question), self._row_ownership()
        of_whole = near[whose.first]
        every = near if whose.rows is None else near[whose.rows]
        blend = of_whole.astype(np.float64)
        if len(every) > len(of_whole):
            best = np.maximum.reduceat(every, whose.start)
            blend = (1 - passage) * blend + passage * best
        if len(blend) == entries:
            return blend
        found = np.full(entries, np.nan)
        found[whose.entries] = blend
        return found

    def _row_ownership(self) -> _RowOwnership:
        if self._whose is None:
            owners = self._owners.array
            rows = np.flatnonzero(owners != _NO_OWNER)
            rows = rows[np.argsort(owners[rows], kind="stable")]
            entries, start = np.unique(owners[rows], return_index=True)
            first = np.array([self._first[entry] for entry in entries.tolist()], np.int64)
            in_order = len(rows) == len(owners) and bool((np.diff(rows) == 1).all())
            self._whose = _RowOwnership(entries, first, start, None if in_order else rows)
        return self._whose

    def pairwise_similarity(self, positions: Sequence[int]) -> NDArray[np.float32]:
        """Return the cosines between whole entries; 0 where one has no vector."""
        whole = np.zeros((len(positions), self._rows.array.shape[1]), np.float32)
        numbers = [number for number, position in enumerate(positions) if position in self._first]
        rows = [self._first[positions[number]] for number in numbers]
        whole[numbers] = self._rows.array[rows] * self._scales.array[rows, None]
        return np.asarray(whole @ whole.T)

    def _cosines(self, question: NDArray[np.float32]) -> NDArray[np.float32]:
        # In small whole numbers, which numpy cannot multiply without turning them into floats:
        # that took three times as long.
        asked = quantise(question[None, :])
        near = np.asarray(cdist(asked, self._rows.array, metric="dot"))[0]
        return np.asarray(near * (self._scales.array / np.linalg.norm(asked)), np.float32)
