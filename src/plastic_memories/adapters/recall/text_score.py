"""bm25 over an owner's entries, and what the best of them lead to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from plastic_memories.adapters.recall.owner_index import OwnerIndex
from plastic_memories.rules.fusion import Floats, to_one
from plastic_memories.rules.question import Probe
from plastic_memories.rules.text import WEAK
from plastic_memories.rules.weights import HybridWeights

Found = tuple[NDArray[np.int64], NDArray[np.float64]]


class TextScore:
    """Scores for one recall; what a term contributes is worked out once."""

    def __init__(self, index: OwnerIndex, seen: NDArray[np.bool_], weights: HybridWeights) -> None:
        self._index = index
        self._seen = seen
        self.weights = weights
        self._known: dict[int, Found | None] = {}
        self._idf: dict[int, float] = {}
        sizes = index["size"]
        mean = float(sizes[seen].mean()) if seen.any() else 1.0
        relative = sizes / max(mean, 1.0)
        self._norm = weights.saturation * (1 - weights.length + weights.length * relative)
        self._documents = int(seen.sum())

    def of(self, terms: Mapping[int, float]) -> Floats:
        """Return the bm25 score of every entry for weighted terms."""
        scores = np.zeros(len(self._index))
        for term, weight in terms.items():
            found = self._found(term)
            if found is not None:
                scores[found[0]] += weight * found[1]
        return scores

    def of_probe(self, probe: Probe) -> Floats:
        """Return the score for a question, words that stand together counted again."""
        scores = self.of(probe.terms)
        for pair in probe.pairs:
            found = self._found(pair)
            if found is not None:
                scores[found[0]] += self.weights.pairs * self._idf[pair]
        return to_one(np.where(self._seen, scores, 0.0))

    def linked(self, probe: Probe, scores: Floats) -> Floats:
        """Return a score for what the best matches lead to.

        `他几岁` about "the one who works in Shanghai": the best match names him, and leaves the
        age open. So its own telling words are asked for, with the words it leaves open.
        """
        best = np.argsort(-scores, kind="stable")[: self.weights.linked_from]
        top = float(scores[best[0]]) if best.size else 0.0
        found = np.zeros(len(self._index))
        if top <= 0:
            return found
        for position in best:
            strength = max(0.0, float(scores[position])) / top
            further = self._further(probe, int(position))
            if strength > 0 and further:
                reached = np.where(self._seen, self.of(further), 0.0)
                reached[position] = 0.0
                found = np.maximum(found, strength * to_one(reached))
        return found

    def _further(self, probe: Probe, position: int) -> dict[int, float]:
        own = frozenset(self._index.codes_of(position).tolist())
        named = [term for term in own if not term & WEAK and term not in probe.terms]
        weighed = self._rarest(named)
        if not weighed:
            return {}
        heaviest = max(weighed.values())
        further = {
            term: weight * self.weights.open_terms
            for term, weight in probe.terms.items()
            if term not in own
        }
        return further | {term: weight / heaviest for term, weight in weighed.items()}

    def _rarest(self, terms: Sequence[int]) -> dict[int, float]:
        """Return the most telling of these terms with how much they tell."""
        codes = np.array(terms, dtype=np.uint32)
        holding = np.zeros(len(codes), np.int64)
        for level in self._index.levels:
            holding += level.frequency(codes)
        rarest = np.argsort(holding, kind="stable")[: self.weights.linked_terms]
        return {terms[number]: self._idf_of(int(holding[number])) for number in rarest}

    def _idf_of(self, holding: int) -> float:
        return math.log(1 + max(0.0, self._documents - holding + 0.5) / (holding + 0.5))

    def _found(self, term: int) -> Found | None:
        if term not in self._known:
            self._known[term] = self._look_up(term)
        return self._known[term]

    def _look_up(self, term: int) -> Found | None:
        parts = [part for level in self._index.levels if (part := level.find(term))]
        if not parts:
            return None
        entries = np.concatenate([part[0] for part in parts])
        counts = np.concatenate([part[1] for part in parts]).astype(np.float64)
        holding = int(np.count_nonzero(self._seen[entries]))
        if not holding:
            return None
        idf = self._idf_of(holding)
        self._idf[term] = idf
        saturation = self.weights.saturation
        return entries, idf * counts * (saturation + 1) / (counts + self._norm[entries])
