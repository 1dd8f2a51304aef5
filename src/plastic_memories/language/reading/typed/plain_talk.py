"""Normalise chat for the rules: emoji, kaomoji, laughter and repeated letters say nothing.

Every character keeps its position, so that quotes are taken from the message as it was typed: what
separates statements becomes a `PAUSE`, what merely fills them becomes `GONE`.
"""

from __future__ import annotations

import re

from plastic_memories.language.text.chinese_variants import to_rule_chinese
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.word_lists import any_of

PAUSE = "\t"
GONE = "\u2060"

_EMOJI = (
    "[\U0001f000-\U0001faff\U000e0020-\U000e007f\u2600-\u27bf\u2b00-\u2bff\u200d\ufe0e\ufe0f\u20e3"
    "\u2190-\u21ff\u2500-\u25ff\u0300-\u036f\uff61-\uff65\uff89\uff9f"
    "ヽノゝ٩۶งωДΣ≧≦∇︶︿︵ᴗ‿•ㅠㅜಥ]+"
)
_FACES = any_of("typed_plain_talk", "faces")
_LAUGHTER = any_of("typed_plain_talk", "laughter")
_NOTHING_SAID = regex(f"{_EMOJI}|{_FACES}|{_LAUGHTER}")
# A line that ends in a comma or a title goes on in the next one.
_BROKEN_LINE = regex(
    r"(?:(?<=[，,、])|(?<=\b[DM]r\.)|(?<=\bMrs\.)|(?<=\b(?:Ms|St)\.))[ \t]*+\n[ \t]*+(?=\S)"
)
_MAX_STRETCH = 40  # nobody stretches a word further
_STRETCHED = regex(r"(?<![\d./])([A-Za-z\u3400-\u9fff])\1{2,}+")


def to_plain_talk(content: str) -> str:
    """Return the text as the rules read it, with every character at its position.

    >>> to_plain_talk("我對海鮮敏感😭").rstrip(), to_plain_talk("i loooove tea").replace(GONE, "")
    ('我对海鲜过敏', 'i love tea')
    """
    text = _NOTHING_SAID.sub(_as_pause, to_rule_chinese(content))
    return _STRETCHED.sub(_as_one, _BROKEN_LINE.sub(_as_space, text))


def _as_pause(found: re.Match[str]) -> str:
    return PAUSE * len(found[0])


def _as_space(found: re.Match[str]) -> str:
    return " " + GONE * (len(found[0]) - 1)


def _as_one(found: re.Match[str]) -> str:
    if found[1] in "wW" or len(found[0]) > _MAX_STRETCH:  # www., and laughter in Japanese
        return found[0]
    return found[1] + GONE * (len(found[0]) - 1)
