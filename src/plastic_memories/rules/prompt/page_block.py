"""Render a user's Markdown pages: core and index in the stable block, passages in the turn's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plastic_memories.language.text.token_count import estimate_tokens
from plastic_memories.model.page import PagePassage, PageTitle
from plastic_memories.rules.prompt.blocks import BlockHeadings, as_text, escape_line

# The core page takes priority; the index only helps to find pages.
_INDEX_SHARE = 4
# What of the budget is left to the passages of this turn.
_TURN_SHARE = 4
# A turn is paid for each time, and names of pages that are off the topic help little.
_MAX_TURN_ENTRIES = 12
# No line is cut to less than this, and a line up to this is not cut to make room for others.
_MIN_LINE_TOKENS = 24
# More characters than this never make up one token, but for blanks.
_CHARS_PER_TOKEN = 8
_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class PageBlock:
    """Core and index as text, and whether they are complete."""

    text: str = ""
    core_is_cut: bool = False
    index_is_cut: bool = False


def page_block(
    core: Sequence[str], index: Sequence[PageTitle], language: str, budget: int
) -> PageBlock:
    """Return core and index within a budget; the text is '' if both are empty.

    An index that does not fit is only counted: which of its pages are shown depends on the
    question, and belongs to the turn. Of the budget the turn has a share, if there is an index.

    >>> page_block(["- 喜欢茶"], [PageTitle("memory://extended/a.md", "健康")], "", 100).text
    '## 记忆\\n### Core\\n- 喜欢茶\\n### Extended\\n- 健康 (memory://extended/a.md)'
    """
    chinese = not language or language.lower().startswith("zh")
    entries = [_index_entry(page) for page in index]
    all_core_lines = as_text("\n".join(core)).split("\n") if core else []
    heading = f"## {'记忆' if chinese else 'Memory'}"
    left = budget - (budget // _TURN_SHARE if index else 0)
    left -= estimate_tokens(f"{heading}\n### Core\n### Extended\n")
    summary = _index_summary(len(index), chinese=chinese)
    index_tokens = sum(map(_line_tokens, entries))
    reserved = min(index_tokens, max(left // _INDEX_SHARE, _line_tokens(summary)), left // 2)
    core_lines = fit_text_lines(all_core_lines, left - reserved)
    # The index may use what the core leaves.
    left -= sum(map(_line_tokens, core_lines))
    index_is_cut = bool(entries) and index_tokens > left
    index_lines = _fit_lines([summary], left) if index_is_cut else entries
    lines = [heading] * bool(core_lines or index_lines)
    lines += ["### Core", *core_lines] * bool(core_lines)
    lines += ["### Extended", *index_lines] * bool(index_lines)
    return PageBlock("\n".join(lines), core_lines != all_core_lines, index_is_cut)


def turn_pages(
    found: Sequence[PagePassage], index: Sequence[PageTitle], words: BlockHeadings, budget: int
) -> tuple[str, bool]:
    """Return passages, each below its page's title, and an index; and whether passages were cut.

    `index` is in order of relevance; what of it does not fit is counted. Without both the text
    is ''.
    """
    heading = f"## {words.pages}"
    left = budget - _line_tokens(heading)
    entries = [_index_entry(page) for page in index]
    index_lines = _fit_index(entries, words.more_pages, left // (2 if found else 1))
    passages, is_cut = _fit_passages(found, left - sum(map(_line_tokens, index_lines)))
    lines = [*passages, *index_lines]
    return "\n".join([heading, *lines]) if lines else "", is_cut


def _fit_passages(found: Sequence[PagePassage], budget: int) -> tuple[list[str], bool]:
    """Return the passages that fit, those of one page together, and whether something was cut.

    The first passage is cut inside if need be; the others are whole or left out.
    """
    by_page: dict[PageTitle, list[str]] = {}
    is_cut = False
    for passage in found:
        title = 0 if passage.page in by_page else _line_tokens(_passage_heading(passage.page))
        lines = as_text("\n".join(passage.lines)).split("\n")
        new = [line for line in lines if line not in by_page.get(passage.page, ())]
        cost = title + sum(map(_line_tokens, new))
        is_cut = is_cut or cost > budget
        if cost > budget and not by_page:
            new = fit_text_lines(new, budget - title)
            cost = title + sum(map(_line_tokens, new))
        if new and cost <= budget:
            by_page.setdefault(passage.page, []).extend(new)
            budget -= cost
    shown = [line for page, lines in by_page.items() for line in (_passage_heading(page), *lines)]
    return shown, is_cut


def _fit_index(entries: Sequence[str], more: str, budget: int) -> list[str]:
    """Return the first entries and the number of the others; nothing if not even that fits."""
    if not entries:
        return []
    last = f"- {more.format(len(entries))}"
    budget -= _line_tokens("### Extended") + _line_tokens(last)
    if budget < 0:
        return []
    shown = _fit_lines(entries[:_MAX_TURN_ENTRIES], budget)
    others = len(entries) - len(shown)
    return ["### Extended", *shown, *[f"- {more.format(others)}"] * bool(others)]


def _index_entry(page: PageTitle) -> str:
    return f"- {escape_line(page.title)} ({escape_line(page.id)})"


def _passage_heading(page: PageTitle) -> str:
    return as_text(f"### {escape_line(page.title)} ({escape_line(page.id)})")


def _index_summary(pages: int, *, chinese: bool) -> str:
    if chinese:
        return f"- 共 {pages} 页 (memory://extended/*.md)，与话题有关的列在后面"
    return f"- {pages} pages (memory://extended/*.md); those on the topic are listed further below"


def fit_text_lines(lines: Sequence[str], budget: int) -> list[str]:
    """Return the lines that fit, long ones cut inside so that the lines after them have room.

    >>> fit_text_lines(["likes tea", "word " * 100, "lives in Rome"], 60)[2]
    'lives in Rome'
    """
    # Every line costs a token at least.
    offered = lines[: max(budget, 0)]
    costs = [_line_tokens(line[: budget * _CHARS_PER_TOKEN]) for line in offered]
    needed_after = sum(costs)
    fitting: list[str] = []
    for line, cost in zip(offered, costs, strict=True):
        needed_after -= cost
        room = min(budget, max(budget // 2, budget - needed_after, _MIN_LINE_TOKENS))
        is_whole = cost <= room and len(line) <= room * _CHARS_PER_TOKEN
        if not is_whole and fitting and room < _MIN_LINE_TOKENS:
            break
        shown = line if is_whole else truncate_to_tokens(line, room - 1)
        if not shown and line:
            break
        fitting.append(shown)
        budget -= _line_tokens(shown)
    return fitting


def truncate_to_tokens(line: str, budget: int) -> str:
    """Return the beginning of a line that costs at most so many tokens; '' if nothing does.

    >>> truncate_to_tokens("I like jasmine tea and green tea", 7)
    'I like jasmine tea…'
    """
    line = line[: max(budget, 0) * _CHARS_PER_TOKEN]
    low, high = 0, len(line)
    while low < high:
        middle = (low + high + 1) // 2
        fits = estimate_tokens(line[:middle] + _ELLIPSIS) <= budget
        low, high = (middle, high) if fits else (low, middle - 1)
    start = line[:low]
    # A word of letters is not cut in two, unless the line is nothing but that word.
    if start and start[-1:].isascii() and start[-1:].isalnum() and line[low : low + 1].isalnum():
        start = start.rpartition(" ")[0] or start
    # What was a longer heading may now read as one of ours.
    return as_text(start.rstrip() + _ELLIPSIS) if start.strip() else ""


def _fit_lines(lines: Sequence[str], budget: int) -> list[str]:
    """Return the lines before the first that does not fit."""
    fitting: list[str] = []
    for line in lines:
        budget -= _line_tokens(line)
        if budget < 0:
            break
        fitting.append(line)
    return fitting


def _line_tokens(line: str) -> int:
    return estimate_tokens(line) + 1
