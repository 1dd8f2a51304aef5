"""Quantise vectors to signed bytes: a quarter of the size, the same neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MAX_INT8 = 127


def normalise_rows(rows: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return the rows at unit length; a row of zeros stays as it is.

    >>> normalise_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).round(1).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    rows = np.asarray(rows, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def usable_rows(rows: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return for each row whether it is finite and not all zeros.

    >>> usable_rows(np.array([[1.0, 0.0], [0.0, 0.0], [np.nan, 1.0]], dtype=np.float32)).tolist()
    [True, False, False]
    """
    return np.asarray(np.isfinite(rows).all(axis=1) & rows.any(axis=1), dtype=np.bool_)


def quantise(rows: NDArray[np.float32]) -> NDArray[np.int8]:
    """Return each row scaled so that its largest magnitude is 127, rounded to integers.

    The scale is not stored: only directions are compared.

    >>> quantise(np.array([[0.6, -0.8]], dtype=np.float32)).tolist()
    [[95, -127]]
    """
    largest = np.abs(rows).max(axis=1, keepdims=True)
    scaled = rows * (_MAX_INT8 / np.where(largest > 0, largest, np.float32(1.0)))
    return np.rint(scaled).astype(np.int8)


def dequantise(rows: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the rows at unit length, so that a dot product is their cosine."""
    return normalise_rows(rows.astype(np.float32))


def pack_vectors(rows: NDArray[np.float32]) -> bytes:
    """Return the vectors of one text as stored bytes: their number, then the values."""
    return bytes([len(rows)]) + quantise(rows).tobytes()


def unpack_vectors(stored: bytes) -> NDArray[np.int8]:
    """Return the vectors of one text as rows.

    >>> unpack_vectors(pack_vectors(np.array([[0.6, -0.8], [1.0, 0.0]], dtype=np.float32))).tolist()
    [[95, -127], [127, 0]]
    """
    return np.frombuffer(stored, dtype=np.int8, offset=1).reshape(stored[0], -1)
