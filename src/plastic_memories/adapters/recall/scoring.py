"""All score parts of every entry, for one recall."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from plastic_memories.adapters.recall.owner_index import OwnerIndex
from plastic_memories.adapters.recall.text_score import TextScore, VisibleTextIndex
from plastic_memories.adapters.recall.visibility import VisibleEntries
from plastic_memories.language.questions.person_names import PersonName, aliased_terms
from plastic_memories.language.questions.question import ParsedQuestion
from plastic_memories.language.text.background_sentences import BACKGROUND_WEIGHT
from plastic_memories.language.text.tokens import normalise_script
from plastic_memories.ports.embedder import Vectors
from plastic_memories.rules.ranking import score_parts
from plastic_memories.rules.ranking.hybrid_weights import HybridWeights
from plastic_memories.rules.ranking.score_parts import Bools, Floats, Ints

Vector = NDArray[np.float32]
_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine)\b|我", re.IGNORECASE)
_ASKS_BACK = re.compile(
    r"\byou (?:\w+ )?(?:recommend|suggest|told|tell|said|mention|g[ai]ve|advis|list|provid)"
    r"|\bremind me\b"
    r"|你(?:之前|曾经|上次)?[^，。]{0,4}(?:推荐|说|建议|告诉|提)",
    re.IGNORECASE,
)
_NONE = -1
_TOP_PLACES = 10
_ALIAS_CANDIDATES = 5
# The speaker name of entries in the first person without a name.
_USER = "user"
_HOUR_S = 3600.0
# A part above this threshold counts as a search that found the entry.
MATCH_THRESHOLDS = {
    "text": 0.0, "vectors": 0.3, "linked": 0.05, "neighbour": 0.25, "speaker": 0.15, "time": 0.0,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ScoringQuery:
    """A question with everything that scoring needs."""

    text: str
    question: ParsedQuestion
    now: float
    # The vector of each probe's text; for a dialogue, of its last line as well.
    vectors: Sequence[Vector | None] = ()
    last_line: Vector | None = None
    background_vectors: Vectors | None = None  # calibrate similarity; of the same model
    spans: Sequence[tuple[float, float]] = ()


@dataclass(frozen=True, slots=True)
class EntryScores:
    """The total score and its parts, by position."""

    total: Floats
    parts: dict[str, Floats] = field(default_factory=dict)

    def parts_at(self, positions: Sequence[int]) -> list[dict[str, float]]:
        """Return the parts of these entries, by name."""
        table = np.stack([part[positions] for part in self.parts.values()], axis=1)
        return [dict(zip(self.parts, row, strict=True)) for row in table.tolist()]

    def apply_factor(self, positions: Sequence[int], factor: float) -> None:
        """Multiply the scores of entries by a factor, never raising them."""
        lowered = np.minimum(self.total[positions], factor * self.total[positions])
        self.parts["repeat"][positions] += lowered - self.total[positions]
        self.total[positions] = lowered

    def is_found(self, positions: Ints, above: Mapping[str, float]) -> Bools:
        """Return for each entry whether any search found it: a part lies above its threshold."""
        matches = [self.parts[name][positions] > threshold for name, threshold in above.items()]
        found: Bools = np.logical_or.reduce(matches)
        return found


def matched_searches(parts: Mapping[str, float]) -> tuple[str, ...]:
    """Return the searches that found an entry with these parts."""
    return tuple([name for name, threshold in MATCH_THRESHOLDS.items() if parts[name] > threshold])


def score_entries(
    index: OwnerIndex, sight: VisibleEntries, query: ScoringQuery, weights: HybridWeights
) -> EntryScores:
    """Score visible entries; the total of all others is -inf."""
    texts = VisibleTextIndex(index, sight, weights)
    probes = [
        _probe_parts(index, texts, query, number) for number in range(len(query.question.probes))
    ]
    parts = _best_probe(index, sight, probes, query.question.rephrasing_count)
    total = _sum_parts(parts)

    def add(name: str, part: Floats) -> None:
        parts[name] = part
        np.add(total, part, out=total)

    add("neighbour", _neighbour_part(index, sight.where_visible(total, 0.0), weights))
    add("speaker", _speaker_part(index, sight.where_visible(total, 0.0), query, weights))
    add("time", _time_part(index, sight, query, weights))
    so_far = sight.where_visible(total, -np.inf)
    add("session", weights.session * score_parts.best_in_session(so_far, index["session"]))
    add("recency", _recency_part(index, query.now, weights))
    add("importance", weights.importance * index["importance"])
    parts["repeat"] = np.zeros(len(index))
    return EntryScores(sight.where_visible(total, -np.inf), parts)


def _sum_parts(parts: Mapping[str, Floats]) -> Floats:
    return functools.reduce(np.add, parts.values())


def _probe_parts(
    index: OwnerIndex, texts: VisibleTextIndex, query: ScoringQuery, number: int
) -> dict[str, Floats]:
    weights, question, sight = texts.weights, query.question, texts.sight
    scored = TextScore(texts, question.probes[number])
    # A dialogue is never covered: its text scores stay relative to the best match.
    text = scored.word_scores(0.0 if question.is_dialogue else weights.coverage_power)
    meaning = weights.meaning_in_dialogue if question.is_dialogue else weights.meaning
    vectors = meaning * _meaning_scores(index, sight, query, number, weights)
    share = weights.linked_in_dialogue if question.is_dialogue else weights.linked
    linked = share * scored.linked_scores(sight.where_visible(text + vectors, 0.0))
    return {"text": text, "vectors": vectors, "linked": linked}


def _meaning_scores(
    index: OwnerIndex,
    sight: VisibleEntries,
    query: ScoringQuery,
    number: int,
    weights: HybridWeights,
) -> Floats:
    """Return the similarity of meaning of each entry, as z-scores."""
    vector = query.vectors[number] if number < len(query.vectors) else None
    similarity = _similarity(index, vector, weights)
    if similarity is None:
        return index.zeros
    background = _background_similarity(query, vector)
    last = _similarity(index, query.last_line, weights)
    if last is not None:
        share = weights.last_line
        similarity = (1 - share) * similarity + share * last
        last_background = _background_similarity(query, query.last_line)
        background = (1 - share) * background + share * last_background
    return score_parts.z_scores(similarity, sight.mask, background, BACKGROUND_WEIGHT)


def _similarity(index: OwnerIndex, vector: Vector | None, weights: HybridWeights) -> Floats | None:
    if vector is None:
        return None
    return index.vectors.similarity(vector, len(index), weights.passage)


def _background_similarity(query: ScoringQuery, vector: Vector | None) -> Floats:
    """Return the similarity of a question to everyday background sentences."""
    if query.background_vectors is None or vector is None:
        return np.zeros(0)
    return np.asarray(query.background_vectors @ vector, np.float64)


def _best_probe(
    index: OwnerIndex,
    sight: VisibleEntries,
    probes: Sequence[dict[str, Floats]],
    in_other_words: int,
) -> dict[str, Floats]:
    """Return each entry's parts from the probe that it answers best.

    Questions of one message share the top places: one with weaker matches gets a bonus.
    """
    if len(probes) == 1:
        return probes[0] | {"share": index.zeros}
    totals = [_sum_parts(parts) for parts in probes]
    own = totals[in_other_words:]
    bonuses = [0.0] * in_other_words + score_parts.equalised_thresholds(
        [scores[sight.mask] for scores in own], _TOP_PLACES
    )
    best = np.argmax(np.stack(totals) + np.array(bonuses)[:, None], axis=0)
    chosen = {name: np.choose(best, [parts[name] for parts in probes]) for name in probes[0]}
    return chosen | {"share": np.array(bonuses)[best]}


def _neighbour_part(index: OwnerIndex, scores: Floats, weights: HybridWeights) -> Floats:
    if not index.sessions:
        return index.zeros
    return score_parts.best_neighbour_score(
        scores,
        index.memoize("neighbours", weights, lambda: _weighted_neighbours(index, weights)),
    )


def _weighted_neighbours(
    index: OwnerIndex, weights: HybridWeights
) -> list[tuple[Ints, Floats | float]]:
    """Return the neighbours of each entry in the conversation, and the share each passes on."""
    before, after, speaker = index["before"], index["after"], index["speaker"]
    follows_question = np.append(index["asks"], False)[before]
    answers = follows_question & (np.append(speaker, _NONE)[before] != speaker)
    return [
        (before, np.where(answers, weights.answer, weights.neighbour)),
        (after, weights.neighbour),
        (score_parts.second_neighbours(before), weights.second_neighbour),
        (score_parts.second_neighbours(after), weights.second_neighbour),
    ]


def _time_part(
    index: OwnerIndex, sight: VisibleEntries, query: ScoringQuery, weights: HybridWeights
) -> Floats:
    if not query.spans:
        return index.zeros
    weigh = score_parts.span_length_weight(weights.days, weights.weeks, weights.seasons)
    return score_parts.time_span_scores(index["happened_at"], sight.mask, query.spans, weigh)


def _recency_part(index: OwnerIndex, now: float, weights: HybridWeights) -> Floats:
    """Return the recency part, with `now` rounded to the hour: it decays over months."""
    now -= now % _HOUR_S

    def recency_gains() -> Floats:
        happened, ageless = index["happened_at"], index["ageless"]
        return weights.recency * score_parts.recency_decay(
            happened, ageless, now, weights.half_life_days
        )

    return index.memoize("recency", (now, weights.recency, weights.half_life_days), recency_gains)


def _speaker_part(
    index: OwnerIndex, scores: Floats, query: ScoringQuery, weights: HybridWeights
) -> Floats:
    """Return the part for entries spoken by somebody the question is about."""
    if not index.speakers:
        return index.zeros
    text = normalise_script(query.text)
    names = index.memoize(
        "names", None, lambda: [PersonName.parse(name) for name in index.speakers]
    )
    own = bool(_FIRST_PERSON.search(text)) and not _ASKS_BACK.search(text)
    named = [name.is_mentioned_in(text) for name in names]
    if not any(named):
        aliases = _aliased_name_terms(index, scores, query.question)
        named = [not name.codes.isdisjoint(aliases) for name in names]
    earned = [
        (weights.own_speaker if own else 0.0) if name.whole == _USER else weights.speaker * is_named
        for name, is_named in zip(names, named, strict=True)
    ]
    if not any(earned):
        return index.zeros
    part: Floats = np.array([*earned, 0.0])[index["speaker"]]  # the last one is for no speaker
    return part


def _aliased_name_terms(
    index: OwnerIndex, scores: Floats, question: ParsedQuestion
) -> frozenset[int]:
    """Return name terms of people whose alias in one of the best matches is in the question."""
    terms = frozenset(term for probe in question.probes for term in probe.terms)
    best = score_parts.top_positions(scores, _ALIAS_CANDIDATES)
    aliases = [aliased_terms(terms, codes.tolist()) for codes in index.term_codes_at_each(best)]
    return frozenset().union(*aliases)
