"""bm25 over an owner's entries, and what the best of them lead to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plastic_memories.adapters.recall.owner_index import OwnerIndex
from plastic_memories.adapters.recall.postings import Codes
from plastic_memories.rules.fusion import Bools, Floats, Ints, best_first, to_one
from plastic_memories.rules.question import Probe
from plastic_memories.rules.text import WEAK
from plastic_memories.rules.weights import HybridWeights

# What a partition without entries holds: no terms, no entries, no counts.
_NOTHING = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))


@dataclass(frozen=True, slots=True)
class _Gains:
    """What terms give to entries: one number for every entry that holds one of them."""

    term: Ints  # which of the terms that were asked for
    entry: Ints
    gain: Floats
    idf: Floats  # by term


class TextScore:
    """Scores for one recall. All terms are looked up at once: each step costs the same for many."""

    def __init__(self, index: OwnerIndex, seen: Bools, weights: HybridWeights) -> None:
        self._index = index
        self._seen = seen
        self.weights = weights
        self._documents = int(np.count_nonzero(seen))
        sizes = index["size"]
        counted = sizes if self._documents == len(sizes) else sizes[seen]
        mean = float(counted.mean()) if self._documents else 1.0
        relative = sizes / max(mean, 1.0)
        self._norm = weights.saturation * (1 - weights.length + weights.length * relative)

    def of(self, terms: Mapping[int, float]) -> Floats:
        """Return the bm25 score of every entry for weighted terms."""
        found = self._gains(terms)
        weights = np.fromiter(terms.values(), np.float64, len(terms))
        return _sum(found.entry, weights[found.term] * found.gain, len(self._index))

    def of_probe(self, probe: Probe) -> Floats:
        """Return the score for a question, words that stand together counted again."""
        terms = len(probe.terms)
        found = self._gains([*probe.terms, *probe.pairs])
        weights = np.full(terms + len(probe.pairs), self.weights.pairs)
        weights[:terms] = list(probe.terms.values())
        gain = np.where(found.term < terms, found.gain, found.idf[found.term])
        scores = _sum(found.entry, weights[found.term] * gain, len(self._index))
        return to_one(np.where(self._seen, scores, 0.0))

    def linked(self, probe: Probe, scores: Floats) -> Floats:
        """Return a score for what the best matches lead to.

        `他几岁` about "the one who works in Shanghai": the best match names him, and leaves the
        age open. So its own telling words are asked for, with the words it leaves open.
        """
        best = [at for at in best_first(scores, self.weights.linked_from) if scores[at] > 0]
        further = self._further(probe, best)
        best = [at for at, terms in zip(best, further, strict=True) if terms]
        if not best:
            return np.zeros(len(scores))
        reached = self._reached([terms for terms in further if terms])
        if self._documents < len(scores):
            reached[:, ~self._seen] = 0.0
        reached[range(len(best)), best] = 0.0
        top = reached.max(axis=1)
        strength = scores[best] / scores[best[0]]
        reached *= (strength / np.where(top > 0, top, 1.0))[:, None]
        found: Floats = reached.max(axis=0)
        return found

    def _reached(self, questions: Sequence[Mapping[int, float]]) -> Floats:
        """Return the scores of every entry for several questions, a row for each."""
        codes = [term for terms in questions for term in terms]
        weights = np.array([weight for terms in questions for weight in terms.values()])
        rows = np.repeat(range(len(questions)), [len(terms) for terms in questions])
        found, width = self._gains(codes), len(self._index)
        places = rows[found.term] * width + found.entry
        scores = _sum(places, weights[found.term] * found.gain, len(questions) * width)
        return scores.reshape(len(questions), width)

    def _further(self, probe: Probe, positions: Sequence[int]) -> list[dict[int, float]]:
        """Return for each of the best matches what to ask for next; nothing if it names nothing."""
        own = [frozenset(self._index.codes_of(position).tolist()) for position in positions]
        named = [
            [term for term in terms if not term & WEAK and term not in probe.terms] for terms in own
        ]
        holding = self._holding([term for terms in named for term in terms])
        found = []
        for terms, telling in zip(own, named, strict=True):
            weighed = self._rarest(telling, holding[: len(telling)])
            holding = holding[len(telling) :]
            found.append(self._asked_next(probe, terms, weighed))
        return found

    def _asked_next(
        self, probe: Probe, own: frozenset[int], weighed: Mapping[int, float]
    ) -> dict[int, float]:
        if not weighed:
            return {}
        heaviest = max(weighed.values())
        further = {
            term: weight * self.weights.open_terms
            for term, weight in probe.terms.items()
            if term not in own
        }
        return further | {term: weight / heaviest for term, weight in weighed.items()}

    def _holding(self, terms: Sequence[int]) -> Ints:
        """Return how many entries hold each of these terms."""
        codes = np.array(terms, dtype=np.uint32)
        holding = np.zeros(len(codes), np.int64)
        for level in self._index.levels:
            holding += level.frequency(codes)
        return holding

    def _rarest(self, terms: Sequence[int], holding: Ints) -> dict[int, float]:
        """Return the most telling of these terms with how much they tell."""
        rarest = holding.argsort(kind="stable")[: self.weights.linked_terms]
        telling = self._idf_of(holding[rarest]).tolist()
        return dict(zip([terms[number] for number in rarest.tolist()], telling, strict=True))

    def _idf_of(self, holding: Ints) -> Floats:
        without = np.maximum(0.0, self._documents - holding + 0.5)
        return np.asarray(np.log1p(without / (holding + 0.5)))

    def _gains(self, terms: Mapping[int, float] | Sequence[int]) -> _Gains:
        codes: Codes = np.fromiter(terms, np.uint32, len(terms))
        found = [_NOTHING, *(level.find(codes) for level in self._index.levels)]
        term, entry, counts = (np.concatenate(part) for part in zip(*found, strict=True))
        holding = np.bincount(term[self._seen[entry]], minlength=len(codes))
        idf = self._idf_of(holding)
        saturation = self.weights.saturation
        gain = idf[term] * counts * (saturation + 1) / (counts + self._norm[entry])
        return _Gains(term, entry, gain, idf)


def _sum(places: Ints, gains: Floats, size: int) -> Floats:
    """Add every gain to its place."""
    return np.asarray(np.bincount(places, gains, size), np.float64)
