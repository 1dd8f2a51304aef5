"""Keeps what a pure function has said of short texts that come again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class _Kept(dict[str, T]):
    def __init__(self, made: Callable[[str], T], most: int) -> None:
        self._made = made
        self._most = most

    def __missing__(self, text: str) -> T:
        if len(self) >= self._most:
            self.clear()
        value = self[text] = self._made(text)
        return value


def kept(most: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Keep what a function says of up to `most` texts; when there are more, begin anew.

    Twice as fast as `lru_cache`, which also notes the order in which it was asked: every term of
    every text that is written comes through here.
    """
    return lambda made: _Kept(made, most).__getitem__
