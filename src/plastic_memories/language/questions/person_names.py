"""Whom a question is about: people by their names, or by what they are called. Pure."""

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
# A shorter word is as likely a title, an initial or a word of its own.
_MIN_LETTERS = 3
_FAMILY_NAME = {3: 1, 4: 2}
# Who is called something else: a memory with one of these may tell another name of somebody, if
# both names stand as near as this, in terms.
_NEAR_WORDS, _NEAR_CHARACTERS = 3, 10
_CHINESE_ALIAS_WORDS = "叫 昵称 外号 绰号 小名 乳名 别名 又名"
_ALIAS_CODES = frozenset(
    map(term_code, [*index_terms("call nickname alias aka"), *_CHINESE_ALIAS_WORDS.split()])
)


@dataclass(frozen=True, slots=True)
class PersonName:
    """A name as it is looked for: whole or in part in a text, or among the terms of one."""

    whole: str
    forms: tuple[re.Pattern[str], ...]
    codes: frozenset[int]

    @classmethod
    def parse(cls, name: str) -> PersonName:
        whole = normalise_script(name)
        codes = frozenset(n for n in map(term_code, index_terms(whole)) if not n & WEAK_TERM_BIT)
        return cls(whole, tuple(map(_whole_word_pattern, _name_forms(whole))), codes)

    def is_mentioned_in(self, text: str) -> bool:
        """Say whether a text names this person: a normalised one, in simplified characters.

        >>> PersonName.of("Priya Sharma").stands_in("what did priya say?")
        True
        >>> PersonName.of("張曼婷").stands_in("曼婷去了哪里")
        True
        """
        return any(form.search(text) for form in self.forms)


def aliased_terms(asked: Set[int], said: Sequence[int]) -> frozenset[int]:
    """Return what a memory tells of somebody who is called by one of the terms that are asked for.

    `said` are its terms in order. In "everybody calls Priya Pri" it is `priya`, if `pri` is asked
    for; in "I must call Priya about the tap" nothing, if it is the tap.
    """
    told: set[int] = set()
    for place, number in enumerate(said):
        if number in _ALIAS_CODES:
            near = _NEAR_WORDS if number & WORD_TERM_BIT else _NEAR_CHARACTERS
            beside = said[max(0, place - near) : place + near + 1]
            if not asked.isdisjoint(beside):
                told.update(beside)
    return frozenset(told)


def _name_forms(name: str) -> list[str]:
    """Return what somebody of this name is called: all of it, or the given name alone."""
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
