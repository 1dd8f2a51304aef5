"""bm25 over an owner's entries, and what the best of them lead to."""

from __future__ import annotations

import math
from collections.abc import Mapping

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
        own = self._index.terms_of(position)
        named = [term for term in own.tolist() if not term & WEAK and term not in probe.terms]
        weighed = {term: idf for term in named if (idf := self._idf_of(term)) > 0}
        telling = sorted(weighed, key=lambda term: -weighed[term])[: self.weights.linked_terms]
        if not telling:
            return {}
        heaviest = weighed[telling[0]]
        held = set(own.tolist())
        further = {
            term: weight * self.weights.open_terms
            for term, weight in probe.terms.items()
            if term not in held
        }
        return further | {term: weighed[term] / heaviest for term in telling}

    def _idf_of(self, term: int) -> float:
        self._found(term)
        return self._idf.get(term, 0.0)

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
        holding = int(self._seen[entries].sum())
        if not holding:
            return None
        idf = math.log(1 + (self._documents - holding + 0.5) / (holding + 0.5))
        self._idf[term] = idf
        saturation = self.weights.saturation
        return entries, idf * counts * (saturation + 1) / (counts + self._norm[entries])
