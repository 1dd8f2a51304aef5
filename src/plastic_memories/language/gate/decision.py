"""Decide what becomes of a statement, by its scores and a threshold for each way to keep it."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.language.gate.heads import Assessment, trained_heads
from plastic_memories.language.gate.kinds import KEPT_AS, KINDS, KeepAs, StatementKind
from plastic_memories.language.gate.told_cues import certain_kind, cued_kinds
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.tokens import UNSPACED


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The least score for each way to keep a statement.

    English chatter tells more of what the speaker does at the moment: it needs a higher one.
    """

    told: float
    identity: float
    note_chinese: float
    note_other: float


# Chosen so that of real chatter at most one utterance in a thousand is told in every prompt, and
# at most one in ten leaves a note; docs/explanation/gate.md has the figures.
_THRESHOLDS = {
    True: Thresholds(told=0.8, identity=0.6, note_chinese=0.72, note_other=0.91),
    False: Thresholds(told=0.85, identity=0.98, note_chinese=0.65, note_other=0.94),
}
_CHINESE = regex(f"[{UNSPACED}]")
# In a sentence of which a rule has read a part, the rest mostly says more of the same.
_BESIDE_READ = 0.5
# The least lasting score, and the least share of the way to keep, of a statement with cue words.
_CUED_LASTING = 0.15
_CUED_SHARE = {
    StatementKind.ALLERGY: 0.05,
    StatementKind.MEDICATION: 0.08,
    StatementKind.STYLE: 0.06,
    StatementKind.TABOO: 0.06,
    StatementKind.DIET: 0.08,
    StatementKind.HEALTH: 0.5,
    StatementKind.BIRTHDAY: 0.03,
    StatementKind.NAME: 0.03,
}
# Rather read for nothing than too late.
_MAY_BE_TOLD = 0.2
_KINDS_OF = {
    keep_as: tuple(kind for kind in KINDS if KEPT_AS.get(kind, KeepAs.NOTE) is keep_as)
    for keep_as in KeepAs
}


@dataclass(frozen=True, slots=True)
class Decision:
    """Keep a statement in this way; `lasting` is how likely it says something lasting."""

    keep_as: KeepAs
    kind: StatementKind
    lasting: float


def decide(
    text: str, assessment: Assessment, *, by_both_heads: bool, is_beside_read: bool = False
) -> Decision | None:
    """Return how to keep a statement; None if it is not worth it."""
    thresholds = _THRESHOLDS[by_both_heads]
    # A taboo and a wish about speaking are hard to tell apart: together they are certain enough.
    limit, wish = (keep_score(assessment, one) for one in (KeepAs.CONSTRAINT, KeepAs.STYLE))
    if limit + wish >= thresholds.told:
        return _decision(assessment, KeepAs.CONSTRAINT if limit > wish else KeepAs.STYLE)
    if keep_score(assessment, KeepAs.IDENTITY) >= thresholds.identity:
        return _decision(assessment, KeepAs.IDENTITY)
    cued = _cued_decision(text, assessment)
    if cued is not None:
        return cued
    is_chinese = _CHINESE.search(text) is not None
    least = thresholds.note_chinese if is_chinese else thresholds.note_other
    if is_beside_read:
        least *= _BESIDE_READ
    return _decision(assessment, KeepAs.NOTE) if assessment.lasting >= least else None


def _cued_decision(text: str, assessment: Assessment) -> Decision | None:
    """Return how to keep a statement whose words tell its kind, if the gate does not object."""
    kind = certain_kind(text)
    if kind is None and assessment.lasting >= _CUED_LASTING:
        kind = next((one for one in cued_kinds(text) if _is_likely(assessment, one)), None)
    return None if kind is None else Decision(KEPT_AS[kind], kind, assessment.lasting)


def _is_likely(assessment: Assessment, kind: StatementKind) -> bool:
    return _cued_share(assessment, KEPT_AS[kind]) >= _CUED_SHARE[kind]


def _cued_share(assessment: Assessment, keep_as: KeepAs) -> float:
    ways = (KeepAs.IDENTITY,) if keep_as is KeepAs.IDENTITY else (KeepAs.CONSTRAINT, KeepAs.STYLE)
    return sum(keep_score(assessment, way) for way in ways)


def may_be_told(text: str) -> bool:
    """Return whether a message is worth reading at once; by its n-grams, in microseconds.

    >>> may_be_told("i take lithium every night"), may_be_told("哈哈哈")
    (True, False)
    """
    assessment = trained_heads().assess(text)
    limit, wish = (keep_score(assessment, one) for one in (KeepAs.CONSTRAINT, KeepAs.STYLE))
    return limit + wish >= _MAY_BE_TOLD


def lasting_score(text: str) -> float:
    """Return how likely a message says something lasting; by its n-grams, in microseconds."""
    return trained_heads().lasting_score(text)


def keep_score(assessment: Assessment, keep_as: KeepAs) -> float:
    """Return how likely a statement is of a kind that is kept in this way."""
    return assessment.share(*_KINDS_OF[keep_as])


def _decision(assessment: Assessment, keep_as: KeepAs) -> Decision:
    kinds = KINDS if keep_as is KeepAs.NOTE else _KINDS_OF[keep_as]
    return Decision(keep_as, max(kinds, key=assessment.share), assessment.lasting)
