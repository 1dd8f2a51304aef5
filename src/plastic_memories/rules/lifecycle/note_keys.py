"""Keys for notes that were stored without one."""

from __future__ import annotations

import hashlib

_DIGITS = 10


def note_key(text: str) -> str:
    """Return a key derived from the text, so that the same note is stored once.

    >>> note_key("我养了一只猫") == note_key(" 我养了一只猫 ")
    True
    """
    return f"note.{hashlib.sha256(text.strip().encode()).hexdigest()[:_DIGITS]}"
