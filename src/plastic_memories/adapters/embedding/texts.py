"""Prepare texts for embedding models."""

from __future__ import annotations

from plastic_memories.language.text.tokens import truncate_normalised


def truncate_for_model(text: str, max_chars: int) -> str:
    r"""Return at most `max_chars` characters, as text that any tokenizer or protocol can carry.

    Characters are counted after normalisation, as models read them. A lone surrogate cannot be
    encoded, and C code cuts a text at a zero byte: both are replaced.

    >>> truncate_for_model("tea\0time\ud83c", 8)
    'tea time'
    """
    cut = truncate_normalised(text, max_chars)
    return cut.encode("utf-8", "replace").decode().replace("\0", " ")
