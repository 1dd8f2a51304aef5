"""Small pieces of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

GENERATED = "<!-- Written by `make docs`. Change its source, not this page. -->"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; a bar inside a cell is escaped.

    >>> print(table(["a"], [["x|y"]]))
    | a |
    |---|
    | x\\|y |
    """
    lines = [_row(head), "|" + "---|" * len(head)]
    return "\n".join([*lines, *(_row(row) for row in rows)])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def pages(*parts: str) -> str:
    """Join paragraphs into a page with one line break at its end."""
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"
