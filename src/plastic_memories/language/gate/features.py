"""Hash the character and word n-grams of a text into buckets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified

# A clause is shorter; of a longer text the start decides.
MAX_CHARS = 400
BUCKET_BITS = 18
_CHAR_LENGTHS = (1, 2, 3, 4, 5)
_NOT_SAID = regex(r"[^\w?？]+")
_APOSTROPHES = str.maketrans("", "", "'’`")
_START, _END, _SPACE, _DIGIT = 2, 3, 32, 48
_PADDING = 2

# A polynomial hash modulo 2^64. Its base is odd and so has an inverse: the hash of every
# substring is a difference of two prefix sums times a power of the inverse.
_BASE = 0x9E3779B97F4A7C15
_MODULUS = 1 << 64
_MIX = np.uint64(0xD6E8FEB86659FD93)
_WORD_SALT = np.uint64(0xA0761D6478BD642F)
_SHIFT = np.uint64(64 - BUCKET_BITS)


def _powers(base: int) -> NDArray[np.uint64]:
    powers, value = [], 1
    for _ in range(MAX_CHARS + 2 * _PADDING):
        powers.append(value)
        value = value * base % _MODULUS
    return np.array(powers, dtype=np.uint64)


_POWERS = _powers(_BASE)
_INVERSE_POWERS = _powers(pow(_BASE, -1, _MODULUS))


def comparable_text(text: str) -> str:
    """Return a text as the heads see it: one script, lower case, no emoji or punctuation.

    >>> comparable_text("我對海鮮過敏😭！！"), comparable_text("I DON'T eat pork...")
    ('我对海鲜过敏', 'i dont eat pork')
    """
    plain = to_simplified(text[:MAX_CHARS]).lower().translate(_APOSTROPHES)
    return _NOT_SAID.sub(" ", plain).strip()[:MAX_CHARS]


def ngram_buckets(text: str) -> NDArray[np.uint64]:
    """Return the buckets of all n-grams of a text; one that occurs twice is there twice."""
    codes = _codes(comparable_text(text))
    sums = np.zeros(len(codes) + 1, dtype=np.uint64)
    np.cumsum((codes + np.uint64(1)) * _MIX * _POWERS[: len(codes)], out=sums[1:])
    hashes = [_span_hashes(sums, 0, length) for length in _CHAR_LENGTHS]
    hashes += _word_hashes(codes, sums)
    mixed = np.concatenate(hashes) * _MIX
    buckets: NDArray[np.uint64] = (mixed ^ (mixed >> np.uint64(29))) * _MIX >> _SHIFT
    return buckets


def _codes(text: str) -> NDArray[np.uint64]:
    """Return the code points between marks of start and end; digits are one, laughter is short."""
    inner = np.frombuffer(text.encode("utf-32-le", "replace"), dtype=np.uint32)
    codes = np.concatenate(([_START, _SPACE], inner, [_SPACE, _END])).astype(np.uint64)
    codes[(codes > _DIGIT) & (codes < _DIGIT + 10)] = _DIGIT
    repeats = (codes[2:] == codes[1:-1]) & (codes[1:-1] == codes[:-2])
    return codes[np.concatenate(([True, True], ~repeats))]


def _span_hashes(sums: NDArray[np.uint64], first: int, length: int) -> NDArray[np.uint64]:
    number = max(0, len(sums) - length - first)
    spans = sums[first + length : first + length + number] - sums[first : first + number]
    return spans * _INVERSE_POWERS[first : first + number] + np.uint64(length)


def _word_hashes(codes: NDArray[np.uint64], sums: NDArray[np.uint64]) -> list[NDArray[np.uint64]]:
    """Return the hashes of words between spaces, of pairs and of triples of them."""
    spaces = np.flatnonzero(codes == _SPACE)
    found = []
    for size in (1, 2, 3):
        starts, ends = spaces[:-size], spaces[size:]
        spans = (sums[ends] - sums[starts]) * _INVERSE_POWERS[starts]
        found.append(spans * _WORD_SALT + np.uint64(size))
    return found
