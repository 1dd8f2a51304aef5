"""Convert traditional to simplified characters for comparison. Contents stay as written."""

from __future__ import annotations

from array import array
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from sys import byteorder

_PACKAGE = "opencc-python-reimplemented"
_CHARACTERS = "opencc/dictionary/TSCharacters.txt"
# Pairs of character and replacement: variants missing in the table, and those it skips because some
# words keep them (`著名`). Harmless: texts and queries are converted alike.
_EXTRA_PAIRS = (
    "妳你牠它姊姐姪侄暱昵舖铺著着黏粘痺痹砲炮瞭了祇只衹只覆复藉借彷仿牴抵"
    "簷檐擡抬粧妆敍叙枱台糭粽衞卫"
)
# In the table, but the same in both scripts: `哪吒`.
_SAME_IN_BOTH = "吒"
_PLANE = 0x10000
_ENCODING = "utf-32-le" if byteorder == "little" else "utf-32-be"


def to_simplified(text: str) -> str:
    """Return the text in simplified characters; the length stays the same, and it is idempotent.

    >>> to_simplified("我喜歡喝烏龍茶，你喜歡甚麼？ tea")
    '我喜欢喝乌龙茶，你喜欢什么？ tea'
    """
    if text.isascii():
        return text
    # Hong Kong writes `甚麼`; the character alone is another word.
    return text.translate(_translation_table()).replace("甚么", "什么")


@cache
def _translation_table() -> str:
    """Return the translation table as a string indexed by code point, built on first use.

    `str.translate` is faster with a string than with a dictionary, which raises internally for
    every missing key. Characters beyond the first plane are rare and stay unchanged.
    """
    numbers = array("I", range(_PLANE))
    pairs = _character_pairs()
    for traditional, plain in pairs.items():
        # Some map to a character that is itself mapped: `薴`, `苧`, `苎`.
        numbers[ord(traditional)] = ord(pairs.get(plain, plain))
    return numbers.tobytes().decode(_ENCODING, "surrogatepass")


def _character_pairs() -> dict[str, str]:
    lines = Path(str(distribution(_PACKAGE).locate_file(_CHARACTERS))).read_text("utf-8")
    # A line has a character, a tab, and its simplified forms, the most common first.
    pairs = {line[0]: line[2] for line in lines.splitlines() if ord(line[0]) < _PLANE}
    for char in _SAME_IN_BOTH:
        del pairs[char]
    return pairs | dict(zip(_EXTRA_PAIRS[::2], _EXTRA_PAIRS[1::2], strict=True))
