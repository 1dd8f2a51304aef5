"""From scores to an order: the best first, what repeats another further back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plastic_memories.adapters.recall.owner_index import OwnerIndex
from plastic_memories.adapters.recall.scoring import EntryScores
from plastic_memories.rules.ranking.hybrid_weights import HybridWeights
from plastic_memories.rules.ranking.score_parts import Floats, Ints, duplicate_rows

# What is not seen scores less than any number.
_LOWEST_SCORE = float(np.finfo(np.float64).min)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Positions in the order they are returned, best first.

    `near` says which of them stand behind a better one because they tell nearly the same. That is
    enough to stand further back, never to be left out.
    """

    order: Sequence[int]
    scores: EntryScores
    near_duplicates: Mapping[int, int]


def rank_positions(
    index: OwnerIndex, scores: EntryScores, weights: HybridWeights, wanted: int
) -> Ranking:
    """Return the best positions that something speaks for."""
    best = _top_positions(scores.total, max(wanted, weights.candidates_compared))
    found = best[scores.is_found(best)].tolist()
    looked_at = found[: weights.candidates_compared]
    words, meaning = _term_overlaps(index, looked_at), index.vectors.pairwise_similarity(looked_at)
    nearly = (words >= weights.duplicate_term_overlap) | (meaning >= weights.duplicate_similarity)
    near = {looked_at[one]: looked_at[other] for one, other in duplicate_rows(nearly).items()}
    if near:
        scores.apply_factor([*near], weights.repeat_factor)
        # Equals keep their order, so that a repeat never stands before its first.
        found.sort(key=lambda position: -scores.total[position])
    return Ranking(found, scores, near)


def _term_overlaps(index: OwnerIndex, positions: Sequence[int]) -> Floats:
    """Return for every two of these entries the share of terms they have in common."""
    terms = index.term_codes_at_each(positions)
    if not terms:
        return np.zeros((0, 0))
    every = np.concatenate(terms)
    # Each term has the column where it would stand first; the others stay empty.
    column = np.sort(every).searchsorted(every)
    holds = np.zeros((len(terms), len(every)), np.float32)
    holds[np.repeat(np.arange(len(terms)), [len(some) for some in terms]), column] = 1.0
    common = holds @ holds.T
    sizes = holds.sum(axis=1)
    return np.asarray(common / np.maximum(sizes[:, None] + sizes - common, 1.0), np.float64)


def _top_positions(scores: Floats, number: int) -> Ints:
    """Return the positions of the best, best first; the later of two equals first."""
    least = _LOWEST_SCORE
    if number < len(scores):
        least = max(least, np.partition(scores, len(scores) - number)[len(scores) - number])
    some = np.flatnonzero(scores >= least)
    return some[np.lexsort((-some, -scores[some]))][:number]
