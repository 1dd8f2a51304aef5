"""Rank text matches by relevance, recency and importance."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.model.memory import Memory
from plastic_memories.model.recall import Hit, TextMatches
from plastic_memories.rules.prompt.always_told import is_exempt_from_decay

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class RecencyWeights:
    """Weights of the parts of a score.

    Relevance dominates: a relevant memory must not be displaced by one that is merely new. Recency
    and importance decide between memories of about equal relevance.
    """

    relevance: float = 0.85
    recency: float = 0.08
    importance: float = 0.07
    half_life_days: float = 30.0


DEFAULT_RECENCY_WEIGHTS = RecencyWeights()


def recency(memory: Memory, now: float, half_life_days: float) -> float:
    """Return 1 for now, halved with every half-life; memories exempt from decay stay at 1.

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
    """Return text matches as hits, best first; equal scores by id, newest first."""
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
