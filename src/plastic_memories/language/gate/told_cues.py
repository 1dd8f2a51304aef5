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
        StatementKind.BIRTHDAY,
        StatementKind.NAME,
    )
}


def cued_kinds(text: str) -> list[StatementKind]:
    """Return the kinds of which a statement has words.

    >>> [kind.value for kind in cued_kinds("Don't EVER ask me about the wreck")]
    ['taboo']
    """
    plain = comparable_text(text)
    return [kind for kind, cue in _CUES.items() if cue.search(plain)]
