"""In-memory vectors of entries: one row per passage, compared with a query in one call."""

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
    """Which rows belong to which entry; computed once for many queries."""

    entries: NDArray[np.int64]  # in the order of their rows
    first: NDArray[np.int64]  # the row of each entry's whole text
    start: NDArray[np.int64]  # where the rows of each entry start in `rows`
    rows: NDArray[np.int64] | None  # rows sorted by entry; None if they already are


class VectorRows:
    """Vectors of one model: vectors of another dimension replace all earlier ones."""

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
        """Set or remove the vectors of entries."""
        if not vectors:
            return
        self._whose = None
        self._remove({position for position, _ in vectors} & self._first.keys())
        unpacked = [(position, unpack_vectors(packed)) for position, packed in vectors if packed]
        if not unpacked:
            return
        width = unpacked[-1][1].shape[1]
        if width != self._rows.array.shape[1]:
            self._reset(width)
        unpacked = [(position, rows) for position, rows in unpacked if rows.shape[1] == width]
        sizes = [len(rows) for _, rows in unpacked]
        firsts = len(self._rows) + np.cumsum([0, *sizes[:-1]])
        positions = [position for position, _ in unpacked]
        self._first.update(zip(positions, firsts.tolist(), strict=True))
        self._owners.extend(np.repeat(positions, sizes))
        all_rows = np.concatenate([rows for _, rows in unpacked])
        self._rows.extend(all_rows)
        lengths = np.linalg.norm(all_rows.astype(np.float32), axis=1)
        self._scales.extend(1 / np.maximum(lengths, 1.0))

    def _remove(self, positions: Set[int]) -> None:
        if not positions:
            return
        for position in positions:
            del self._first[position]
        owners = self._owners.array
        owners[np.isin(owners, np.fromiter(positions, np.int64))] = _NO_OWNER
        in_use = owners != _NO_OWNER
        if np.count_nonzero(in_use) < len(in_use) / 2:
            self._compact(in_use)

    def _compact(self, in_use: NDArray[np.bool_]) -> None:
        """Free the rows that belong to no entry."""
        rows, owners, scales = self._rows.array, self._owners.array, self._scales.array
        new_row = np.cumsum(in_use) - 1
        first = {position: int(new_row[row]) for position, row in self._first.items()}
        self._reset(rows.shape[1])
        self._rows.extend(rows[in_use])
        self._owners.extend(owners[in_use])
        self._scales.extend(scales[in_use])
        self._first = first

    def similarity(
        self, question: NDArray[np.float32], entries: int, passage: float
    ) -> NDArray[np.float64] | None:
        """Return the cosine of each entry with a query; None if nothing can be compared.

        A long text has several vectors: `passage` is the share of the nearest of them, the rest
        is that of the whole text. An entry without a vector gets NaN.
        """
        if not self._first or self._rows.array.shape[1] != len(question):
            return None
        cosines, whose = self._cosines(question), self._row_ownership()
        of_whole = cosines[whose.first]
        ordered = cosines if whose.rows is None else cosines[whose.rows]
        blend = of_whole.astype(np.float64)
        if len(ordered) > len(of_whole):
            best = np.maximum.reduceat(ordered, whose.start)
            blend = (1 - passage) * blend + passage * best
        if len(blend) == entries:
            return blend
        result = np.full(entries, np.nan)
        result[whose.entries] = blend
        return result

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
        """Return the cosines between whole entries; 0 if one has no vector."""
        whole = np.zeros((len(positions), self._rows.array.shape[1]), np.float32)
        indexes = [index for index, position in enumerate(positions) if position in self._first]
        rows = [self._first[positions[index]] for index in indexes]
        whole[indexes] = self._rows.array[rows] * self._scales.array[rows, None]
        return np.asarray(whole @ whole.T)

    def _cosines(self, question: NDArray[np.float32]) -> NDArray[np.float32]:
        # In int8, which numpy cannot multiply without converting to floats: that took three times
        # as long.
        quantised = quantise(question[None, :])
        products = np.asarray(cdist(quantised, self._rows.array, metric="dot"))[0]
        return np.asarray(products * (self._scales.array / np.linalg.norm(quantised)), np.float32)
