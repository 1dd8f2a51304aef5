"""Find the people that a question mentions, by name or nickname."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass

from plastic_memories.language.text.tokens import (
    WEAK_TERM_BIT,
    WORD_TERM_BIT,
    index_terms,
    normalise_script,
    term_code,
)

_HAN_NAME = re.compile(r"[\u4e00-\u9fff]{3,4}")
# A shorter word may as well be a title, an initial or a word of its own.
_MIN_LETTERS = 3
_FAMILY_NAME = {3: 1, 4: 2}
# Maximum distance in terms between two names of one person in a memory that contains an alias word
# ("call", `外号`).
_NEAR_WORDS, _NEAR_CHARACTERS = 3, 10
_CHINESE_ALIAS_WORDS = "叫 昵称 外号 绰号 小名 乳名 别名 又名"
_ALIAS_CODES = frozenset(
    map(term_code, [*index_terms("call nickname alias aka"), *_CHINESE_ALIAS_WORDS.split()])
)


@dataclass(frozen=True, slots=True)
class PersonName:
    """A person's name, with the forms in which it is searched in a text or among term codes."""

    whole: str
    forms: tuple[re.Pattern[str], ...]
    codes: frozenset[int]

    @classmethod
    def parse(cls, name: str) -> PersonName:
        whole = normalise_script(name)
        codes = frozenset(n for n in map(term_code, index_terms(whole)) if not n & WEAK_TERM_BIT)
        return cls(whole, tuple(map(_whole_word_pattern, _name_forms(whole))), codes)

    def is_mentioned_in(self, text: str) -> bool:
        """Return whether a normalised text in simplified characters mentions this person.

        >>> PersonName.parse("Priya Sharma").is_mentioned_in("what did priya say?")
        True
        >>> PersonName.parse("張曼婷").is_mentioned_in("曼婷去了哪里")
        True
        """
        return any(form.search(text) for form in self.forms)


def aliased_terms(question_codes: Set[int], memory_codes: Sequence[int]) -> frozenset[int]:
    """Return the terms near an alias word of a memory, if a term of the question is among them.

    `memory_codes` are in text order. For "everybody calls Priya Pri" and the question term `pri`
    this includes `priya`; for "I must call Priya about the tap" and `tap` it is empty.
    """
    aliased: set[int] = set()
    for position, code in enumerate(memory_codes):
        if code in _ALIAS_CODES:
            distance = _NEAR_WORDS if code & WORD_TERM_BIT else _NEAR_CHARACTERS
            nearby = memory_codes[max(0, position - distance) : position + distance + 1]
            if not question_codes.isdisjoint(nearby):
                aliased.update(nearby)
    return frozenset(aliased)


def _name_forms(name: str) -> list[str]:
    """Return the forms of a name: the full name, and the given name alone."""
    if len(name) < 2:  # noqa: PLR2004 - a single letter or character is in every text
        return []
    if _HAN_NAME.fullmatch(name):
        return [name, name[_FAMILY_NAME[len(name)] :]]
    first, *more = name.split() or [name]
    telling = len(first) >= _MIN_LETTERS and not term_code(first) & WEAK_TERM_BIT
    return [name, first] if more and telling else [name]


@functools.lru_cache(maxsize=4096)
def _whole_word_pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])")
