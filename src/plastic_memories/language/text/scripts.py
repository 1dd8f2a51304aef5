"""Traditional characters read as simplified ones, each in its place. Contents stay as written."""

from __future__ import annotations

from array import array
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from sys import byteorder

_PACKAGE = "opencc-python-reimplemented"
_CHARACTERS = "opencc/dictionary/TSCharacters.txt"
# A character, then what it is read as: variants the table lacks, and those it leaves alone
# because some words keep them (`著名`). No loss: texts and questions are read alike.
_EXTRA_PAIRS = (
    "妳你牠它姊姐姪侄暱昵舖铺著着黏粘痺痹砲炮瞭了祇只衹只覆复藉借彷仿牴抵"
    "簷檐擡抬粧妆敍叙枱台糭粽衞卫"
)
# The table has them, and they are written so in both scripts: `哪吒`.
_SAME_IN_BOTH = "吒"
_PLANE = 0x10000
_ENCODING = "utf-32-le" if byteorder == "little" else "utf-32-be"


def to_simplified(text: str) -> str:
    """Return the text in simplified characters, as long as it was; twice changes nothing.

    >>> to_simplified("我喜歡喝烏龍茶，你喜歡甚麼？ tea")
    '我喜欢喝乌龙茶，你喜欢什么？ tea'
    """
    if text.isascii():
        return text
    # Hong Kong writes `甚麼`; the character alone is another word.
    return text.translate(_translation_table()).replace("甚么", "什么")


@cache
def _translation_table() -> str:
    """Return what each character is read as, by its number: made for the first text that needs it.

    `str.translate` is quicker with a string than with a dictionary, which raises inside for every
    character it does not have. What lies beyond the first plane stays as it is: it is too rare.
    """
    numbers = array("I", range(_PLANE))
    pairs = _character_pairs()
    for traditional, plain in pairs.items():
        # One is read as a character that is itself read as another: `薴`, `苧`, `苎`.
        numbers[ord(traditional)] = ord(pairs.get(plain, plain))
    return numbers.tobytes().decode(_ENCODING, "surrogatepass")


def _character_pairs() -> dict[str, str]:
    lines = Path(str(distribution(_PACKAGE).locate_file(_CHARACTERS))).read_text("utf-8")
    # A line is a character, a tab, and what it may be in simplified, the most usual first.
    pairs = {line[0]: line[2] for line in lines.splitlines() if ord(line[0]) < _PLANE}
    for char in _SAME_IN_BOTH:
        del pairs[char]
    return pairs | dict(zip(_EXTRA_PAIRS[::2], _EXTRA_PAIRS[1::2], strict=True))
