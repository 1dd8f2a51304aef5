"""How recalled memories are ordered. Pure: no clock, no I/O, no settings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plastic_memories.model.memory import Memory
from plastic_memories.model.recall import Hit, TextMatches
from plastic_memories.rules.searchable import memory_text
from plastic_memories.rules.standing import is_constraint
from plastic_memories.rules.text import index_terms

_DAY_S = 86_400.0
# The usual values of Robertson and Zaragoza (2009); memories are short, so length matters less.
_K1 = 1.2
_B = 0.5


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each part of a score counts.

    Relevance leads by far: what was asked for must not be pushed out by what is merely new.
    Recency and importance decide between memories that answer about equally well.
    """

    relevance: float = 0.85
    recency: float = 0.08
    importance: float = 0.07
    half_life_days: float = 30.0


DEFAULT_WEIGHTS = Weights()


def bm25(
    terms: Sequence[str],
    documents: Sequence[Sequence[str]],
    frequency: Mapping[str, int],
    total: int,
) -> list[float]:
    """Return the relevance of each document, given how many of `total` rows hold each term.

    The average length is that of the documents at hand: they are the only ones compared.
    """
    if not documents:
        return []
    average = sum(map(len, documents)) / len(documents) or 1.0
    weight = {term: _idf(total, frequency.get(term, 0)) for term in terms}
    return [_bm25_of(Counter(document), len(document) / average, weight) for document in documents]


def _idf(total: int, holding: int) -> float:
    return math.log(1 + (max(total - holding, 0) + 0.5) / (holding + 0.5))


def _bm25_of(counts: Counter[str], length: float, weight: Mapping[str, float]) -> float:
    damping = _K1 * (1 - _B + _B * length)
    return sum(
        idf * counts[term] * (_K1 + 1) / (counts[term] + damping)
        for term, idf in weight.items()
        if term in counts
    )


def recency(memory: Memory, now: float, half_life_days: float) -> float:
    """Return 1 for the present, halved with every half-life; what must hold does not age.

    >>> round(0.5 ** (60 / 30), 2)
    0.25
    """
    if memory.pinned or is_constraint(memory):
        return 1.0
    happened = memory.created_at if memory.occurred_at is None else memory.occurred_at
    age_days = max(0.0, now - happened) / _DAY_S
    return float(0.5 ** (age_days / half_life_days))


def rank(
    terms: Sequence[str], matches: TextMatches, now: float, weights: Weights = DEFAULT_WEIGHTS
) -> list[Hit]:
    """Order what a text search found, best first; equal scores by id, newest first."""
    documents = [index_terms(memory_text(memory)) for memory in matches.memories]
    raw = bm25(terms, documents, matches.frequency, matches.documents)
    top = max(raw, default=0.0) or 1.0
    hits = [
        _hit(memory, score / top, now, weights)
        for memory, score in zip(matches.memories, raw, strict=True)
    ]
    return sorted(hits, key=lambda hit: (-hit.score, -hit.memory.id))


def _hit(memory: Memory, relevance: float, now: float, weights: Weights) -> Hit:
    parts = {
        "relevance": weights.relevance * relevance,
        "recency": weights.recency * recency(memory, now, weights.half_life_days),
        "importance": weights.importance * memory.importance,
    }
    return Hit(memory, sum(parts.values()), parts, ("text",))
