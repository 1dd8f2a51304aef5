"""Names for what came without one."""

from __future__ import annotations

import hashlib

_DIGITS = 10


def note_key(text: str) -> str:
    """Name a note by its text: the same note twice is one note.

    >>> note_key("我养了一只猫") == note_key(" 我养了一只猫 ")
    True
    """
    return f"note.{hashlib.sha256(text.strip().encode()).hexdigest()[:_DIGITS]}"
