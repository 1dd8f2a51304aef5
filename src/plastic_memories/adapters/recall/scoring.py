"""All parts of the score of every entry, for one recall."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from plastic_memories.adapters.recall.owner_index import OwnerIndex
from plastic_memories.adapters.recall.sight import Sight
from plastic_memories.adapters.recall.text_score import TextIndex, TextScore
from plastic_memories.rules import fusion
from plastic_memories.rules.fusion import Bools, Floats, Ints
from plastic_memories.rules.han import simplified
from plastic_memories.rules.names import Name
from plastic_memories.rules.ordinary import COUNTS
from plastic_memories.rules.question import Question
from plastic_memories.rules.text import normalise
from plastic_memories.rules.weights import HybridWeights

Vector = NDArray[np.float32]
Vectors = NDArray[np.float32]
_ABOUT_ME = re.compile(r"\b(?:i|my|me|mine)\b|我", re.IGNORECASE)
_ASKS_BACK = re.compile(
    r"\byou (?:\w+ )?(?:recommend|suggest|told|tell|said|mention|g[ai]ve|advis|list|provid)"
    r"|\bremind me\b"
    r"|你(?:之前|曾经|上次)?[^，。]{0,4}(?:推荐|说|建议|告诉|提)",
    re.IGNORECASE,
)
# Who says "I" where no name is given.
_USER = "user"
_HOUR_S = 3600.0
# So much of a part makes it the reason why something was found.
_TELLING = {
    "text": 0.0, "vectors": 0.3, "linked": 0.05, "neighbour": 0.25, "speaker": 0.15, "time": 0.0,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with everything it takes to score it."""

    text: str
    question: Question
    now: float
    # For each probe the vector of its text; for a dialogue, of its last line as well.
    vectors: Sequence[Vector | None] = ()
    last_line: Vector | None = None
    ordinary: Vectors | None = None  # of the same model: what a likeness is measured by
    spans: Sequence[tuple[float, float]] = ()


@dataclass(frozen=True, slots=True)
class Scores:
    """The sum, and the parts it is made of, by position."""

    total: Floats
    parts: dict[str, Floats] = field(default_factory=dict)

    def parts_at(self, positions: Sequence[int]) -> list[dict[str, float]]:
        """Return the parts of these entries, by name."""
        table = np.stack([part[positions] for part in self.parts.values()], axis=1)
        return [dict(zip(self.parts, row, strict=True)) for row in table.tolist()]

    def lower(self, positions: Sequence[int], share: float) -> None:
        """Leave entries only this share of their score."""
        lowered = np.minimum(self.total[positions], share * self.total[positions])
        self.parts["repeat"][positions] += lowered - self.total[positions]
        self.total[positions] = lowered

    def speaks_for(self, positions: Ints) -> Bools:
        """Say of each whether any search has found it."""
        telling = [self.parts[name][positions] > least for name, least in _TELLING.items()]
        found: Bools = np.logical_or.reduce(telling)
        return found


def found_by(parts: Mapping[str, float]) -> tuple[str, ...]:
    """Return which searches speak for an entry with these parts."""
    return tuple([name for name, least in _TELLING.items() if parts[name] > least])


def score(index: OwnerIndex, sight: Sight, asked: Asked, weights: HybridWeights) -> Scores:
    """Score what is seen; everything else is out of reach."""
    texts = TextIndex(index, sight, weights)
    words = [TextScore(texts, probe) for probe in asked.question.probes]
    parts = _best_probe(
        [_probe_parts(index, scored, asked, number) for number, scored in enumerate(words)]
    )
    total = _total(parts)

    def add(name: str, part: Floats) -> None:
        parts[name] = part
        np.add(total, part, out=total)

    add("neighbour", _neighbour_part(index, sight.only(total, 0.0), weights))
    called = frozenset().union(*(scored.called for scored in words))
    add("speaker", _speaker_part(index, asked.text, called, weights))
    add("time", _time_part(index, sight, asked, weights))
    so_far = sight.only(total, -np.inf)
    add("session", weights.session * fusion.best_of_session(so_far, index["session"]))
    add("recency", _recency_part(index, asked.now, weights))
    add("importance", weights.importance * index["importance"])
    parts["repeat"] = np.zeros(len(index))
    return Scores(sight.only(total, -np.inf), parts)


def _total(parts: Mapping[str, Floats]) -> Floats:
    return functools.reduce(np.add, parts.values())


