"""What a model is handed of a text."""

from __future__ import annotations

from plastic_memories.language.text.tokens import start_of


def readable(text: str, most: int) -> str:
    r"""Return at most so many characters, as text that every tokenizer and wire can carry.

    Characters are counted as models read them, not as they are written. Half a character pair has
    no bytes, and what follows a zero byte is lost on its way into C.

    >>> readable("tea\0time\ud83c", 8)
    'tea time'
    """
    return start_of(text, most).encode("utf-8", "replace").decode().replace("\0", " ")
