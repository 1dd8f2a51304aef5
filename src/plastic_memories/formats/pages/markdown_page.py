"""Decode Markdown pages, and find their title and id."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.model.page import Encoding

EXTENDED_PREFIX = "memory://extended/"
PERSONA_PREFIX = "memory://persona/extended/"
MAX_TITLE_CHARS = 60
# Longer marks first: the UTF-32 mark starts with the UTF-16 mark.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NOT_ASCII = regex(r"[^\x00-\x7f]")
_CONTROL = regex(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
# A page with a broken byte here and there is still readable.
_LETTERS_PER_REPLACEMENT = 10
_CHARS_PER_CONTROL = 50
# Chinese prose has 9 tenths, traditional characters in GBK have 8, Big5 read as GB18030 has 2.
_MIN_FREQUENT_TENTHS = 5
_SAMPLE_CHARS = 4096
# Rows of GB 2312: punctuation, full-width forms, then the 3,755 most frequent characters.
_FREQUENT_ROWS = frozenset({0xA1, 0xA3, *range(0xB0, 0xD8)})
_COLUMNS = range(0xA1, 0xFF)
_LAST_PAIR = 0xFFFF  # longer codes are emoji and rare characters
_KOREAN_SAMPLE = 12
_LAST_KOREAN_ROW = 0xC8
_NOT_IN_ID = regex(r"[\x00-\x20\"#%<>?\\^`{|}\x7f]")
_BREAK = regex(r"\r\n|\r|\n")
_TITLE = regex(r"^title\s*+:(.*)$", re.IGNORECASE)
_HEADING = regex(r"^ {0,3}#{1,2}[ \t](.*)$")
_UNDERLINE = regex(r"^ {0,3}(=+|-{2,})[ \t]*$")
_FENCE = regex(r"^ {0,3}(```+|~~~+)")
_MARKUP = regex(r"^(?:[\s>]|#{1,6}(?=\s)|[-*+](?=\s))*(?:\[[ xX]\]\s+)?|(?<!\s)\s++\^[\w-]++$")
_EMPHASIS = regex(r"(\*\*|__|\*|`)(.+?)\1")
_LINK = regex(
    r"!?\[\[(?:[^\[\]|]*+\|)?([^\[\]|]*+)\]\]|!?\[([^\[\]]*+)\]\((?:[^()]|\([^()]*+\))*+\)"
)
_COMMENT = regex(r"<!--.*?(?:-->|\Z)|%%.*?%%", re.DOTALL)


def decode_page(raw: bytes, *, whole: bool = True) -> tuple[str, Encoding]:
    """Decode a page: by its byte order mark, else as UTF-16, UTF-8 or GB18030.

    What is no text, or text in an encoding that nothing tells, gives '' and is not `exact`.

    >>> decode_page("茶".encode("gb18030"))
    ('茶', Encoding(codec='gb18030', mark=b'', exact=True))
    >>> decode_page("Grüße".encode("latin-1"))[0]
    ''
    """
    for mark, codec in _BYTE_ORDER_MARKS:
        if raw.startswith(mark):
            return _readable(*_decode_as(raw, Encoding(codec, mark), whole=whole))
    if wide := _utf16_without_bom(raw):
        return _readable(*_decode_as(raw, Encoding(wide), whole=whole))
    text, encoding = _decode_as(raw, Encoding(), whole=whole)
    if not encoding.exact:
        chinese, gb18030 = _decode_as(raw, Encoding("gb18030"), whole=whole)
        if gb18030.exact and _is_plausible_gb18030(chinese):
            return _readable(chinese, gb18030)
    return _readable(text, encoding)


def _decode_as(raw: bytes, encoding: Encoding, *, whole: bool) -> tuple[str, Encoding]:
    body = raw[len(encoding.mark) :]
    try:
        # A file truncated at the limit may end inside a character.
        text = codecs.getincrementaldecoder(encoding.codec)().decode(body, final=whole)
        exact = True
    except UnicodeDecodeError:
        text, exact = body.decode(encoding.codec, "replace"), False
    return text, Encoding(encoding.codec, encoding.mark, exact)


def _readable(text: str, encoding: Encoding) -> tuple[str, Encoding]:
    """Return the text unless it is garbage: then ''."""
    letters = len(_NOT_ASCII.findall(text))
    replaced, controls = text.count("\ufffd"), len(_CONTROL.findall(text))
    is_garbage = (
        "\x00" in text
        or replaced * _LETTERS_PER_REPLACEMENT > letters
        or controls * _CHARS_PER_CONTROL > len(text)
    )
    if is_garbage:
        return "", Encoding(encoding.codec, encoding.mark, exact=False)
    return text, encoding


def _is_plausible_gb18030(text: str) -> bool:
    """Return whether most characters are frequent Chinese ones.

    Nearly any bytes are valid GB18030. Those of Big5 or Latin-1 give rare characters and symbols,
    those of Korean the first half of the frequent ones, but never 是, 我, 有 or 在.
    """
    letters = _NOT_ASCII.findall(text[:_SAMPLE_CHARS])
    codes = [int.from_bytes(char.encode("gb18030", "replace")) for char in letters]
    pairs = [code for code in codes if code <= _LAST_PAIR]
    frequent = [code for code in pairs if code >> 8 in _FREQUENT_ROWS and code & 0xFF in _COLUMNS]
    is_korean = len(frequent) >= _KOREAN_SAMPLE and max(frequent) >> 8 <= _LAST_KOREAN_ROW
    return bool(pairs) and not is_korean and len(frequent) * 10 >= len(pairs) * _MIN_FREQUENT_TENTHS


def _utf16_without_bom(raw: bytes) -> str:
    """Return the UTF-16 codec, or '': every second byte of Latin letters and breaks is zero."""
    head = raw[:4096]
    odd, even = head[1::2].count(0), head[0::2].count(0)
    if max(odd, even) * 5 < len(head) or min(odd, even) * 10 > max(odd, even):
        return ""
    return ("utf-16-le" if odd > even else "utf-16-be") if odd or even else ""


def encode_page(text: str, encoding: Encoding) -> bytes:
    """Encode a page in its original encoding, or in UTF-8 if that cannot represent the text."""
    try:
        return encoding.mark + text.encode(encoding.codec)
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def front_matter_lines(lines: list[str]) -> int:
    """Return the number of lines of the front matter, fences included; 0 if there is none.

    >>> front_matter_lines(["---", "title: 茶", "---", "text"])
    3
    """
    if not lines or lines[0].rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:], start=2):
        if line.rstrip() in ("---", "..."):
            return number
    return 0


def page_title(text: str, name: str) -> str:
    """Return a page's title: front matter, else first heading, else first text, else file name.

    >>> page_title("# 我的健康 #", "h.md"), page_title("", "a.md")
    ('我的健康', 'a')
    """
    lines = _BREAK.split(text.removeprefix("\ufeff"))
    start = front_matter_lines(lines)
    shown = _COMMENT.sub("", "\n".join(_lines_outside_code(lines[start:]))).split("\n")
    found = (
        front_matter_title(lines[:start])
        or next(_headings(shown), "")
        or next(filter(None, map(_without_markup, shown)), "")
        or name.removesuffix(".md")
    )
    return found[:MAX_TITLE_CHARS].strip()


def front_matter_title(front: list[str]) -> str:
    """Return the title in the front matter, or ''."""
    for line in front:
        if match := _TITLE.match(line):
            return _without_markup(match[1].strip().strip("\"'"))
    return ""


def _headings(lines: list[str]) -> Iterator[str]:
    before = ""
    for line in lines:
        heading = _HEADING.match(line)
        underlined = before if _UNDERLINE.match(line) else ""
        if title := _without_markup(_without_closing_signs(heading[1]) if heading else underlined):
            yield title
        before = "" if heading else line.strip()


def _without_closing_signs(heading: str) -> str:
    """Return a heading without its closing number signs."""
    title = heading.strip(" \t")
    bare = title.rstrip("#")
    return bare if bare.endswith((" ", "\t")) else title


def _lines_outside_code(lines: list[str]) -> Iterator[str]:
    fence = ""
    for line in lines:
        match = _FENCE.match(line)
        if match and not fence:
            fence = match[1]
        elif match and match[1].startswith(fence):
            fence = ""
        elif not fence:
            yield line


def _without_markup(line: str) -> str:
    """Return a line without Markdown markup, or '' if no letter or digit is left."""
    text = _LINK.sub(lambda found: found[1] or found[2] or "", _MARKUP.sub("", line))
    text = " ".join(_EMPHASIS.sub(r"\2", text).split())
    return text if any(char.isalnum() for char in text) else ""


def page_id(name: str, *, of_persona: bool) -> str:
    """Return the id of a page: its file name, escaped for use in a line and a URL.

    >>> page_id("健康 记录.md", of_persona=False)
    'memory://extended/健康%20记录.md'
    """
    safe = _NOT_IN_ID.sub(lambda found: f"%{ord(found[0]):02X}", name)
    return (PERSONA_PREFIX if of_persona else EXTENDED_PREFIX) + safe


def is_same_page_id(one: str, other: str) -> bool:
    """Return whether two ids name one page, ignoring percent escapes and Unicode composition."""
    return _comparable_page_id(one) == _comparable_page_id(other)


def _comparable_page_id(page: str) -> str:
    return unicodedata.normalize("NFC", unquote(page))
