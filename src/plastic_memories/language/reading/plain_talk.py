"""Normalise chat for the rules: emoji, kaomoji, laughter and repeated letters say nothing.

Every character keeps its position, so that quotes are taken from the message as it was typed: what
separates statements becomes a `PAUSE`, what merely fills them becomes `GONE`.
"""

from __future__ import annotations

import re

from plastic_memories.language.text.chinese_variants import to_rule_chinese
from plastic_memories.language.text.lazy_regex import regex

PAUSE = "\t"
GONE = "\u2060"

_EMOJI = (
    "[\U0001f000-\U0001faff\U000e0020-\U000e007f\u2600-\u27bf\u2b00-\u2bff\u200d\ufe0e\ufe0f\u20e3"
    "\u2190-\u21ff\u2500-\u25ff\u0300-\u036f\uff61-\uff65\uff89\uff9f"
    "ヽノゝ٩۶งωДΣ≧≦∇︶︿︵ᴗ‿•ㅠㅜಥ]+"
)
_FACES = (
    r"(?<![\w/])(?:[:;=]'?-?[()DPpo3|]+|[xX][dD]+|[<>]_+[<>]|[Tt][_.][Tt]|\^_*\^|>_*<|<3|[Qq][AaWw][Qq]|"
    r"TAT|[Oo][Rr][Zz]|[Oo][_.][Oo]|-_+-|= ?=)(?![\w/])"
)
_LAUGHTER = (
    r"哈{2,}|嘿{2,}|嘻{2,}|嘎{2,}|呜{2,}|嘤{2,}|[啊呀]{3,}|嗷{2,}|笑死(?:我了?)?(?=[\s，。！!]|$)|"
    r"(?<![\w.-])(?:2333*+|555+)(?![\d\w.:-]|\s?[元块个年月号])|"
    r"(?<![A-Za-z])(?:[hH]{2,}|[hH]*(?:[hH][aAeE]){2,}[hH]?|[lL][mM][fF]?[aA][oO]+|[rR][oO][tT]?[fF][lL]|"
    r"[aA][wW][sS][lL]|[uU]+[gG]+[hH]+|[oO][mM][fF]?[gG]|[iI][jJ][bB][oO][lL]|💀)(?![A-Za-z])|"
    # In Chinese it may be the name of a game: 我喜欢玩lol.
    r"(?<![A-Za-z玩打看欢爱是上开])(?<![玩打]\s)[lL]+[oO]+[lL]+(?![A-Za-z])"
)
_NOTHING_SAID = regex(f"{_EMOJI}|{_FACES}|{_LAUGHTER}")
# A line that ends in a comma or a title goes on in the next one.
_BROKEN_LINE = regex(
    r"(?:(?<=[，,、])|(?<=\b[DM]r\.)|(?<=\bMrs\.)|(?<=\b(?:Ms|St)\.))[ \t]*+\n[ \t]*+(?=\S)"
)
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
    if found[1] in "wW":  # www., and laughter in Japanese
        return found[0]
    return found[1] + GONE * (len(found[0]) - 1)
