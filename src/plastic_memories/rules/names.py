"""Whom a question is about: people by their names, or by what they are called. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection
from dataclasses import dataclass

from plastic_memories.rules.han import simplified
from plastic_memories.rules.text import WEAK, code, index_terms, normalise

_HAN_NAME = re.compile(r"[\u4e00-\u9fff]{3,4}")
# A shorter word is as likely a title, an initial or a word of its own.
_FEWEST_LETTERS = 3
_FAMILY_NAME = {3: 1, 4: 2}
# Who is called something else: a memory with one of these may tell another name of somebody.
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
        whole = simplified(normalise(name))
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


def tells_a_name(terms: Collection[int]) -> bool:
    """Say whether a memory with these terms may tell what somebody is called."""
    return not _CALLING.isdisjoint(terms)


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
