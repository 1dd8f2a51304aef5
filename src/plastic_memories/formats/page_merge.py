"""A core page and the memories, kept in step: a three-way comparison. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from plastic_memories.formats.page_lines import MARKER, Kind, Line, digest, parse, written
from plastic_memories.rules.prompt.blocks import mostly_chinese


@dataclass(frozen=True, slots=True)
class Plan:
    """What a person has changed in a page since it was last in step; lines by their number."""

    held: Mapping[int, int]  # lines that stay with their memory, changed or not
    added: tuple[int, ...] = ()
    edited: Mapping[int, int] = field(default_factory=dict)
    removed: tuple[int, ...] = ()  # memories whose line was taken out
    # Lines that were changed while their memory was changed too.
    conflicts: Mapping[int, int] = field(default_factory=dict)


def plan(
    lines: Sequence[Line],
    base: Mapping[int, str],
    rows: Mapping[int, str],
    skip: Collection[int] = (),
) -> Plan:
    """Compare a page with what was last in step (`base`, digests) and with the memories now.

    Who changed alone wins. If both did, the line becomes a memory of its own beside the other:
    nothing is lost, and the person sees both. A page without any statement removes nothing:
    it is more likely to be broken than meant.
    """
    places = _Places(lines, base, rows, skip)
    removed = tuple(
        root
        for root in base
        if places.statements
        and root in rows
        and root not in places.taken
        and digest(rows[root]) == base[root]
    )
    return Plan(places.held, tuple(places.added), places.edited, removed, places.conflicts)


class _Places:
    def __init__(
        self,
        lines: Sequence[Line],
        base: Mapping[int, str],
        rows: Mapping[int, str],
        skip: Collection[int],
    ) -> None:
        self.held: dict[int, int] = {}
        self.edited: dict[int, int] = {}
        self.conflicts: dict[int, int] = {}
        self.added: list[int] = []
        self._base, self._rows = base, rows
        numbers = [n for n, line in enumerate(lines) if line.kind is Kind.STATEMENT]
        self.statements = len(numbers)
        holders = self._holders(lines, numbers)
        self.taken = set(holders.values())
        numbers = [number for number in numbers if number not in skip]
        for number in numbers:
            if number in holders:
                self._anchored(number, holders[number], lines[number].text)
        # What an edited memory said before, it says no longer.
        changed = set(self.edited.values())
        alike: defaultdict[str, list[int]] = defaultdict(list)
        for root, said in rows.items():
            if root not in changed:
                alike[said].append(root)
        for number in numbers:
            if number not in holders:
                self._loose(number, alike.get(lines[number].text, ()))

    def _holders(self, lines: Sequence[Line], numbers: Sequence[int]) -> dict[int, int]:
        """Return which line stands for which memory; of two copies the unchanged one does."""
        chosen: dict[int, int] = {}
        for number in numbers:
            line = lines[number]
            root = line.root
            if root is None or not (root in self._base or self._rows.get(root) == line.text):
                continue
            if root not in chosen or digest(line.text) == self._base.get(root):
                chosen[root] = number
        return {number: root for root, number in chosen.items()}

    def _anchored(self, number: int, root: int, text: str) -> None:
        now = self._rows.get(root)
        is_changed = text != now and digest(text) != self._base.get(root)
        if not is_changed:
            self.held[number] = root
        elif now is None:
            self.added.append(number)
        elif digest(now) == self._base.get(root):
            self.held[number] = self.edited[number] = root
        else:
            self.added.append(number)
            self.conflicts[number] = root

    def _loose(self, number: int, alike: Sequence[int]) -> None:
        free = [root for root in alike if root not in self.taken]
        if free:
            self.held[number] = free[0]
            self.taken.add(free[0])
        elif not alike:
            self.added.append(number)


@dataclass(frozen=True, slots=True)
class Words:
    """What is written around our lines, in the language of the reader."""

    title: str
    section: str


CHINESE = Words(title="核心记忆", section="记忆")
ENGLISH = Words(title="Core memory", section="Memories")


def words_for(language: str, texts: Sequence[str]) -> Words:
    """Choose the language: the user's setting, else the one the texts are written in."""
    if language:
        return CHINESE if language.lower().startswith("zh") else ENGLISH
    return CHINESE if mostly_chinese(texts) else ENGLISH


def rewritten(
    lines: Sequence[Line],
    done: Plan,
    settled: Mapping[int, int],
    rows: Mapping[int, str],
    left: Collection[int] = (),
) -> tuple[list[Line], dict[int, str]]:
    """Return the page as it should be, and the memories that have no line in it yet.

    `settled` says which memory a changed or new line became. A line whose memory is gone goes.
    What a person wrote and could not be stored (`left`) stays as it is.
    """
    final = {**done.held, **settled}
    # A new line may continue an older memory: then its old wording goes.
    place_of = {root: number for number, root in done.held.items()}
    place_of |= {root: number for number, root in settled.items()}
    page: list[Line] = []
    for number, line in enumerate(lines):
        root = final.get(number)
        if number in left:
            page.append(line)
        elif root is None or place_of[root] == number:
            page += _line_of(line, root, rows)
        rival = done.conflicts.get(number)
        if rival in rows and rival not in place_of:
            assert rival is not None
            page = [*_ended(page), written(rows[rival], rival, line.opening, line.ending or "\n")]
            place_of[rival] = number
    return page, {root: text for root, text in rows.items() if root not in place_of}


def _line_of(line: Line, root: int | None, rows: Mapping[int, str]) -> Iterator[Line]:
    if root is None:
        # An anchor that leads nowhere, or that a copy has brought along, only confuses.
        yield line if line.root is None else replace(line, raw=line.shown, root=None)
    elif root in rows:
        is_same = line.root == root and line.text == rows[root]
        yield line if is_same else written(rows[root], root, line.opening, line.ending)


def with_section(page: Sequence[Line], new: Mapping[int, str], words: Words) -> list[Line]:
    """Add lines where ours are: after the marker, before the next heading."""
    if not new:
        return list(page)
    lines = list(page) or parse(_head(words))
    ending = next((line.ending for line in lines if line.ending), "\n")
    if not any(line.raw.strip() == MARKER for line in lines):
        section = parse(f"\n## {words.section}\n\n{MARKER}\n\n".replace("\n", ending))
        lines = [*_ended(lines), *section]
    place = _end_of_section(lines)
    added = [written(text, root, ending=ending) for root, text in new.items()]
    return [*_ended(lines[:place]), *added, *lines[place:]]


def _head(words: Words) -> str:
    return f"---\ntitle: {words.title}\ntags: [plastic-memories]\n---\n\n# {words.title}\n"


def _end_of_section(lines: Sequence[Line]) -> int:
    marker = next(n for n, line in enumerate(lines) if line.raw.strip() == MARKER)
    place = marker + 1
    for number in range(marker + 1, len(lines)):
        kind = lines[number].kind
        if kind is Kind.HEADING:
            break
        # One blank line after the marker, none between lines.
        if kind is not Kind.BLANK or place == marker + 1:
            place = number + 1
    return place


def _ended(page: Sequence[Line]) -> list[Line]:
    if page and not page[-1].ending:
        return [*page[:-1], replace(page[-1], ending="\n")]
    return list(page)
