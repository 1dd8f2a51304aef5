"""Spell out English as people type it: "im on meds w breakfast" becomes whole words."""

from __future__ import annotations

import re
from functools import cache

from plastic_memories.language.text.lazy_regex import at_start, regex
from plastic_memories.language.text.word_lists import data_lines

_SHORT = regex(r"(?<![\w'/@.-])[A-Za-z2][\w/']{0,11}(?![\w'/@.-])")
_LINE = at_start(r"(?P<short>\S+) (?:\((?P<next>.+)\) )?(?P<full>.+)")
_FOLLOWING_CHARS = 40


@cache
def _spellings() -> dict[str, list[tuple[re.Pattern[str] | None, str]]]:
    """Return for each short form what must follow it, if anything, and the full one."""
    table: dict[str, list[tuple[re.Pattern[str] | None, str]]] = {}
    for line in data_lines("chat_spelling"):
        found = _LINE.fullmatch(line)
        assert found, line
        after = re.compile(rf"\s(?:{found['next']})\b", re.IGNORECASE) if found["next"] else None
        table.setdefault(found["short"], []).append((after, found["full"]))
    return table


def spell_out(text: str) -> str:
    """Return a clause with its short forms spelled out; names in capitals stay.

    >>> spell_out("im allergic to nuts w my bf"), spell_out("ur my best friend")
    ("I'm allergic to nuts with my boyfriend", "you're my best friend")
    """
    return _SHORT.sub(_full_form, text)


def _full_form(found: re.Match[str]) -> str:
    word = found[0]
    if word.isupper() and len(word) > 1:
        return word
    for after, full in _spellings().get(word.lower(), ()):
        if after is None or after.match(found.string, found.end(), found.end() + _FOLLOWING_CHARS):
            return full
    return word
