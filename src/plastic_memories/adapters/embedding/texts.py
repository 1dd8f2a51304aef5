"""What a model is handed of a text."""

from __future__ import annotations


def readable(text: str, most: int) -> str:
    r"""Return at most so many characters, as text that every tokenizer and wire can carry.

    Half a character pair has no bytes, and what follows a zero byte is lost on its way into C.

    >>> readable("tea\0time\ud83c", 8)
    'tea time'
    """
    return text[:most].encode("utf-8", "replace").decode().replace("\0", " ")
