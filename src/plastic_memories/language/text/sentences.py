"""Split a chat message into sentences, with their places."""

from __future__ import annotations

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.tokens import EMOJI

# What follows the end of a sentence and belongs to it: closing marks, then space.
_TAIL = r"[\"”’」』)）\]】]*+\s*+"
# In chat a smiley before a space ends a sentence like a full stop.
_SENTENCE_END = regex(
    rf"(?:[。！？!?；;…\n]++|(?<!\.)\.++(?=[\s\"”’)]|\Z)|(?<![{EMOJI}\ufe0f])[{EMOJI}\ufe0f]++(?=\s)){_TAIL}"
)


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of every sentence; together they are the whole text.

    >>> [text[a:b] for text in ["我叫小明。海鲜过敏😭 晚安"] for a, b in sentence_spans(text)]
    ['我叫小明。', '海鲜过敏😭 ', '晚安']
    >>> [text[a:b] for text in ["I'm Bob. v1.2 is out! ok"] for a, b in sentence_spans(text)]
    ["I'm Bob. ", 'v1.2 is out! ', 'ok']
    """
    spans, place = [], 0
    for found in _SENTENCE_END.finditer(text):
        spans.append((place, found.end()))
        place = found.end()
    if place < len(text):
        spans.append((place, len(text)))
    return spans
