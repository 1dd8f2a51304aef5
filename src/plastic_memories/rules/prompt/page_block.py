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
    shown = as_text("\n".join(core)).split("\n") if core else []
    heading = f"## {'记忆' if not language or language.lower().startswith('zh') else 'Memory'}"
    left = budget - estimate_tokens(f"{heading}\n### Core\n### Extended\n")
    share, _ = _fit_lines(entries, left // _INDEX_SHARE)
    kept, left = _fit_lines(shown, left - sum(map(_line_tokens, share)))
    # The index may use what the core leaves.
    listed, _ = _fit_lines(entries, left + sum(map(_line_tokens, share)))
    lines = [heading] * bool(kept or listed)
    lines += ["### Core", *kept] * bool(kept) + ["### Extended", *listed] * bool(listed)
    return "\n".join(lines), len(kept) < len(shown) or len(listed) < len(entries)


def _fit_lines(lines: Sequence[str], budget: int) -> tuple[list[str], int]:
    """Return the lines before the first that does not fit, and the budget left."""
    kept: list[str] = []
    for line in lines:
        if _line_tokens(line) > budget:
            break
        kept.append(line)
        budget -= _line_tokens(line)
    return kept, budget


def _line_tokens(line: str) -> int:
    return estimate_tokens(line) + 1
