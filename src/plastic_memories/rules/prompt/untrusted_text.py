"""Escape untrusted text that imitates our fence or one of our headings.

Text is compared as a reader sees it: full width, accents, look-alike letters of other scripts, and
invisible or blank characters in between make no difference.
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
# Ignored in comparison: format characters, marks, blanks, hyphens and underscores.
_UNSEEN = frozenset({"Cf", "Cc", "Mn", "Me", "Zs", "Zl", "Zp", "Pd", "Pc"})
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_ALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04cf\u043c\u0442\u0131"
    "\u03b1\u03b5\u03b9\u03bf\u03c1\u03c4\u03bc\u03f2",
    "aeopcyxijslmti" "aeioptmc",
)  # fmt: skip


class _Folding(dict[int, str]):
    """Translation table from a character to its folded form, filled on first use."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        decomposed = "" if char in _FILLERS else unicodedata.normalize("NFKD", char)
        visible = [part for part in decomposed if unicodedata.category(part) not in _UNSEEN]
        self[code] = folded = "".join(visible).casefold().translate(_ALIKE)
        return folded


_FOLDED = _Folding()
_FENCES = tuple(f"{opening}{FENCE.translate(_FOLDED)}" for opening in ("<", "</"))


def without_fence(text: str) -> str:
    """Return a text that cannot imitate the fence; all else stays unchanged.

    >>> without_fence("a < b </plastic_memories>")
    'a < b ‹/plastic_memories>'
    """
    if not _BRACKETS.search(text):
        return text
    folded = text.translate(_FOLDED)
    places = {place for fence in _FENCES for place in _places_of(fence, folded)}
    if not places:
        return text
    # Start of each character in the folded text: most fold to one character, some to none.
    starts = accumulate((len(char.translate(_FOLDED)) for char in text), initial=0)
    return "".join(
        _BRACKET if start in places and _BRACKETS.match(char) else char
        for char, start in zip(text, starts, strict=False)
    )


def _places_of(words: str, text: str) -> Iterator[int]:
    place = text.find(words)
    while place >= 0:
        yield place
        place = text.find(words, place + 1)


def without_headings(
    text: str, titles: frozenset[str], loudest: frozenset[str] = frozenset()
) -> str:
    """Return a text in which no line is a heading with one of these titles.

    A heading that only contains one of the `loudest` titles is escaped too. The heading line
    becomes a bullet; all others stay unchanged.

    >>> without_headings("# Tea\\n## Rules:", frozenset({"Rules"}))
    '# Tea\\n· Rules:'
    """
    lines, whole = text.splitlines(), text.splitlines(keepends=True)
    own_titles, loud_titles = _read_titles(titles), _read_titles(loudest)

    def is_ours(heading: str) -> bool:
        title = _title(heading)
        return title in own_titles or any(loud_title in title for loud_title in loud_titles)

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
    """Return the text of a heading, whatever precedes its number signs; '' if it is none."""
    first = _SIGNS.search(line)
    if first is None or any(char.isalpha() for char in line[: first.start()]):
        return ""  # no number signs, or only inside a sentence
    return line[first.start() :].lstrip("".join({*"#＃﹟", *_blanks(line)})).strip()


def _blanks(line: str) -> Iterator[str]:
    return (char for char in line if not char.translate(_FOLDED))


def _title(text: str) -> str:
    """Return the comparable form of a title: its letters and digits, in simplified characters."""
    return to_simplified("".join(char for char in text.translate(_FOLDED) if char.isalnum()))
