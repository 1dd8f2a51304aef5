"""From scores to an order: the best first, what repeats another last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from plastic_memories.adapters.recall.owner_index import OwnerIndex
from plastic_memories.adapters.recall.scoring import Scores
from plastic_memories.rules.fusion import Floats, repeats_last
from plastic_memories.rules.weights import HybridWeights


@dataclass(frozen=True, slots=True)
class Ranked:
    """Positions in the order they are returned, best first, and what they repeat."""

    order: Sequence[int]
    repeated: dict[int, int]
    scores: Scores


def ordered(index: OwnerIndex, scores: Scores, weights: HybridWeights, wanted: int) -> Ranked:
    """Return the best positions that something speaks for."""
    best = _largest(scores.total, max(wanted, weights.looked_at))
    found = [position for position in best if scores.found_by(position)]
    looked_at = found[: weights.looked_at]
    order, repeated = repeats_last(looked_at, _sameness(index, looked_at, weights))
    firsts = order[: len(order) - len(repeated)]
    # What was moved back scores no more than what now stands before it.
    ceiling = min((scores.total[position] for position in firsts), default=0.0)
    for position in repeated:
        scores.lower(position, float(ceiling))
    return Ranked([*order, *found[len(looked_at) :]], repeated, scores)


def _sameness(
    index: OwnerIndex, positions: Sequence[int], weights: HybridWeights
) -> Callable[[int, int], bool]:
    """Return what says whether two of these entries tell the same, by words or by meaning."""
    words = {position: index.terms_of(position) for position in positions}
    near = index.vectors.alike(positions)
    row = {position: number for number, position in enumerate(positions)}

    def same(one: int, other: int) -> bool:
        if near[row[one], row[other]] >= weights.same_meaning:
            return True
        common = len(words[one] & words[other])
        every = len(words[one]) + len(words[other]) - common
        return common >= weights.same_words * every

    return same


def _largest(scores: Floats, number: int) -> list[int]:
    """Return the positions of the best, best first; the later of two equals first."""
    if number < len(scores):
        some = np.argpartition(-scores, number)[:number]
    else:
        some = np.arange(len(scores))
    order = some[np.lexsort((-some, -scores[some]))]
    return [int(position) for position in order if np.isfinite(scores[position])]
