"""Render a user's Markdown pages as a part of the stable block."""

from __future__ import annotations

from collections.abc import Sequence

from plastic_memories.language.text.token_count import estimate_tokens
from plastic_memories.model.page import PageTitle
from plastic_memories.rules.prompt.blocks import as_text, escape_line

# The core page takes priority; the index only helps to find pages.
_INDEX_SHARE = 4


def page_block(
    core: Sequence[str], index: Sequence[PageTitle], language: str, budget: int
) -> tuple[str, bool]:
    """Return core and index within a budget ('' if both are empty), and whether some was cut.

    >>> page_block(["- 喜欢茶"], [PageTitle("memory://extended/a.md", "健康")], "", 100)[0]
    '## 记忆\\n### Core\\n- 喜欢茶\\n### Extended\\n- 健康 (memory://extended/a.md)'
    """
    entries = [f"- {escape_line(page.title)} ({escape_line(page.id)})" for page in index]
    all_core_lines = as_text("\n".join(core)).split("\n") if core else []
    heading = f"## {'记忆' if not language or language.lower().startswith('zh') else 'Memory'}"
    left = budget - estimate_tokens(f"{heading}\n### Core\n### Extended\n")
    reserved, _ = _fit_lines(entries, left // _INDEX_SHARE)
    core_lines, left = _fit_lines(all_core_lines, left - sum(map(_line_tokens, reserved)))
    # The index may use what the core leaves.
    index_lines, _ = _fit_lines(entries, left + sum(map(_line_tokens, reserved)))
    lines = [heading] * bool(core_lines or index_lines)
    lines += ["### Core", *core_lines] * bool(core_lines)
    lines += ["### Extended", *index_lines] * bool(index_lines)
    is_cut = len(core_lines) < len(all_core_lines) or len(index_lines) < len(entries)
    return "\n".join(lines), is_cut


def _fit_lines(lines: Sequence[str], budget: int) -> tuple[list[str], int]:
    """Return the lines before the first that does not fit, and the budget left."""
    fitting: list[str] = []
    for line in lines:
        if _line_tokens(line) > budget:
            break
        fitting.append(line)
        budget -= _line_tokens(line)
    return fitting, budget


def _line_tokens(line: str) -> int:
    return estimate_tokens(line) + 1
