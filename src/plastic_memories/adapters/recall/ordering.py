"""Rank scored entries: best first, near duplicates moved back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plastic_memories.adapters.recall.owner_index import OwnerIndex
from plastic_memories.adapters.recall.scoring import MATCH_THRESHOLDS, EntryScores
from plastic_memories.rules.ranking.hybrid_weights import HybridWeights
from plastic_memories.rules.ranking.score_parts import Floats, Ints, duplicate_rows

# Invisible entries score below any finite number.
_LOWEST_SCORE = float(np.finfo(np.float64).min)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Positions in the order they are returned, best first.

    `near_duplicates` maps an entry to the better one that says nearly the same. It is moved
    back for that, but never left out.
    """

    order: Sequence[int]
    scores: EntryScores
    near_duplicates: Mapping[int, int]


def rank_positions(
    index: OwnerIndex,
    scores: EntryScores,
    weights: HybridWeights,
    wanted: int,
    found_above: Mapping[str, float] = MATCH_THRESHOLDS,
) -> Ranking:
    """Return the best positions that at least one search found."""
    best = _top_positions(scores.total, max(wanted, weights.candidates_compared))
    found = best[scores.is_found(best, found_above)].tolist()
    compared = found[: weights.candidates_compared]
    words, meaning = _term_overlaps(index, compared), index.vectors.pairwise_similarity(compared)
    similar = (words >= weights.duplicate_term_overlap) | (meaning >= weights.duplicate_similarity)
    near_duplicates = {
        compared[duplicate]: compared[original]
        for duplicate, original in duplicate_rows(similar).items()
    }
    if near_duplicates:
        scores.apply_factor([*near_duplicates], weights.repeat_factor)
        # The sort is stable, so that a duplicate never comes before its original.
        found.sort(key=lambda position: -scores.total[position])
    return Ranking(found, scores, near_duplicates)


def _term_overlaps(index: OwnerIndex, positions: Sequence[int]) -> Floats:
    """Return for every two of these entries the share of terms they have in common."""
    terms = index.term_codes_at_each(positions)
    if not terms:
        return np.zeros((0, 0))
    all_terms = np.concatenate(terms)
    # A term's column is its first position in sorted order; the other columns stay empty.
    column = np.sort(all_terms).searchsorted(all_terms)
    has_term = np.zeros((len(terms), len(all_terms)), np.float32)
    has_term[np.repeat(np.arange(len(terms)), [len(codes) for codes in terms]), column] = 1.0
    common = has_term @ has_term.T
    sizes = has_term.sum(axis=1)
    return np.asarray(common / np.maximum(sizes[:, None] + sizes - common, 1.0), np.float64)


def _top_positions(scores: Floats, number: int) -> Ints:
    """Return the positions of the best, best first; of equal scores the later position first."""
    threshold = _LOWEST_SCORE
    if number < len(scores):
        threshold = max(threshold, np.partition(scores, len(scores) - number)[len(scores) - number])
    candidates = np.flatnonzero(scores >= threshold)
    return candidates[np.lexsort((-candidates, -scores[candidates]))][:number]
