"""How recalled memories are ordered. Pure: no clock, no I/O, no settings."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.model.memory import Memory
from plastic_memories.model.recall import Hit, TextMatches
from plastic_memories.rules.prompt.always_told import is_exempt_from_decay

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class RecencyWeights:
    """How much each part of a score counts.

    Relevance leads by far: what was asked for must not be pushed out by what is merely new.
    Recency and importance decide between memories that answer about equally well.
    """

    relevance: float = 0.85
    recency: float = 0.08
    importance: float = 0.07
    half_life_days: float = 30.0


DEFAULT_RECENCY_WEIGHTS = RecencyWeights()


def recency(memory: Memory, now: float, half_life_days: float) -> float:
    """Return 1 for the present, halved with every half-life; what must hold does not age.

    >>> round(0.5 ** (60 / 30), 2)
    0.25
    """
    if is_exempt_from_decay(memory):
        return 1.0
    happened = memory.created_at if memory.occurred_at is None else memory.occurred_at
    age_days = max(0.0, now - happened) / _DAY_S
    return float(0.5 ** (age_days / half_life_days))


def rank_by_recency(
    matches: TextMatches, now: float, weights: RecencyWeights = DEFAULT_RECENCY_WEIGHTS
) -> list[Hit]:
    """Order what a text search found, best first; equal scores by id, newest first."""
    top = max(matches.scores, default=0.0) or 1.0
    hits = [
        _score_hit(memory, score / top, now, weights)
        for memory, score in zip(matches.memories, matches.scores, strict=True)
    ]
    return sorted(hits, key=lambda hit: (-hit.score, -hit.memory.id))


def _score_hit(memory: Memory, relevance: float, now: float, weights: RecencyWeights) -> Hit:
    parts = {
        "relevance": weights.relevance * relevance,
        "recency": weights.recency * recency(memory, now, weights.half_life_days),
        "importance": weights.importance * memory.importance,
    }
    return Hit(memory, sum(parts.values()), parts, ("text",))
