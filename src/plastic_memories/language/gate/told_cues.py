"""Words by which the kind of a statement is plain, even if the gate alone is not certain."""

from __future__ import annotations

from plastic_memories.language.gate.features import comparable_text
from plastic_memories.language.gate.kinds import StatementKind
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.word_lists import any_of

_CUES = {
    kind: regex(any_of("told_cues", kind.value))
    for kind in (
        StatementKind.ALLERGY,
        StatementKind.MEDICATION,
        StatementKind.STYLE,
        StatementKind.TABOO,
        StatementKind.DIET,
        StatementKind.HEALTH,
        StatementKind.BIRTHDAY,
        StatementKind.NAME,
    )
}
_CERTAIN = {
    kind: regex(any_of("told_cues", f"certain_{kind.value}"))
    for kind in (StatementKind.TABOO, StatementKind.STYLE)
}
_OF_ONE_BODY = frozenset(
    {
        StatementKind.ALLERGY,
        StatementKind.MEDICATION,
        StatementKind.DIET,
        StatementKind.HEALTH,
    }
)
_OF_OTHERS = regex(any_of("told_cues", "of_others"))
_NOT_MEANT = regex(any_of("told_cues", "not_meant"))


def cued_kinds(text: str) -> list[StatementKind]:
    """Return the kinds of which a statement has words.

    >>> [kind.value for kind in cued_kinds("Don't EVER ask me about the wreck")]
    ['taboo']
    """
    plain = comparable_text(text)
    if _NOT_MEANT.search(plain):
        return []
    is_of_others = _OF_OTHERS.search(plain) is not None
    return [
        kind
        for kind, cue in _CUES.items()
        if not (is_of_others and kind in _OF_ONE_BODY) and cue.search(plain)
    ]


def certain_kind(text: str) -> StatementKind | None:
    """Return the kind of a request that needs no other evidence: 以后也别提他了."""
    plain = comparable_text(text)
    return next((kind for kind, cue in _CERTAIN.items() if cue.search(plain)), None)
