"""Which entries hold which terms: sorted arrays, added to like the levels of a log-merge tree."""

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
        """Return where the entries that hold each of these terms begin, and how many they are."""
        if not len(self.codes):
            return np.zeros(len(codes), np.int64), np.zeros(len(codes), np.int64)
        at = np.minimum(self.codes.searchsorted(codes), len(self.codes) - 1)
        begin = self.starts[at]
        return begin, np.where(self.codes[at] == codes, self.starts[at + 1] - begin, 0)


def find_postings(
    levels: Sequence[PostingsLevel], codes: Codes
) -> tuple[Ints, Ints, NDArray[np.float32]]:
    """Return the entries that hold these terms, term by term.

    For each term how many there are; then which they are, and how often they hold it.
    """
    spans = [level.posting_spans(codes) for level in levels]
    sizes = sum((held for _, held in spans), start=np.zeros(len(codes), np.int64))
    bounds = [(begin.tolist(), (begin + held).tolist()) for begin, held in spans]
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
    """Return how many entries hold each of these terms."""
    return sum(
        (level.posting_spans(codes)[1] for level in levels), start=np.zeros(len(codes), np.int64)
    )


def build_level(first: int, codes: Codes, sizes: Ints) -> PostingsLevel:
    """Sort the terms of consecutive entries; `sizes` says how many belong to each."""
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
    """Return the pairs of distinctive words in a row, as language/questions/question.py does."""
    telling = (codes & np.uint32(WEAK_TERM_BIT | WORD_TERM_BIT)) == WORD_TERM_BIT
    words, owners = codes[telling].astype(np.uint64), entries[telling]
    together = owners[:-1] == owners[1:]
    pairs = (words[:-1] * np.uint64(31) + words[1:]) & np.uint64(0xFFFFFFFF)
    pairs |= np.uint64(WEAK_TERM_BIT | WORD_TERM_BIT)
    return _posting_keys(pairs[together], owners[:-1][together])


def add_to_levels(levels: list[PostingsLevel], codes: Codes, offsets: Ints) -> list[PostingsLevel]:
    """Add the entries that no level holds yet, merging levels of about one size.

    `codes` and `offsets` describe all entries. Every entry is sorted again only as often as the
    whole doubles, so that one new memory costs next to nothing, even among a hundred thousand.
    """
    total = len(offsets) - 1
    first = levels[-1].end if levels else 0
    if first == total:
        return levels
    kept = list(levels)
    while kept and kept[-1].end - kept[-1].first <= 2 * (total - first):
        first = kept.pop().first
    span = slice(offsets[first], offsets[total])
    return [*kept, build_level(first, codes[span], np.diff(offsets[first:]))]
