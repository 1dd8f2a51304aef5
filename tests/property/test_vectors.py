"""Vectors in bytes keep their neighbours."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from plastic_memories.rules.ranking.vector_codec import (
    dequantise,
    normalise_rows,
    pack_vectors,
    quantise,
    unpack_vectors,
)

shapes = st.tuples(st.integers(2, 8), st.integers(16, 512), st.integers(0, 2**32 - 1))


@given(shapes)
def test_a_cosine_is_nearly_the_same_after_packing(shape: tuple[int, int, int]) -> None:
    rows, dimension, seed = shape
    vectors = normalise_rows(np.random.default_rng(seed).normal(size=(rows, dimension)))

    again = dequantise(unpack_vectors(pack_vectors(vectors)))

    assert np.abs(vectors @ vectors.T - again @ again.T).max() < 0.02
    assert np.abs(vectors @ vectors[0] - again @ vectors[0]).max() < 0.015


@given(shapes, st.floats(1e-3, 1e3))
def test_the_length_of_a_vector_changes_nothing(shape: tuple[int, int, int], factor: float) -> None:
    rows, dimension, seed = shape
    vectors = normalise_rows(np.random.default_rng(seed).normal(size=(rows, dimension)))

    scaled = quantise(vectors * np.float32(factor))

    # Rounding may fall to either side where a number lies in the middle of two.
    difference = scaled.astype(np.int16) - quantise(vectors)
    assert np.abs(difference).max() <= 1
    assert np.abs(scaled).max() == 127
