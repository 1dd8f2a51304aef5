"""Regular expressions that are compiled when they are first asked, or all together in good time."""

from __future__ import annotations

import re
import time
from typing import Any, cast

_PARTS = ("match", "fullmatch", "search", "sub", "split", "findall", "finditer", "groups")
_uncompiled: list[_LazyPattern] = []


class _LazyPattern:
    """Stands for a compiled expression; from its first use on it is as quick as that."""

    def __init__(self, text: str, flags: int) -> None:
        self._source = text, flags
        _uncompiled.append(self)

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(*self._source)
        for part in _PARTS:
            setattr(self, part, getattr(compiled, part))
        return getattr(compiled, name)


def regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return an expression that costs nothing until it is used.

    The rules have some four hundred; compiling them took a quarter of a server's start.
    """
    return cast("re.Pattern[str]", _LazyPattern(text, flags))


def at_start(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return an expression that is tried at the start of a text and nowhere else.

    One that begins with words that may repeat would else read the same run again from each word.
    """
    return regex(rf"\A(?:{text})", flags)


def compile_all() -> None:
    """Compile what has not been used yet, and let others go first after each."""
    while _uncompiled:
        _uncompiled.pop().search  # noqa: B018 - asking for it compiles it
        time.sleep(0)
