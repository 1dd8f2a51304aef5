"""Hash the character and word n-grams of a text into buckets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified

# A clause is shorter; of a longer text the start decides.
MAX_CHARS = 400
BUCKET_BITS = 18
# A new message is scored twice, once to be ranked and once to be read at once; so is a batch.
_LAST_TEXTS = 128
_MAX_NGRAM_CHARS, _MAX_NGRAM_WORDS = 5, 3
_NOT_SAID = regex(r"[^\w?？]+")
_APOSTROPHES = str.maketrans("", "", "'’`")
_ONE_DIGIT = str.maketrans("123456789", "0" * 9)
_START, _END, _SPACE = "\x02 ", " \x03", 32
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


_MIXED_POWERS = _powers(_BASE) * _MIX
_INVERSE_POWERS = _powers(pow(_BASE, -1, _MODULUS))


@dataclass(frozen=True, slots=True)
class _Spans:
    """All spans up to a length, ordered by their ends: those of a shorter row come first."""

    starts: NDArray[np.intp]
    ends: NDArray[np.intp]
    lengths: NDArray[np.uint64]
    longest: int

    def count(self, size: int) -> int:
        """Return how many of the spans lie within a row of `size`."""
        if size < self.longest:
            return size * (size + 1) // 2
        return self.longest * size - self.longest * (self.longest - 1) // 2


def _spans(longest: int) -> _Spans:
    ends = range(1, len(_MIXED_POWERS) + 1)
    pairs = [(end - n, end) for end in ends for n in range(1, min(longest, end) + 1)]
    starts, ends_of = np.array(pairs, dtype=np.intp).T.copy()
    return _Spans(starts, ends_of, (ends_of - starts).astype(np.uint64), longest)


_CHAR_SPANS = _spans(_MAX_NGRAM_CHARS)
_CHAR_INVERSES = _INVERSE_POWERS[_CHAR_SPANS.starts]
_WORD_SPANS = _spans(_MAX_NGRAM_WORDS)


def comparable_text(text: str) -> str:
    """Return a text as the heads see it: one script, lower case, no emoji or punctuation.

    >>> comparable_text("我對海鮮過敏😭！！"), comparable_text("I DON'T eat pork...")
    ('我对海鲜过敏', 'i dont eat pork')
    """
    plain = to_simplified(text[:MAX_CHARS]).lower().translate(_APOSTROPHES)
    return _NOT_SAID.sub(" ", plain).strip()[:MAX_CHARS]


def ngram_buckets(text: str) -> NDArray[np.intp]:
    """Return the buckets of all n-grams of a text; one that occurs twice is there twice."""
    return _buckets_of_start(text[:MAX_CHARS])


@lru_cache(maxsize=_LAST_TEXTS)
def _buckets_of_start(text: str) -> NDArray[np.intp]:
    codes = _codes(comparable_text(text))
    sums = np.zeros(len(codes) + 1, dtype=np.uint64)
    np.cumsum((codes + np.uint64(1)) * _MIXED_POWERS[: len(codes)], out=sums[1:])
    mixed = np.concatenate((_char_hashes(sums), _word_hashes(codes, sums))) * _MIX
    buckets = (mixed ^ (mixed >> np.uint64(29))) * _MIX >> _SHIFT
    buckets.setflags(write=False)
    return buckets.view(np.intp)


def _codes(text: str) -> NDArray[np.uint64]:
    """Return the code points between marks of start and end; digits are one, laughter is short."""
    marked = f"{_START}{text.translate(_ONE_DIGIT)}{_END}".encode("utf-32-le", "replace")
    codes = np.frombuffer(marked, dtype=np.uint32).astype(np.uint64)
    same = codes[1:] == codes[:-1]
    repeats = same[1:] & same[:-1]
    return codes[np.concatenate(([True, True], ~repeats))] if repeats.any() else codes


def _char_hashes(sums: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # One pass over the spans of all lengths: each call of numpy costs more than its work here.
    number = _CHAR_SPANS.count(len(sums) - 1)
    spans = sums[_CHAR_SPANS.ends[:number]] - sums[_CHAR_SPANS.starts[:number]]
    return spans * _CHAR_INVERSES[:number] + _CHAR_SPANS.lengths[:number]


def _word_hashes(codes: NDArray[np.uint64], sums: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the hashes of words between spaces, of pairs and of triples of them."""
    spaces = np.flatnonzero(codes == _SPACE)
    number = _WORD_SPANS.count(len(spaces) - 1)
    starts = spaces[_WORD_SPANS.starts[:number]]
    spans = sums[spaces[_WORD_SPANS.ends[:number]]] - sums[starts]
    hashes: NDArray[np.uint64] = spans * _INVERSE_POWERS[starts] * _WORD_SALT
    return hashes + _WORD_SPANS.lengths[:number]
