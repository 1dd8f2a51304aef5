"""Word lists, kept as data and read once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "data"


@cache
def data_lines(name: str) -> tuple[str, ...]:
    """Return the lines of a list, without comments; a line that begins with a tab continues one."""
    text = (_FOLDER / f"{name}.txt").read_text("utf-8").replace("\n\t", "")
    return tuple(line for line in text.split("\n") if line and not line.startswith("#"))


@cache
def word_groups(name: str) -> dict[str, str]:
    """Return the groups of a list: a line has a name, a space, and words separated by bars.

    The words are the alternatives of a regular expression; of two the first one counts.
    """
    return dict(line.split(" ", 1) for line in data_lines(name))


def any_of(name: str, group: str) -> str:
    """Return the words of a group as an expression."""
    return f"(?:{word_groups(name)[group]})"
