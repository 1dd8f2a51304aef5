"""bm25 over an owner's entries, and what the best of them lead to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from plastic_memories.adapters.recall.owner_index import OwnerIndex
from plastic_memories.adapters.recall.postings import Codes, find, frequency
from plastic_memories.rules.fusion import Bools, Floats, Ints, best_first, to_one
from plastic_memories.rules.question import Probe
from plastic_memories.rules.text import WEAK
from plastic_memories.rules.weights import HybridWeights


@dataclass(frozen=True, slots=True)
class Gains:
    """What terms give to entries, term by term: one number for every entry that holds one."""

    sizes: Ints  # how many entries hold each term
    entry: Ints
    gain: Floats
    idf: Floats  # by term

    def summed(self, weights: Floats, size: int) -> Floats:
        """Return what every entry gets when each term counts so much."""
        return _sum(self.entry, np.repeat(weights, self.sizes) * self.gain, size)


class TextIndex:
    """The words of what is seen in one recall.

    All terms are looked up at once: each step costs the same for many.
    """

    def __init__(self, index: OwnerIndex, seen: Bools, weights: HybridWeights) -> None:
        self._index = index
        self.seen = seen
        self.weights = weights
        self._documents = int(np.count_nonzero(seen))
        sizes = index["size"]
        counted = sizes if self._documents == len(sizes) else sizes[seen]
        # Whole numbers are summed as such: their mean would make floats of them first.
        mean = max(int(counted.sum()) / max(self._documents, 1), 1.0)
        norm = sizes * (weights.saturation * weights.length / mean)
        norm += weights.saturation * (1 - weights.length)
        self._norm: Floats = norm

    def __len__(self) -> int:
        return len(self._index)

    def gains(self, terms: Collection[int]) -> Gains:
        """Look up terms; each gives most to short texts that hold it often, if it is rare."""
        codes: Codes = np.fromiter(terms, np.uint32, len(terms))
        sizes, entry, counts = find(self._index.levels, codes)
        idf = self.idf_of(sizes if self.all_seen else self._seen_of(sizes, entry))
        gain = np.repeat(idf * (self.weights.saturation + 1), sizes) * counts
        gain /= counts + self._norm[entry]
        return Gains(sizes, entry, gain, idf)

    def _seen_of(self, sizes: Ints, entry: Ints) -> Ints:
        """Return how many of the entries of each term are seen."""
        term = np.repeat(np.arange(len(sizes)), sizes)
        return np.bincount(term[self.seen[entry]], minlength=len(sizes))

    @property
    def all_seen(self) -> bool:
        return self._documents == len(self._index)

    def terms_of(self, position: int) -> frozenset[int]:
        return frozenset(self._index.codes_of(position).tolist())

    def holding(self, terms: Sequence[int]) -> Ints:
        """Return how many entries hold each of these terms, seen or not."""
        return frequency(self._index.levels, np.array(terms, dtype=np.uint32))

    def idf_of(self, holding: Ints) -> Floats:
        without = np.maximum(0.0, self._documents - holding + 0.5)
        return np.asarray(np.log1p(without / (holding + 0.5)))


class TextScore:
    """The scores of all entries for one question."""

    def __init__(self, texts: TextIndex, probe: Probe) -> None:
        self._texts = texts
        self._probe = probe
        self._weights = texts.weights
        self._found = texts.gains([*probe.terms, *probe.pairs])

    def by_words(self) -> Floats:
        """Return the score for the question's words; those that stand together count again."""
        found, terms = self._found, len(self._probe.terms)
        words = int(found.sizes[:terms].sum())
        gain = found.gain.copy()
        gain[words:] = np.repeat(found.idf[terms:], found.sizes[terms:])
        weights = self._counting(self._probe.terms.values(), self._weights.pairs)
        scores = replace(found, gain=gain).summed(weights, len(self._texts))
        if not self._texts.all_seen:
            scores[~self._texts.seen] = 0.0
        return to_one(scores)

    def linked(self, scores: Floats) -> Floats:
        """Return a score for what the best matches lead to.

        `他几岁` about "the one who works in Shanghai": the best match names him, and leaves the
        age open. So its own telling words are asked for, with the words it leaves open.
        """
        best = [at for at in best_first(scores, self._weights.linked_from) if scores[at] > 0]
        own = [self._texts.terms_of(position) for position in best]
        named = self._named(own)
        leading = [number for number, terms in enumerate(named) if terms]
        if not leading:
            return np.zeros(len(scores))
        best = [best[number] for number in leading]
        reached = self._reached([own[n] for n in leading], [named[n] for n in leading])
        if not self._texts.all_seen:
            reached[:, ~self._texts.seen] = 0.0
        reached[range(len(best)), best] = 0.0
        top = reached.max(axis=1)
        strength = scores[best] / scores[best[0]]
        reached *= (strength / np.where(top > 0, top, 1.0))[:, None]
        found: Floats = reached.max(axis=0)
        return found

    def _reached(
        self, own: Sequence[frozenset[int]], named: Sequence[Mapping[int, float]]
    ) -> Floats:
        """Return a row of scores for each match: for what it names, and for what it leaves open."""
        width = len(self._texts)
        found = self._texts.gains([term for terms in named for term in terms])
        weights = np.array([weight for terms in named for weight in terms.values()])
        rows = np.repeat(np.arange(len(named)) * width, [len(terms) for terms in named])
        entry = np.repeat(rows, found.sizes) + found.entry
        scores = replace(found, entry=entry).summed(weights, len(named) * width)
        scores = scores.reshape(len(named), width)
        for number, known in enumerate(own):
            left_open = [
                0.0 if term in known else weight * self._weights.open_terms
                for term, weight in self._probe.terms.items()
            ]
            scores[number] += self._found.summed(self._counting(left_open, 0.0), width)
        return scores

    def _counting(self, terms: Collection[float], pairs: float) -> Floats:
        """Return how much each term and each pair of the question counts."""
        return np.array([*terms, *[pairs] * len(self._probe.pairs)], np.float64)

    def _named(self, own: Sequence[frozenset[int]]) -> list[dict[int, float]]:
        """Return for each of the best matches the most telling of its words that nobody asked for.

        The rarest of them counts 1, the others as much less as they tell less.
        """
        telling = [
            [term for term in terms if not term & WEAK and term not in self._probe.terms]
            for terms in own
        ]
        every = list({term for terms in telling for term in terms})
        holding = self._texts.holding(every)
        rarity = dict(zip(every, self._texts.idf_of(holding).tolist(), strict=True))
        return [self._rarest(terms, rarity) for terms in telling]

    def _rarest(self, terms: Sequence[int], rarity: Mapping[int, float]) -> dict[int, float]:
        chosen = sorted(terms, key=lambda term: -rarity[term])[: self._weights.linked_terms]
        heaviest = max((rarity[term] for term in chosen), default=0.0) or 1.0
        return {term: rarity[term] / heaviest for term in chosen}


def _sum(places: Ints, gains: Floats, size: int) -> Floats:
    """Add every gain to its place."""
    return np.asarray(np.bincount(places, gains, size), np.float64)
