"""What a model is handed of a text."""

from __future__ import annotations

from plastic_memories.language.text.tokens import truncate_normalised


def truncate_for_model(text: str, max_chars: int) -> str:
    r"""Return at most so many characters, as text that every tokenizer and wire can carry.

    Characters are counted as models read them, not as they are written. Half a character pair has
    no bytes, and what follows a zero byte is lost on its way into C.

    >>> truncate_for_model("tea\0time\ud83c", 8)
    'tea time'
    """
    return (
        truncate_normalised(text, max_chars).encode("utf-8", "replace").decode().replace("\0", " ")
    )
