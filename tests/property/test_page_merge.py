"""A core page and the memories find together again, whatever either side did; nothing is lost."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from plastic_memories.formats.pages.page_lines import (
    PageLine,
    anchored_line,
    join_lines,
    parse_page,
    statement_digest,
    statement_of,
)
from plastic_memories.formats.pages.page_merge import (
    CHINESE_HEADINGS,
    append_to_section,
    plan_page_merge,
    rewrite_page,
)

texts = st.sampled_from(
    ["喜欢茶", "对海鲜过敏", "likes tea", "叫我阿明", "住在 Berlin", "养了一只猫"]
)
roots = st.integers(1, 5)
rows = st.dictionaries(roots, texts, max_size=5)
openings = st.sampled_from(["- ", "", "  * ", "1. "])
anything = st.text(alphabet="ab茶 -*>#|`^pm1\r\n<!~=_[x]\u3000\x85", max_size=80)


@st.composite
def page_lines(draw: st.DrawFn) -> PageLine:
    """A line as a person or the hub may have left it."""
    text, opening = draw(texts), draw(openings)
    if draw(st.booleans()):
        return anchored_line(text, draw(roots), opening)
    [line] = parse_page(f"{opening}{text}\n")
    return line


pages = st.lists(page_lines(), max_size=6)
bases = st.dictionaries(roots, texts.map(statement_digest), max_size=5)


@dataclass
class Round:
    """One round as the hub plays it, with a dict for its memories."""

    page: list[PageLine]
    rows: dict[int, str]
    removed: tuple[int, ...]
    added: tuple[int, ...]
    edited: dict[int, int]

    @property
    def base(self) -> dict[int, str]:
        return {
            line.root: statement_digest(line.text) for line in self.page if line.root is not None
        }

    @property
    def said(self) -> list[str]:
        return [line.text for line in self.page if line.text]


def play(page: list[PageLine], base: dict[int, str], rows: dict[int, str]) -> Round:
    found = plan_page_merge(page, base, rows)
    after = {root: text for root, text in rows.items() if root not in found.removed}
    settled: dict[int, int] = {}
    for number, root in found.edited.items():
        after[root], settled[number] = page[number].text, root
    for number in found.added:
        same = [root for root, text in after.items() if text == page[number].text]
        settled[number] = same[0] if same else max(after, default=5) + 1
        after[settled[number]] = page[number].text
    kept, new = rewrite_page(page, found, settled, after)
    done = append_to_section(kept, new, CHINESE_HEADINGS)
    return Round(done, after, found.removed, found.added, dict(found.edited))


@given(anything)
def test_a_page_taken_apart_is_put_together_again(text: str) -> None:
    assert join_lines(parse_page(text)) == text


@given(anything)
def test_a_memory_is_read_back_from_its_line(content: str) -> None:
    text = statement_of(content)

    assert statement_of(text) == text


@given(pages, bases, rows)
def test_after_one_round_both_sides_say_the_same(
    page: list[PageLine], base: dict[int, str], rows: dict[int, str]
) -> None:
    done = play(page, base, rows)

    assert set(done.said) >= set(done.rows.values())
    assert {line.root: line.text for line in done.page if line.root is not None} == done.rows


@given(pages, bases, rows)
def test_a_second_round_changes_nothing(
    page: list[PageLine], base: dict[int, str], rows: dict[int, str]
) -> None:
    first = play(page, base, rows)

    again = play(parse_page(join_lines(first.page)), first.base, first.rows)

    assert (again.added, again.edited, again.removed) == ((), {}, ())
    assert join_lines(again.page) == join_lines(first.page)


@given(pages, bases, rows)
def test_no_round_loses_what_somebody_has_said(
    page: list[PageLine], base: dict[int, str], rows: dict[int, str]
) -> None:
    done = play(page, base, rows)

    in_step = set(base.values())
    mine = {line.text for line in page if statement_digest(line.text) not in in_step}
    theirs = {text for text in rows.values() if statement_digest(text) not in in_step}
    assert mine | theirs <= set(done.said)


@given(pages, bases, rows)
def test_a_round_that_died_before_its_note_is_made_good_by_the_next(
    page: list[PageLine], base: dict[int, str], rows: dict[int, str]
) -> None:
    first = play(page, base, rows)

    unnoted = play(first.page, base, first.rows)

    assert unnoted.rows == first.rows
    assert join_lines(unnoted.page) == join_lines(first.page)


@given(bases, rows)
def test_a_page_that_is_gone_removes_nothing(base: dict[int, str], rows: dict[int, str]) -> None:
    done = play([], base, rows)

    assert done.rows == rows
