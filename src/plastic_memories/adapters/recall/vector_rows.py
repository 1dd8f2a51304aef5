"""The vectors of entries, in memory: one row for each passage, compared with a question at once."""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np
from numpy.typing import NDArray

from plastic_memories.adapters.recall.growing import Growing
from plastic_memories.rules.vectors import unpacked

# Rows that are turned into floats at a time: they stay in the processor's cache.
_AT_ONCE = 2048
_NOBODY = -1


class VectorRows:
    """All of one model: vectors of another length push the former out."""

    def __init__(self) -> None:
        self._empty(0)

    def _empty(self, width: int) -> None:
        self._rows = Growing(np.int8, width)
        self._owners = Growing(np.int64)
        self._scales = Growing(np.float32)
        self._first: dict[int, int] = {}

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes + self._owners.nbytes + self._scales.nbytes

    def put(self, vectors: Sequence[tuple[int, bytes | None]]) -> None:
        """Give entries their vectors, or take them away."""
        self._take_away({position for position, _ in vectors} & self._first.keys())
        found = [(position, unpacked(packed)) for position, packed in vectors if packed]
        if not found:
            return
        width = found[-1][1].shape[1]
        if width != self._rows.array.shape[1]:
            self._empty(width)
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

    def _take_away(self, positions: Set[int]) -> None:
        if not positions:
            return
        for position in positions:
            del self._first[position]
        owners = self._owners.array
        owners[np.isin(owners, np.fromiter(positions, np.int64))] = _NOBODY
        kept = owners != _NOBODY
        if np.count_nonzero(kept) < len(kept) / 2:
            self._keep(kept)

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        """Give the room of rows that are nobody's back."""
        rows, owners, scales = self._rows.array, self._owners.array, self._scales.array
        moved = np.cumsum(kept) - 1
        first = {position: int(moved[row]) for position, row in self._first.items()}
        self._empty(rows.shape[1])
        self._rows.extend(rows[kept])
        self._owners.extend(owners[kept])
        self._scales.extend(scales[kept])
        self._first = first

    def similarity(
        self, question: NDArray[np.float32], entries: int, passage: float
    ) -> NDArray[np.float64] | None:
        """Return the cosine of each entry with a question; None if nothing can be compared.

        A long text has several vectors: `passage` is the share of the nearest of them, the rest
        is the whole text's. An entry without any gets the mean, which tells nothing.
        """
        if not self._first or self._rows.array.shape[1] != len(question):
            return None
        near = self._cosines(question)
        best = np.full(entries + 1, -np.inf)
        np.maximum.at(best, self._owners.array, near)
        positions = np.fromiter(self._first.keys(), np.int64, len(self._first))
        firsts = np.fromiter(self._first.values(), np.int64, len(self._first))
        blend = (1 - passage) * near[firsts] + passage * best[positions]
        found = np.full(entries, blend.mean())
        found[positions] = blend
        return found

    def alike(self, positions: Sequence[int]) -> NDArray[np.float32]:
        """Return the cosines between whole entries; 0 where one has no vector."""
        whole = np.zeros((len(positions), self._rows.array.shape[1]), np.float32)
        for number, position in enumerate(positions):
            row = self._first.get(position)
            if row is not None:
                whole[number] = self._rows.array[row] * self._scales.array[row]
        return np.asarray(whole @ whole.T)

    def _cosines(self, question: NDArray[np.float32]) -> NDArray[np.float32]:
        rows = self._rows.array
        near = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            near[some] = rows[some].astype(np.float32) @ question
        near *= self._scales.array
        return near
