"""Inverted index: sorted postings in levels that are merged like a log-structured merge tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plastic_memories.language.text.tokens import WEAK_TERM_BIT, WORD_TERM_BIT

Codes = NDArray[np.uint32]
Ints = NDArray[np.int64]
_NO_ENTRIES: Ints = np.zeros(0, np.int64)
_NO_COUNTS: NDArray[np.float32] = np.zeros(0, np.float32)


@dataclass(frozen=True, slots=True)
class PostingsLevel:
    """The terms of the entries from `first` up to `end`, sorted by term."""

    first: int
    end: int
    codes: Codes
    starts: Ints
    entries: Ints
    counts: NDArray[np.float32]

    @property
    def nbytes(self) -> int:
        arrays = (self.codes, self.starts, self.entries, self.counts)
        return sum(array.nbytes for array in arrays)

    def posting_spans(self, codes: Codes) -> tuple[Ints, Ints]:
        """Return for each term where its postings start, and how many there are."""
        if not len(self.codes):
            return np.zeros(len(codes), np.int64), np.zeros(len(codes), np.int64)
        at = np.minimum(self.codes.searchsorted(codes), len(self.codes) - 1)
        begin = self.starts[at]
        return begin, np.where(self.codes[at] == codes, self.starts[at + 1] - begin, 0)


def find_postings(
    levels: Sequence[PostingsLevel], codes: Codes
) -> tuple[Ints, Ints, NDArray[np.float32]]:
    """Return the postings of these terms: counts per term, then entries and term frequencies.

    Entries and frequencies are concatenated in the order of the terms.
    """
    spans = [level.posting_spans(codes) for level in levels]
    sizes = sum((size for _, size in spans), start=np.zeros(len(codes), np.int64))
    bounds = [(begin.tolist(), (begin + size).tolist()) for begin, size in spans]
    # Slices of the levels, term by term; most indexes have one level.
    places = [
        (level, start[term], end[term])
        for term in range(len(codes))
        for level, (start, end) in zip(levels, bounds, strict=True)
        if start[term] < end[term]
    ]
    entries = [level.entries[start:end] for level, start, end in places]
    counts = [level.counts[start:end] for level, start, end in places]
    return (
        sizes,
        np.concatenate(entries) if entries else _NO_ENTRIES,
        np.concatenate(counts) if counts else _NO_COUNTS,
    )


def document_frequency(levels: Sequence[PostingsLevel], codes: Codes) -> Ints:
    """Return how many entries contain each of these terms."""
    return sum(
        (level.posting_spans(codes)[1] for level in levels), start=np.zeros(len(codes), np.int64)
    )


def build_level(first: int, codes: Codes, sizes: Ints) -> PostingsLevel:
    """Sort the terms of consecutive entries; `sizes` is the number of terms per entry."""
    entries = np.repeat(np.arange(first, first + len(sizes), dtype=np.uint64), sizes)
    keys = np.concatenate([_posting_keys(codes, entries), _pair_posting_keys(codes, entries)])
    keys, counts = np.unique(keys, return_counts=True)
    by_term = (keys >> np.uint64(32)).astype(np.uint32)
    terms, starts = np.unique(by_term, return_index=True)
    return PostingsLevel(
        first=first,
        end=first + len(sizes),
        codes=terms,
        starts=np.append(starts, len(keys)).astype(np.int64),
        entries=(keys & np.uint64(0xFFFFFFFF)).astype(np.int64),
        counts=counts.astype(np.float32),
    )


def _posting_keys(
    codes: NDArray[np.unsignedinteger], entries: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    return (codes.astype(np.uint64) << np.uint64(32)) | entries


def _pair_posting_keys(codes: Codes, entries: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return pairs of adjacent distinctive words, hashed as in language/questions/question.py."""
    distinctive = (codes & np.uint32(WEAK_TERM_BIT | WORD_TERM_BIT)) == WORD_TERM_BIT
    words, owners = codes[distinctive].astype(np.uint64), entries[distinctive]
    adjacent = owners[:-1] == owners[1:]
    pairs = (words[:-1] * np.uint64(31) + words[1:]) & np.uint64(0xFFFFFFFF)
    pairs |= np.uint64(WEAK_TERM_BIT | WORD_TERM_BIT)
    return _posting_keys(pairs[adjacent], owners[:-1][adjacent])


def add_to_levels(levels: list[PostingsLevel], codes: Codes, offsets: Ints) -> list[PostingsLevel]:
    """Add the entries that no level contains yet, merging levels of similar size.

    `codes` and `offsets` describe all entries. An entry is sorted again only when the total
    doubles, so that adding one memory is cheap even among a hundred thousand.
    """
    total = len(offsets) - 1
    first = levels[-1].end if levels else 0
    if first == total:
        return levels
    remaining = list(levels)
    while remaining and remaining[-1].end - remaining[-1].first <= 2 * (total - first):
        first = remaining.pop().first
    span = slice(offsets[first], offsets[total])
    return [*remaining, build_level(first, codes[span], np.diff(offsets[first:]))]
