"""bm25 over an owner's entries, and what the best of them lead to."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plastic_memories.adapters.recall.owner_index import OwnerIndex
from plastic_memories.adapters.recall.postings import Codes, document_frequency, find_postings
from plastic_memories.adapters.recall.visibility import VisibleEntries
from plastic_memories.language.questions.question import Probe
from plastic_memories.language.text.tokens import WEAK_TERM_BIT
from plastic_memories.rules.ranking.hybrid_weights import HybridWeights
from plastic_memories.rules.ranking.score_parts import (
    Floats,
    Ints,
    scaled_by_coverage,
    top_positions,
)

# What bears less on the question than this leads nowhere.
_MIN_LINK_SCORE = 0.3


@dataclass(frozen=True, slots=True)
class TermGains:
    """What terms give to entries, term by term: one number for every entry that holds one."""

    sizes: Ints  # how many entries hold each term
    entry: Ints
    gain: Floats
    idf: Floats  # by term

    def weighted_gains(self, weights: Sequence[float]) -> Floats:
        """Return the gains when each term counts so much."""
        return self.gain * np.repeat(np.array(weights, np.float64), self.sizes)


class VisibleTextIndex:
    """The words of what is seen in one recall.

    All terms are looked up at once: each step costs the same for many.
    """

    def __init__(self, index: OwnerIndex, sight: VisibleEntries, weights: HybridWeights) -> None:
        self._index = index
        self.sight = sight
        self.weights = weights
        about = (sight, weights.saturation, weights.length)
        self._norm = index.memoize("norm", about, self._length_norms)

    def _length_norms(self) -> Floats:
        """Return how much its length is held against each text."""
        sizes, weights = self._index["size"], self.weights
        counted = sizes if self.sight.is_everything else sizes[self.sight.mask]
        # Whole numbers are summed as such: their mean would make floats of them first.
        mean = max(int(counted.sum()) / max(self.sight.number, 1), 1.0)
        norm: Floats = sizes * (weights.saturation * weights.length / mean)
        norm += weights.saturation * (1 - weights.length)
        return norm

    def __len__(self) -> int:
        return len(self._index)

    def gains(self, terms: Collection[int]) -> TermGains:
        """Look up terms; each gives most to short texts that hold it often, if it is rare."""
        codes: Codes = np.fromiter(terms, np.uint32, len(terms))
        sizes, entry, counts = find_postings(self._index.levels, codes)
        idf = self.idf_weights(
            sizes if self.sight.is_everything else self._visible_counts(sizes, entry)
        )
        gain = np.repeat(idf * (self.weights.saturation + 1), sizes) * counts
        gain /= counts + self._norm[entry]
        return TermGains(sizes, entry, gain, idf)

    def _visible_counts(self, sizes: Ints, entry: Ints) -> Ints:
        """Return how many of the entries of each term are seen."""
        term = np.repeat(np.arange(len(sizes)), sizes)
        return np.bincount(term[self.sight.mask[entry]], minlength=len(sizes))

    def terms_of(self, positions: Sequence[int]) -> list[frozenset[int]]:
        return [frozenset(codes.tolist()) for codes in self._index.term_codes_at_each(positions)]

    def document_counts(self, terms: Sequence[int]) -> Ints:
        """Return how many entries hold each of these terms, seen or not."""
        return document_frequency(self._index.levels, np.array(terms, dtype=np.uint32))

    def idf_weights(self, holding: Ints) -> Floats:
        without = np.maximum(0.0, self.sight.number - holding + 0.5)
        return np.asarray(np.log1p(without / (holding + 0.5)))


class TextScore:
    """The scores of all entries for one question."""

    def __init__(self, texts: VisibleTextIndex, probe: Probe) -> None:
        self._texts = texts
        self._probe = probe
        self._weights = texts.weights
        self._found = texts.gains([*probe.terms, *probe.pairs])

    def word_scores(self, covering: float) -> Floats:
        """Return the score for the question's words; those that stand together count again.

        The less of the question even the best match holds, the less words are relied on:
        `covering` says how much less.
        """
        found, terms = self._found, len(self._probe.terms)
        words = int(found.sizes[:terms].sum())
        weights = [*self._probe.terms.values(), *[0.0] * len(self._probe.pairs)]
        gain = found.weighted_gains(weights)
        of_pairs = self._weights.pairs * found.idf[terms:]
        gain[words:] = np.repeat(of_pairs, found.sizes[terms:])
        scores = self._zero_invisible(_sum_by_entry(found.entry, gain, len(self._texts)))
        return scaled_by_coverage(scores, float(found.idf @ weights), covering)

    def linked_scores(self, scores: Floats) -> Floats:
        """Return a score for what the best matches lead to.

        `他几岁` about "the one who works in Shanghai": the best match names him, and leaves the
        age open. So its own telling words are asked for, with the words it leaves open.
        """
        best = [
            at
            for at in top_positions(scores, self._weights.linked_sources)
            if scores[at] > _MIN_LINK_SCORE
        ]
        own = self._texts.terms_of(best)
        leading = [
            (position, known, named)
            for position, known, named in zip(best, own, self._new_terms_of(own), strict=True)
            if named
        ]
        found = np.zeros(len(scores))
        rows = self._linked_match_scores(
            [known for _, known, _ in leading], [named for *_, named in leading]
        )
        for (position, *_), row in zip(leading, rows, strict=True):
            row[position] = 0.0
            top = float(row.max())
            if top > 0:
                strength = scores[position] / scores[leading[0][0]]
                np.maximum(found, row * (strength / top), out=found)
        return found

    def _linked_match_scores(
        self, own: Sequence[frozenset[int]], named: Sequence[Mapping[int, float]]
    ) -> Iterator[Floats]:
        """Yield scores for each match: for what it names, and for what it leaves open."""
        found = self._texts.gains([term for terms in named for term in terms])
        gain = found.weighted_gains([weight for terms in named for weight in terms.values()])
        open_entry, open_gain = self._uncovered_term_gains(own)
        ends = [0, *np.cumsum(found.sizes).tolist()]
        first = 0
        for terms, left_open in zip(named, open_gain, strict=True):
            span = slice(ends[first], ends[first + len(terms)])
            first += len(terms)
            entry = np.concatenate([found.entry[span], open_entry])
            gains = np.concatenate([gain[span], left_open])
            yield self._zero_invisible(_sum_by_entry(entry, gains, len(self._texts)))

    def _uncovered_term_gains(self, own: Sequence[frozenset[int]]) -> tuple[Ints, Floats]:
        """Return what the question's words give to entries; for each match those it lacks."""
        terms, found = self._probe.terms, self._found
        sizes = found.sizes[: len(terms)]
        counts = [
            [0.0 if term in known else weight for term, weight in terms.items()] for known in own
        ]
        words = int(sizes.sum())
        weights = self._weights.open_terms * np.array(counts).reshape(len(own), len(terms))
        return found.entry[:words], found.gain[:words] * np.repeat(weights, sizes, axis=1)

    def _zero_invisible(self, scores: Floats) -> Floats:
        """Take its score from what is not seen."""
        if not self._texts.sight.is_everything:
            scores[~self._texts.sight.mask] = 0.0
        return scores

    def _new_terms_of(self, own: Sequence[frozenset[int]]) -> list[dict[int, float]]:
        """Return for each of the best matches the most telling of its words that nobody asked for.

        The rarest of them counts 1, the others as much less as they tell less.
        """
        telling = [
            [term for term in terms if not term & WEAK_TERM_BIT and term not in self._probe.terms]
            for terms in own
        ]
        every = list({term for terms in telling for term in terms})
        holding = self._texts.document_counts(every)
        rarity = dict(zip(every, self._texts.idf_weights(holding).tolist(), strict=True))
        return [self._rarest_terms(terms, rarity) for terms in telling]

    def _rarest_terms(self, terms: Sequence[int], rarity: Mapping[int, float]) -> dict[int, float]:
        chosen = sorted(terms, key=lambda term: -rarity[term])[: self._weights.linked_terms]
        heaviest = max((rarity[term] for term in chosen), default=0.0) or 1.0
        return {term: rarity[term] / heaviest for term in chosen}


def _sum_by_entry(places: Ints, gains: Floats, size: int) -> Floats:
    """Add every gain to its place."""
    return np.asarray(np.bincount(places, gains, size), np.float64)
