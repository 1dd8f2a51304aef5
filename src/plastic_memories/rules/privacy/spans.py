"""What all finders of sensitive text share."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plastic_memories.language.text.lazy_regex import regex

Span = tuple[int, int]
_DIGIT, _LETTER = regex(r"[0-9]"), regex(r"[A-Za-z]")


def group_spans(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    """Yield the span of the first group (or of the match, without groups) of every match."""
    return (match.span(1 if pattern.groups else 0) for match in pattern.finditer(text))


def contains_any(text: str, words: tuple[str, ...]) -> bool:
    """Return whether a lower-case text contains one of the words; cheaper than a pattern."""
    for word in words:  # noqa: SIM110 - `any` would start a generator for every text
        if word in text:
            return True
    return False


def has_letter_and_digit(text: str) -> bool:
    """Return whether a text contains both an ASCII letter and an ASCII digit."""
    return bool(_DIGIT.search(text) and _LETTER.search(text))
