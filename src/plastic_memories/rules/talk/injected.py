"""How the hub's own words are told from the user's."""

from __future__ import annotations

FENCE = "<plastic_memories"


def carries_injection(text: str) -> bool:
    """Say whether a text holds the mark of a block the hub injected.

    >>> carries_injection("<plastic_memories version=1>")
    True
    """
    return FENCE in text.lower()
