"""Estimate token counts without a tokenizer."""

from __future__ import annotations

import re
from functools import lru_cache

from plastic_memories.language.text.lazy_regex import regex

# In hundredths of a token. Slightly above what cl100k, o200k and Qwen's vocabularies use for chat
# prose, because a block that is too long costs more than one that is a line short: English about
# 1.3 tokens a word, Han 0.7 (o200k, Qwen) to 1.1 (cl100k) a character, digits in threes (Qwen: one
# by one), emoji two or three, other alphabets about two characters a token.
_PER_WORD = 130
_PER_LATIN_CHAR = 25
_PER_HAN_CHAR = 90
_PER_DIGIT = 50
_PER_OTHER_LETTER = 50
_PER_SIGN = 70
_PER_ASTRAL_CHAR = 250

_LATIN_WORD = regex(r"[A-Za-z\u00c0-\u024f]+")
_HAN = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]")
_DIGIT = regex(r"[0-9]")
_ASTRAL = regex(r"[\U00010000-\U0010ffff]")
_OTHER_LETTER = regex(r"[^\W\d_A-Za-z\u00c0-\u024f\u3040-\u9fff\uac00-\ud7a3\uf900-\uffff]")
_SIGN = regex(r"[^\w\s\U00010000-\U0010ffff]|_|\n")


@lru_cache(maxsize=16_384)
def estimate_tokens(text: str) -> int:
    """Return about how many tokens a model counts for the text; 0 only for empty text.

    >>> estimate_tokens("我对海鲜过敏"), estimate_tokens("I like jasmine tea.")
    (6, 7)
    """
    if not text:
        return 0
    words = sum(max(_PER_WORD, _PER_LATIN_CHAR * len(word)) for word in _LATIN_WORD.findall(text))
    return (
        -(-(words + sum(_count_matches(pattern, text) * cost for pattern, cost in _COSTS)) // 100)
        or 1
    )


_COSTS = (
    (_HAN, _PER_HAN_CHAR),
    (_DIGIT, _PER_DIGIT),
    (_ASTRAL, _PER_ASTRAL_CHAR),
    (_OTHER_LETTER, _PER_OTHER_LETTER),
    (_SIGN, _PER_SIGN),
)


def _count_matches(pattern: re.Pattern[str], text: str) -> int:
    return len(pattern.findall(text))
