"""Which texts say the same thing, as far as words can tell."""

from __future__ import annotations

from collections.abc import Iterable

from plastic_memories.rules.text import index_terms

# From this share of common terms on, two lines in a prompt tell the reader nothing new.
SAME_WORDS = 0.85


def repeats(texts: Iterable[str]) -> dict[int, int]:
    """Return which texts say the same as an earlier one, by position, and which that is.

    >>> repeats(["I like green tea", "I like green tea!", "I like coffee"])
    {1: 0}
    """
    kept: list[tuple[int, frozenset[str]]] = []
    found: dict[int, int] = {}
    for position, text in enumerate(texts):
        terms = frozenset(index_terms(text)) or frozenset({text})
        same = next((first for first, other in kept if _overlap(terms, other) >= SAME_WORDS), None)
        if same is None:
            kept.append((position, terms))
        else:
            found[position] = same
    return found


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)