def _probe_parts(
    index: OwnerIndex, scored: TextScore, asked: Asked, number: int
) -> dict[str, Floats]:
    weights, question, sight = scored.texts.weights, asked.question, scored.texts.sight
    # A conversation is never covered: there its best match by words stays the measure.
    text = scored.by_words(0.0 if question.is_dialogue else weights.covering)
    meaning = weights.meaning_in_dialogue if question.is_dialogue else weights.meaning
    vectors = meaning * _meaning(index, sight, asked, number, weights)
    share = weights.linked_in_dialogue if question.is_dialogue else weights.linked
    linked = share * scored.linked(sight.only(text + vectors, 0.0))
    return {"text": text, "vectors": vectors, "linked": linked}


def _meaning(
    index: OwnerIndex, sight: Sight, asked: Asked, number: int, weights: HybridWeights
) -> Floats:
    """Return how near in meaning each entry is, in standard deviations."""
    vector = asked.vectors[number] if number < len(asked.vectors) else None
    near = _similarity(index, vector, weights)
    if near is None:
        return index.nothing
    beside = _to_ordinary(asked, vector)
    last = _similarity(index, asked.last_line, weights)
    if last is not None:
        share = weights.last_line
        near = (1 - share) * near + share * last
        beside = (1 - share) * beside + share * _to_ordinary(asked, asked.last_line)
    return fusion.deviations(near, sight.seen, beside, COUNTS)


def _similarity(index: OwnerIndex, vector: Vector | None, weights: HybridWeights) -> Floats | None:
    if vector is None:
        return None
    return index.vectors.similarity(vector, len(index), weights.passage)


def _to_ordinary(asked: Asked, vector: Vector | None) -> Floats:
    """Return how near a question is to what people say every day."""
    if asked.ordinary is None or vector is None:
        return np.zeros(0)
    return np.asarray(asked.ordinary @ vector, np.float64)


def _best_probe(probes: Sequence[dict[str, Floats]]) -> dict[str, Floats]:
    """Take each entry's parts from the question it answers best."""
    if len(probes) == 1:
        return probes[0]
    best = np.argmax(np.stack([_total(parts) for parts in probes]), axis=0)
    return {name: np.choose(best, [parts[name] for parts in probes]) for name in probes[0]}


def _neighbour_part(index: OwnerIndex, scores: Floats, weights: HybridWeights) -> Floats:
    if not index.sessions:
        return index.nothing
    return weights.neighbour * fusion.best_neighbour(scores, index["before"], index["after"])


def _time_part(index: OwnerIndex, sight: Sight, asked: Asked, weights: HybridWeights) -> Floats:
    if not asked.spans:
        return index.nothing
    weigh = fusion.by_length(weights.days, weights.weeks, weights.seasons)
    return fusion.time_match(index["happened_at"], sight.seen, asked.spans, weigh)


def _recency_part(index: OwnerIndex, now: float, weights: HybridWeights) -> Floats:
    """Return what an entry earns for being new, to the hour: it fades by the month."""
    now -= now % _HOUR_S

    def faded() -> Floats:
        happened, ageless = index["happened_at"], index["ageless"]
        return weights.recency * fusion.fading(happened, ageless, now, weights.half_life_days)

    return index.kept("recency", (now, weights.recency, weights.half_life_days), faded)


def _speaker_part(
    index: OwnerIndex, text: str, called: Collection[int], weights: HybridWeights
) -> Floats:
    """Return what an entry earns for being the words of somebody the question is about.

    `called` are the terms of memories that tell what somebody is called: a question that names
    nobody we know may name one of them by another name.
    """
    if not index.speakers:
        return index.nothing
    asked = simplified(normalise(text))
    names = index.kept("names", None, lambda: [Name.of(name) for name in index.speakers])
    own = bool(_ABOUT_ME.search(asked)) and not _ASKS_BACK.search(asked)
    named = [name.stands_in(asked) for name in names]
    if called and not any(named):
        named = [not name.codes.isdisjoint(called) for name in names]
    earned = [
        (weights.own_words if own else 0.0) if name.whole == _USER else weights.speaker * is_named
        for name, is_named in zip(names, named, strict=True)
    ]
    if not any(earned):
        return index.nothing
    part: Floats = np.array([*earned, 0.0])[index["speaker"]]  # the last is for "nobody"
    return part
