"""Keeps what a pure function has said of short texts that come again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class _BoundedCache(dict[str, T]):
    def __init__(self, made: Callable[[str], T], max_size: int) -> None:
        self._made = made
        self._max_size = max_size

    def __missing__(self, text: str) -> T:
        if len(self) >= self._max_size:
            self.clear()
        value = self[text] = self._made(text)
        return value


def bounded_cache(max_size: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Keep what a function says of up to `max_size` texts; when there are more, begin anew.

    Twice as fast as `lru_cache`, which also notes the order in which it was asked: every term of
    every text that is written comes through here.
    """
    return lambda made: _BoundedCache(made, max_size).__getitem__
