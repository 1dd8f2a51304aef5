"""Which texts say the same thing, as far as words can tell."""

from __future__ import annotations

from collections.abc import Iterable

from plastic_memories.rules.text import index_terms

# Above this share of common terms, two lines in a prompt tell the reader nothing new.
_SAME = 0.85


def without_repeats(texts: Iterable[str]) -> list[int]:
    """Return the positions of the texts to keep: the first of each group that says the same.

    >>> without_repeats(["I like green tea", "I like green tea!", "I like coffee"])
    [0, 2]
    """
    kept: list[tuple[int, frozenset[str]]] = []
    for position, text in enumerate(texts):
        terms = frozenset(index_terms(text)) or frozenset({text})
        if not any(_overlap(terms, other) >= _SAME for _, other in kept):
            kept.append((position, terms))
    return [position for position, _ in kept]


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)
