"""Whom a question is about: people by their names, or by what they are called. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass

from plastic_memories.language.text.tokens import WEAK, WORD, code, index_terms, plain

_HAN_NAME = re.compile(r"[\u4e00-\u9fff]{3,4}")
# A shorter word is as likely a title, an initial or a word of its own.
_FEWEST_LETTERS = 3
_FAMILY_NAME = {3: 1, 4: 2}
# Who is called something else: a memory with one of these may tell another name of somebody, if
# both names stand as near as this, in terms.
_NEAR_WORDS, _NEAR_CHARACTERS = 3, 10
_CHINESE_CALLING = "叫 昵称 外号 绰号 小名 乳名 别名 又名"
_CALLING = frozenset(
    map(code, [*index_terms("call nickname alias aka"), *_CHINESE_CALLING.split()])
)


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it is looked for: whole or in part in a text, or among the terms of one."""

    whole: str
    forms: tuple[re.Pattern[str], ...]
    codes: frozenset[int]

    @classmethod
    def of(cls, name: str) -> Name:
        whole = plain(name)
        codes = frozenset(n for n in map(code, index_terms(whole)) if not n & WEAK)
        return cls(whole, tuple(map(_standing_alone, _forms(whole))), codes)

    def stands_in(self, text: str) -> bool:
        """Say whether a text names this person: a normalised one, in simplified characters.

        >>> Name.of("Priya Sharma").stands_in("what did priya say?")
        True
        >>> Name.of("張曼婷").stands_in("曼婷去了哪里")
        True
        """
        return any(form.search(text) for form in self.forms)


def told_beside(asked: Set[int], said: Sequence[int]) -> frozenset[int]:
    """Return what a memory tells of somebody who is called by one of the terms that are asked for.

    `said` are its terms in order. In "everybody calls Priya Pri" it is `priya`, if `pri` is asked
    for; in "I must call Priya about the tap" nothing, if it is the tap.
    """
    told: set[int] = set()
    for place, number in enumerate(said):
        if number in _CALLING:
            near = _NEAR_WORDS if number & WORD else _NEAR_CHARACTERS
            beside = said[max(0, place - near) : place + near + 1]
            if not asked.isdisjoint(beside):
                told.update(beside)
    return frozenset(told)


def _forms(name: str) -> list[str]:
    """Return what somebody of this name is called: all of it, or the given name alone."""
    if len(name) < 2:  # noqa: PLR2004 - a single letter or character is in every text
        return []
    if _HAN_NAME.fullmatch(name):
        return [name, name[_FAMILY_NAME[len(name)] :]]
    first, *more = name.split() or [name]
    telling = len(first) >= _FEWEST_LETTERS and not code(first) & WEAK
    return [name, first] if more and telling else [name]


@functools.lru_cache(maxsize=4096)
def _standing_alone(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])")
