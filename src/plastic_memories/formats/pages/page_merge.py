"""Three-way merge of a core page with the memories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from plastic_memories.formats.pages.page_lines import (
    MARKER,
    LineKind,
    PageLine,
    anchored_line,
    comments_of,
    parse_page,
    statement_digest,
    unanchored_line,
)
from plastic_memories.rules.prompt.blocks import mostly_chinese


@dataclass(frozen=True, slots=True)
class PageMergePlan:
    """The changes a person made in a page since the last synchronisation, by line number."""

    root_by_line: Mapping[int, int]  # lines that stay with their memory, edited or not
    added: tuple[int, ...] = ()
    edited: Mapping[int, int] = field(default_factory=dict)
    removed: tuple[int, ...] = ()  # memories whose line was deleted
    # Lines edited while their memory changed too.
    conflicts: Mapping[int, int] = field(default_factory=dict)


def plan_page_merge(
    lines: Sequence[PageLine],
    base: Mapping[int, str],
    rows: Mapping[int, str],
    skip: Collection[int] = (),
) -> PageMergePlan:
    """Compare a page with its last synchronised state (`base`, digests) and with the memories now.

    If only one side changed, it wins. If both did, the line becomes a memory of its own beside the
    other: nothing is lost, and the person sees both. A page without any statement removes nothing:
    it is more likely broken than intended.
    """
    places = _LineMatcher(lines, base, rows, skip)
    removed = tuple(
        root
        for root in base
        if places.statements
        and root in rows
        and root not in places.taken
        and statement_digest(rows[root]) == base[root]
    )
    return PageMergePlan(
        places.root_by_line, tuple(places.added), places.edited, removed, places.conflicts
    )


class _LineMatcher:
    def __init__(
        self,
        lines: Sequence[PageLine],
        base: Mapping[int, str],
        rows: Mapping[int, str],
        skip: Collection[int],
    ) -> None:
        self.root_by_line: dict[int, int] = {}
        self.edited: dict[int, int] = {}
        self.conflicts: dict[int, int] = {}
        self.added: list[int] = []
        self._base, self._rows = base, rows
        numbers = [n for n, line in enumerate(lines) if line.kind is LineKind.STATEMENT]
        self.statements = len(numbers)
        holders = self._match_anchors(lines, numbers)
        self.taken = set(holders.values())
        numbers = [number for number in numbers if number not in skip]
        for number in numbers:
            if number in holders:
                self._classify_anchored(number, holders[number], lines[number].text)
        # An edited memory no longer says what it said before.
        changed = set(self.edited.values())
        alike: defaultdict[str, list[int]] = defaultdict(list)
        for root, said in rows.items():
            if root not in changed:
                alike[said].append(root)
        for number in numbers:
            if number not in holders:
                self._classify_unanchored(number, alike.get(lines[number].text, ()))

    def _match_anchors(self, lines: Sequence[PageLine], numbers: Sequence[int]) -> dict[int, int]:
        """Return line number → memory id; of two copies of a line the unchanged one counts."""
        chosen: dict[int, int] = {}
        for number in numbers:
            line = lines[number]
            root = line.root
            if root is None or not (root in self._base or self._rows.get(root) == line.text):
                continue
            if root not in chosen or statement_digest(line.text) == self._base.get(root):
                chosen[root] = number
        return {number: root for root, number in chosen.items()}

    def _classify_anchored(self, number: int, root: int, text: str) -> None:
        now = self._rows.get(root)
        is_changed = text != now and statement_digest(text) != self._base.get(root)
        if not is_changed:
            self.root_by_line[number] = root
        elif now is None:
            self.added.append(number)
        elif statement_digest(now) == self._base.get(root):
            self.root_by_line[number] = self.edited[number] = root
        else:
            self.added.append(number)
            self.conflicts[number] = root

    def _classify_unanchored(self, number: int, alike: Sequence[int]) -> None:
        free = [root for root in alike if root not in self.taken]
        if free:
            self.root_by_line[number] = free[0]
            self.taken.add(free[0])
        elif not alike:
            self.added.append(number)


@dataclass(frozen=True, slots=True)
class PageHeadings:
    """Title and section heading of a page, in the user's language."""

    title: str
    section: str


