"""Arrays with amortised growth: appending does not copy every time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_MIN_CAPACITY = 16


class GrowableArray:
    """A column of one dtype, or a matrix if a width is given."""

    def __init__(self, dtype: type[np.generic], width: int | None = None) -> None:
        shape = _MIN_CAPACITY if width is None else (_MIN_CAPACITY, width)
        self._room: NDArray[Any] = np.zeros(shape, dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def array(self) -> NDArray[Any]:
        return self._room[: self._size]

    @property
    def nbytes(self) -> int:
        return self._room.nbytes

    def extend(self, values: NDArray[Any]) -> None:
        size = self._size + len(values)
        if size > len(self._room):
            grown = np.zeros(
                (max(size, 2 * len(self._room)), *self._room.shape[1:]), self._room.dtype
            )
            grown[: self._size] = self.array
            self._room = grown
        self._room[self._size : size] = values
        self._size = size
