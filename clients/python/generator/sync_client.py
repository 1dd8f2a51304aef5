"""Rewrite the async client as the sync one.

Tokens are renamed, `async` and `await` removed; comments and layout stay. Two idioms are
rewritten whole: `asyncio.to_thread(f, x)` becomes `f(x)`, a loop that only yields `yield from`.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

from clients.python.generator.source import PACKAGE, ROOT, render_file

NAMES = {
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "aclose": "close",
    "aiter_bytes": "iter_bytes",
    "aread": "read",
    "async_client": "client",
    "async_methods": "sync_methods",
}
# Phrases in docstrings.
PHRASES = {
    "an `async with`": "a `with`",
    "for asyncio": "for synchronous code",
    "the async client": "the sync client",
}

Edit = tuple[tuple[int, int], tuple[int, int], str]


def files() -> dict[str, Callable[[], str]]:
    """Return the generated files by path in the repository, each with its generator."""
    sources = [PACKAGE / "async_client.py", *sorted((PACKAGE / "async_methods").glob("*.py"))]
    return {_target(source).relative_to(ROOT).as_posix(): _generator(source) for source in sources}


def to_sync(text: str) -> str:
    """Return async source as sync source.

    >>> to_sync("async def f(x):\\n    return await x.aclose()\\n")
    'def f(x):\\n    return x.close()\\n'
    """
    sync = _apply(text, list(_token_edits(text)))
    # One at a time: an edit moves all code after it.
    while edit := next(_idiom_edits(sync), None):
        sync = _apply(sync, [edit])
    return sync


def _generator(source: Path) -> Callable[[], str]:
    name = source.relative_to(PACKAGE).as_posix()
    return lambda: render_file(to_sync(source.read_text(encoding="utf-8")), _target(source), name)


def _target(source: Path) -> Path:
    parts = source.relative_to(PACKAGE).with_suffix("").parts
    return PACKAGE.joinpath(*(NAMES.get(part, part) for part in parts)).with_suffix(".py")


def _token_edits(text: str) -> Iterator[Edit]:
    before = ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.string in ("async", "await"):
            row, column = token.end
            yield token.start, (row, column + 1), ""
        elif token.type == tokenize.NAME:
            yield token.start, token.end, _sync_name(token.string, before)
        elif token.type == tokenize.STRING:
            yield token.start, token.end, _sync_phrases(token.string)
        before = token.string


def _sync_name(name: str, before: str) -> str:
    if name == "asyncio" and before == ".":  # websockets.asyncio
        return "sync"
    return NAMES.get(name) or re.sub(r"^Async(?=[A-Z])", "", name)


def _sync_phrases(string: str) -> str:
    for phrase, replacement in PHRASES.items():
        string = string.replace(phrase, replacement)
    return string


def _idiom_edits(text: str) -> Iterator[Edit]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "asyncio.to_thread":
            function, *arguments = (_segment(text, part) for part in [*node.args, *node.keywords])
            yield _edit(text, node, f"{function}({', '.join(arguments)})")
        elif isinstance(node, ast.For) and _only_yields(node):
            yield _edit(text, node, f"yield from {_segment(text, node.iter)}")


def _only_yields(loop: ast.For) -> bool:
    return [ast.unparse(step) for step in loop.body] == [f"yield {ast.unparse(loop.target)}"]


def _segment(text: str, node: ast.AST) -> str:
    return ast.get_source_segment(text, node) or ""


def _edit(text: str, node: ast.expr | ast.stmt, replacement: str) -> Edit:
    lines = text.encode().splitlines()

    def position(row: int, offset: int) -> tuple[int, int]:
        # An AST counts bytes, tokens count characters.
        return row, len(lines[row - 1][:offset].decode())

    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    end = position(node.end_lineno, node.end_col_offset)
    return position(node.lineno, node.col_offset), end, replacement


def _apply(text: str, edits: list[Edit]) -> str:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for (row, column), (end_row, end_column), replacement in sorted(edits, reverse=True):
        head, tail = text[: starts[row - 1] + column], text[starts[end_row - 1] + end_column :]
        text = head + replacement + tail
    return text
