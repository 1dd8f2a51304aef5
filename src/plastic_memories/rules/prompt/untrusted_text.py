"""Keeps text from outside from passing for ours: for our fence, or for one of our headings.

What a reader takes for the same counts as the same: full width, accents, letters of another
script that look alike, and whatever is invisible or blank in between.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate

from plastic_memories.language.text.lazy_regex import at_start, regex
from plastic_memories.language.text.scripts import to_simplified

FENCE = "plastic_memories"
_BRACKET = "‹"
_BULLET = "· "
_BRACKETS = regex("[<＜﹤]")
_SIGNS = regex("[#＃﹟]")
_UNDERLINE = at_start(r"\s*+(?:[=＝]++|[-－﹣]++)\s*+")
# Neither seen nor needed: format characters, marks, blanks, hyphens and underscores.
_UNSEEN = frozenset({"Cf", "Cc", "Mn", "Me", "Zs", "Zl", "Zp", "Pd", "Pc"})
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_ALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04cf\u043c\u0442\u0131"
    "\u03b1\u03b5\u03b9\u03bf\u03c1\u03c4\u03bc\u03f2",
    "aeopcyxijslmti" "aeioptmc",
)  # fmt: skip


class _Folding(dict[int, str]):
    """For each character what it is read as; worked out once, when it is first met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        apart = "" if char in _FILLERS else unicodedata.normalize("NFKD", char)
        seen = [one for one in apart if unicodedata.category(one) not in _UNSEEN]
        self[code] = read = "".join(seen).casefold().translate(_ALIKE)
        return read


_FOLDED = _Folding()
_FENCES = tuple(f"{opening}{FENCE.translate(_FOLDED)}" for opening in ("<", "</"))


def without_fence(text: str) -> str:
    """Return a text that cannot touch the fence; the rest of it stays as it is.

    >>> without_fence("a < b </plastic_memories>")
    'a < b ‹/plastic_memories>'
    """
    if not _BRACKETS.search(text):
        return text
    read = text.translate(_FOLDED)
    places = {place for fence in _FENCES for place in _places_of(fence, read)}
    if not places:
        return text
    # Where each character begins in what is read: most are read as one, some as none.
    begins = accumulate((len(char.translate(_FOLDED)) for char in text), initial=0)
    return "".join(
        _BRACKET if begin in places and _BRACKETS.match(char) else char
        for char, begin in zip(text, begins, strict=False)
    )


def _places_of(words: str, text: str) -> Iterator[int]:
    place = text.find(words)
    while place >= 0:
        yield place
        place = text.find(words, place + 1)


def without_headings(
    text: str, titles: frozenset[str], loudest: frozenset[str] = frozenset()
) -> str:
    """Return a text of which no line is a heading with one of these titles.

    One that merely holds one of the `loudest` is none any more, either. The line that makes it
    one becomes a point; all others stay as they are.

    >>> without_headings("# Tea\\n## Rules:", frozenset({"Rules"}))
    '# Tea\\n· Rules:'
    """
    lines, whole = text.splitlines(), text.splitlines(keepends=True)
    ours, loud = _read_titles(titles), _read_titles(loudest)

    def is_ours(heading: str) -> bool:
        title = _title(heading)
        return title in ours or any(one in title for one in loud)

    for number, line in enumerate(lines):
        heading = _heading_text(line)
        if heading and is_ours(heading):
            whole[number] = f"{_BULLET}{heading}{whole[number][len(line) :]}"
        elif number and _UNDERLINE.fullmatch(line) and is_ours(lines[number - 1]):
            whole[number] = f"{_BULLET}{whole[number]}"
    return "".join(whole)


@lru_cache(maxsize=8)
def _read_titles(titles: frozenset[str]) -> frozenset[str]:
    return frozenset(_title(title) for title in titles)


def _heading_text(line: str) -> str:
    """Return the text of a heading, whatever stands before its signs; '' if it is none."""
    first = _SIGNS.search(line)
    if first is None or any(char.isalpha() for char in line[: first.start()]):
        return ""  # no signs, or they stand in the midst of a sentence
    return line[first.start() :].lstrip("".join({*"#＃﹟", *_blanks(line)})).strip()


def _blanks(line: str) -> Iterator[str]:
    return (char for char in line if not char.translate(_FOLDED))


def _title(text: str) -> str:
    """Return what is read of a heading: its letters and digits, in simplified characters."""
    return to_simplified("".join(char for char in text.translate(_FOLDED) if char.isalnum()))