CHINESE_HEADINGS = PageHeadings(title="核心记忆", section="记忆")
ENGLISH_HEADINGS = PageHeadings(title="Core memory", section="Memories")


def page_headings_for(language: str, texts: Sequence[str]) -> PageHeadings:
    """Return headings in the user's language, else in the language of most texts."""
    if language:
        return CHINESE_HEADINGS if language.lower().startswith("zh") else ENGLISH_HEADINGS
    return CHINESE_HEADINGS if mostly_chinese(texts) else ENGLISH_HEADINGS


def rewrite_page(
    lines: Sequence[PageLine],
    done: PageMergePlan,
    settled: Mapping[int, int],
    rows: Mapping[int, str],
    left: Collection[int] = (),
) -> tuple[list[PageLine], dict[int, str]]:
    """Return the updated page, and the memories that have no line in it yet.

    `settled` maps a new or edited line to its memory. A line whose memory is gone is removed. A
    line that could not be stored (`left`) stays as it is.
    """
    final = {**done.root_by_line, **settled}
    # A new line may continue an older memory: then the line of the old wording goes.
    place_of = {root: number for number, root in done.root_by_line.items()}
    place_of |= {root: number for number, root in settled.items()}
    page: list[PageLine] = []
    for number, line in enumerate(lines):
        root = final.get(number)
        if number in left:
            page.append(line)
        elif root is None or place_of[root] == number:
            page += _updated_line(line, root, rows)
        rival = done.conflicts.get(number)
        if rival in rows and rival not in place_of:
            assert rival is not None
            page = [
                *_with_final_newline(page),
                anchored_line(rows[rival], rival, line.opening, line.ending or "\n"),
            ]
            place_of[rival] = number
    return page, {root: text for root, text in rows.items() if root not in place_of}


def _updated_line(line: PageLine, root: int | None, rows: Mapping[int, str]) -> Iterator[PageLine]:
    if root is None:
        # Remove an anchor that is dangling or was copied along with a line: it only confuses.
        yield line if line.root is None else unanchored_line(line)
    elif root in rows:
        is_same = line.root == root and line.text == rows[root]
        yield (
            line
            if is_same
            else anchored_line(rows[root], root, line.opening, line.ending, comments_of(line))
        )


def append_to_section(
    page: Sequence[PageLine], new: Mapping[int, str], words: PageHeadings
) -> list[PageLine]:
    """Append lines to our section: after the marker, before the next heading."""
    if not new:
        return list(page)
    lines = list(page) or parse_page(_new_page_header(words))
    ending = next((line.ending for line in lines if line.ending), "\n")
    if not any(line.raw.strip() == MARKER for line in lines):
        section = parse_page(f"\n## {words.section}\n\n{MARKER}\n\n".replace("\n", ending))
        lines = [*_with_final_newline(lines), *section]
    place = _end_of_section(lines)
    added = [anchored_line(text, root, ending=ending) for root, text in new.items()]
    return [*_with_final_newline(lines[:place]), *added, *lines[place:]]


def _new_page_header(words: PageHeadings) -> str:
    return f"---\ntitle: {words.title}\ntags: [plastic-memories]\n---\n\n# {words.title}\n"


def _end_of_section(lines: Sequence[PageLine]) -> int:
    marker = next(n for n, line in enumerate(lines) if line.raw.strip() == MARKER)
    place = marker + 1
    for number in range(marker + 1, len(lines)):
        kind = lines[number].kind
        if kind is LineKind.HEADING:
            break
        # One blank line after the marker, none between lines.
        if kind is not LineKind.BLANK or place == marker + 1:
            place = number + 1
    return place


def _with_final_newline(page: Sequence[PageLine]) -> list[PageLine]:
    if page and not page[-1].ending:
        return [*page[:-1], replace(page[-1], ending="\n")]
    return list(page)
