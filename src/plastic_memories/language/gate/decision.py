"""Decide what becomes of a statement, by its scores and a threshold for each way to keep it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plastic_memories.language.gate.heads import Assessment
from plastic_memories.language.gate.kinds import KEPT_AS, KINDS, KeepAs, StatementKind

# Chosen so that of real chatter at most one utterance in a thousand is told in every prompt, and
# at most one in twelve leaves a note; docs/explanation/gate.md has the figures.
_THRESHOLDS: Mapping[bool, Mapping[KeepAs, float]] = {
    True: {KeepAs.CONSTRAINT: 0.6, KeepAs.STYLE: 0.6, KeepAs.IDENTITY: 0.6, KeepAs.NOTE: 0.6},
    False: {KeepAs.CONSTRAINT: 0.6, KeepAs.STYLE: 0.6, KeepAs.IDENTITY: 0.6, KeepAs.NOTE: 0.6},
}
_KINDS_OF = {
    keep_as: tuple(kind for kind in KINDS if KEPT_AS.get(kind, KeepAs.NOTE) is keep_as)
    for keep_as in KeepAs
}
_TOLD_FIRST = (KeepAs.CONSTRAINT, KeepAs.STYLE, KeepAs.IDENTITY)


@dataclass(frozen=True, slots=True)
class Decision:
    """Keep a statement in this way; `lasting` is how likely it says something lasting."""

    keep_as: KeepAs
    kind: StatementKind
    lasting: float


def decide(assessment: Assessment, *, by_both_heads: bool) -> Decision | None:
    """Return how to keep a statement; None if it is not worth it."""
    thresholds = _THRESHOLDS[by_both_heads]
    for keep_as in _TOLD_FIRST:
        if keep_score(assessment, keep_as) >= thresholds[keep_as]:
            return Decision(keep_as, _likeliest(assessment, keep_as), assessment.lasting)
    if assessment.lasting < thresholds[KeepAs.NOTE]:
        return None
    return Decision(KeepAs.NOTE, assessment.kind, assessment.lasting)


def keep_score(assessment: Assessment, keep_as: KeepAs) -> float:
    """Return how likely a statement is lasting and of a kind that is kept in this way."""
    return assessment.share(*_KINDS_OF[keep_as])


def _likeliest(assessment: Assessment, keep_as: KeepAs) -> StatementKind:
    return max(_KINDS_OF[keep_as], key=assessment.share)
