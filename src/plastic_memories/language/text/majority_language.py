"""The language that most of a talk is in."""

from __future__ import annotations

from collections.abc import Iterable

from plastic_memories.language.text.lazy_regex import regex

_HAN = regex(r"[\u3400-\u9fff]")
_LATIN_WORD = regex(r"[A-Za-z]{2,}")
# One English word carries about as much as two Chinese characters.
_CHARS_PER_WORD = 2


def majority_language(texts: Iterable[str]) -> str:
    """Return the language most of the talk is in: `zh` or `en`.

    >>> majority_language(["我在用 Python 写代码"]), majority_language(["hello", "你"])
    ('zh', 'en')
    """
    whole = "\n".join(texts)
    han, words = len(_HAN.findall(whole)), len(_LATIN_WORD.findall(whole))
    return "zh" if han and han >= _CHARS_PER_WORD * words else "en"
