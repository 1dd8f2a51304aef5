"""Small talk that fills the days between an evening and the question about it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from bench.companion.people import Utterance

_DAY_S = 86_400.0
_LINES_A_DAY = 60
_MINUTE_S = 60.0
_PARTS: dict[str, list[list[str]]] = json.loads(
    Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
)


def small_talk(language: str, after: float, count: int) -> Iterator[Utterance]:
    """Yield lines that tell nothing of the speaker, no two the same, spread over days."""
    parts = _PARTS[language]
    lines = (" ".join(parts) for parts in product(*parts))
    for number, line in zip(range(count), lines, strict=False):
        day, minute = divmod(number, _LINES_A_DAY)
        at = after + (day + 1) * _DAY_S + minute * _MINUTE_S
        yield Utterance(f"day{day}", at, "user", "", line, (), nothing=True)
