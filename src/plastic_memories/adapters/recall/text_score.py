"""BM25 over an owner's entries, and scores of entries linked to the best matches."""

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

# Matches with a lower score than this link to nothing.
_MIN_LINK_SCORE = 0.3


@dataclass(frozen=True, slots=True)
class TermGains:
    """BM25 gains term by term: one gain for every posting."""

    sizes: Ints  # number of postings per term
    entry: Ints
    gain: Floats
    idf: Floats  # by term

    def weighted_gains(self, weights: Sequence[float]) -> Floats:
        """Return the gains with each term's gains multiplied by its weight."""
        return self.gain * np.repeat(np.array(weights, np.float64), self.sizes)


class VisibleTextIndex:
    """The text of the visible entries, for one recall.

    All terms are looked up at once: each numpy call costs about the same for many terms.
    """

    def __init__(self, index: OwnerIndex, sight: VisibleEntries, weights: HybridWeights) -> None:
        self._index = index
        self.sight = sight
        self.weights = weights
        about = (sight, weights.saturation, weights.length)
        self._norm = index.memoize("norm", about, self._length_norms)

    def _length_norms(self) -> Floats:
        """Return the BM25 length normalisation of each entry."""
        sizes, weights = self._index["size"], self.weights
        counted = sizes if self.sight.is_everything else sizes[self.sight.mask]
        # Integers are summed as integers: `mean` would convert them to floats first.
        mean = max(int(counted.sum()) / max(self.sight.number, 1), 1.0)
        norm: Floats = sizes * (weights.saturation * weights.length / mean)
        norm += weights.saturation * (1 - weights.length)
        return norm

    def __len__(self) -> int:
        return len(self._index)

    def gains(self, terms: Collection[int]) -> TermGains:
        """Return BM25 gains: highest for rare terms that are frequent in short texts."""
        codes: Codes = np.fromiter(terms, np.uint32, len(terms))
        sizes, entry, counts = find_postings(self._index.levels, codes)
        idf = self.idf_weights(
            sizes if self.sight.is_everything else self._visible_counts(sizes, entry)
        )
        gain = np.repeat(idf * (self.weights.saturation + 1), sizes) * counts
        gain /= counts + self._norm[entry]
        return TermGains(sizes, entry, gain, idf)

    def _visible_counts(self, sizes: Ints, entry: Ints) -> Ints:
        """Return how many postings of each term are visible."""
        term = np.repeat(np.arange(len(sizes)), sizes)
        return np.bincount(term[self.sight.mask[entry]], minlength=len(sizes))

    def terms_of(self, positions: Sequence[int]) -> list[frozenset[int]]:
        return [frozenset(codes.tolist()) for codes in self._index.term_codes_at_each(positions)]

    def document_counts(self, terms: Sequence[int]) -> Ints:
        """Return how many entries contain each of these terms, visible or not."""
        return document_frequency(self._index.levels, np.array(terms, dtype=np.uint32))

    def idf_weights(self, counts: Ints) -> Floats:
        without = np.maximum(0.0, self.sight.number - counts + 0.5)
        return np.asarray(np.log1p(without / (counts + 0.5)))


class TextScore:
    """The text scores of all entries for one question."""

    def __init__(self, texts: VisibleTextIndex, probe: Probe) -> None:
        self._texts = texts
        self._probe = probe
        self._weights = texts.weights
        self._found = texts.gains([*probe.terms, *probe.pairs])

    def word_scores(self, covering: float) -> Floats:
        """Return scores for the question's terms; adjacent words count extra.

        The fewer of the terms the best match contains, the lower all text scores: `covering` is
        the exponent.
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
        """Return scores for entries linked to the best matches.

        `他几岁` about "the one who works in Shanghai": the best match names him, but not his age.
        So its own distinctive terms are searched, with the question's terms that it lacks.
        """
        best = [
            position
            for position in top_positions(scores, self._weights.linked_sources)
            if scores[position] > _MIN_LINK_SCORE
        ]
        own = self._texts.terms_of(best)
        sources = [
            (position, terms, new_terms)
            for position, terms, new_terms in zip(best, own, self._new_terms_of(own), strict=True)
            if new_terms
        ]
        linked = np.zeros(len(scores))
        rows = self._linked_match_scores(
            [terms for _, terms, _ in sources], [new_terms for *_, new_terms in sources]
        )
        for (position, *_), row in zip(sources, rows, strict=True):
            row[position] = 0.0
            top = float(row.max())
            if top > 0:
                strength = scores[position] / scores[sources[0][0]]
                np.maximum(linked, row * (strength / top), out=linked)
        return linked

    def _linked_match_scores(
        self, own: Sequence[frozenset[int]], named: Sequence[Mapping[int, float]]
    ) -> Iterator[Floats]:
        """Yield scores for each match: for its new terms, and for the terms it lacks."""
        found = self._texts.gains([term for terms in named for term in terms])
        gain = found.weighted_gains([weight for terms in named for weight in terms.values()])
        open_entry, open_gain = self._uncovered_term_gains(own)
        ends = [0, *np.cumsum(found.sizes).tolist()]
        first = 0
        for terms, uncovered in zip(named, open_gain, strict=True):
            span = slice(ends[first], ends[first + len(terms)])
            first += len(terms)
            entry = np.concatenate([found.entry[span], open_entry])
            gains = np.concatenate([gain[span], uncovered])
            yield self._zero_invisible(_sum_by_entry(entry, gains, len(self._texts)))

    def _uncovered_term_gains(self, own: Sequence[frozenset[int]]) -> tuple[Ints, Floats]:
        """Return the gains of the question's terms; for each match only of those it lacks."""
        terms, found = self._probe.terms, self._found
        sizes = found.sizes[: len(terms)]
        counts = [
            [0.0 if term in terms_of_match else weight for term, weight in terms.items()]
            for terms_of_match in own
        ]
        words = int(sizes.sum())
        weights = self._weights.open_terms * np.array(counts).reshape(len(own), len(terms))
        return found.entry[:words], found.gain[:words] * np.repeat(weights, sizes, axis=1)

    def _zero_invisible(self, scores: Floats) -> Floats:
        """Set the scores of invisible entries to zero."""
        if not self._texts.sight.is_everything:
            scores[~self._texts.sight.mask] = 0.0
        return scores

    def _new_terms_of(self, own: Sequence[frozenset[int]]) -> list[dict[int, float]]:
        """Return for each of the best matches its most distinctive terms not in the question.

        The rarest has weight 1, the others less in proportion to their rarity.
        """
        new_terms = [
            [term for term in terms if not term & WEAK_TERM_BIT and term not in self._probe.terms]
            for terms in own
        ]
        all_terms = list({term for terms in new_terms for term in terms})
        counts = self._texts.document_counts(all_terms)
        rarity = dict(zip(all_terms, self._texts.idf_weights(counts).tolist(), strict=True))
        return [self._rarest_terms(terms, rarity) for terms in new_terms]

    def _rarest_terms(self, terms: Sequence[int], rarity: Mapping[int, float]) -> dict[int, float]:
        chosen = sorted(terms, key=lambda term: -rarity[term])[: self._weights.linked_terms]
        max_rarity = max((rarity[term] for term in chosen), default=0.0) or 1.0
        return {term: rarity[term] / max_rarity for term in chosen}


def _sum_by_entry(entries: Ints, gains: Floats, size: int) -> Floats:
    """Return the sum of gains per entry."""
    return np.asarray(np.bincount(entries, gains, size), np.float64)
