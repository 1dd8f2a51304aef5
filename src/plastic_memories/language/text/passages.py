"""Split long memories into passages to embed, so that a passing fact is still found."""

from __future__ import annotations

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.tokens import UNSPACED

MAX_PASSAGES = 8
_MIN_SPLIT_LENGTH = 160
# A character of an unspaced script carries as much as three letters.
_UNSPACED = regex(f"[{UNSPACED}]")
_SENTENCE = regex(r"[^。！？!?.\n]+[。！？!?.\n]*+[\"”』」]*+\s*+")


def split_passages(text: str) -> list[str]:
    """Return the text, and if it is long, its passages of one or a few sentences.

    >>> split_passages("I like tea.")
    ['I like tea.']
    """
    if _weighted_length(text) <= _MIN_SPLIT_LENGTH * 1.5:
        return [text]
    found = sentence_groups(text)
    if len(found) >= MAX_PASSAGES:
        size = -(-len(found) // (MAX_PASSAGES - 1))
        found = [" ".join(found[i : i + size]) for i in range(0, len(found), size)]
    return [text, *found] if len(found) > 1 else [text]


def sentence_groups(text: str) -> list[str]:
    """Return a text as groups of one or a few sentences."""
    found = [""]
    for sentence in _SENTENCE.findall(text):
        if (
            found[-1]
            and _weighted_length(found[-1]) + _weighted_length(sentence) > _MIN_SPLIT_LENGTH
        ):
            found.append("")
        found[-1] += sentence
    return [stretch.strip() for stretch in found if len(stretch.strip()) > 1]


def _weighted_length(text: str) -> int:
    return len(text) + 2 * len(_UNSPACED.findall(text))
