"""Find government ids: by checksum where there is one, else by the label before them.

Every pattern is linear: runs are bounded, possessive or start only where a run starts.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.rules.privacy.spans import Span, group_spans

# The digits may be set apart; overlapping, so that a number before an id does not hide it.
_CHINESE_ID = regex(
    r"(?<![A-Za-z0-9])(?=([1-9](?:[ ._/,·\t\r\n-]{0,2}[0-9]){16}[ ._/,·\t\r\n-]{0,2}[0-9Xx])"
    r"(?![A-Za-z0-9]))"
)
_NO_ID_CHARS = regex(r"[^0-9A-Za-z]+")
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_ID_CHECKS = "10X98765432"
_SSN = regex(
    r"(?i)(?:(?<![a-z])ssn|social security(?: number| no\.?)?|社会安全号码?|社安号码?)(?![a-z])"
    r"[^0-9a-z]{0,4}(?:(?:is|was|#)\s?)?"
    r"((?!000|666|9)[0-9]{3}[ -]?(?!00)[0-9]{2}[ -]?(?!0000)[0-9]{4})(?![0-9A-Za-z])"
)
_PASSPORT = regex(
    r"(?i)(?:护照|(?<![a-z])passport(?![a-z]))\s?"
    r"(?:(?:号码?|编号|numbers?|no\.?|num|#)\s?(?:is|was|[:=]|是|为)?\s{0,3}[a-z]{0,2}"
    r"|(?:is|[:=]|是|为)?\s{0,3}[a-z]{1,2})([0-9]{6,9})(?![0-9a-z])"
)
_PASSPORT_LETTERS = regex(r"[A-Za-z]{0,2}$")


def government_id_spans(text: str) -> Iterator[Span]:
    """Yield the spans of government ids."""
    yield from (m.span(1) for m in _CHINESE_ID.finditer(text) if _is_chinese_id(m[1]))
    yield from _regional_id_spans(text)
    yield from group_spans(_SSN, text)
    for match in _PASSPORT.finditer(text):
        letters = _PASSPORT_LETTERS.search(text, match.start(), match.start(1))
        yield (letters.start() if letters else match.start(1)), match.end()


def _is_chinese_id(text: str) -> bool:
    number = _NO_ID_CHARS.sub("", text)
    total = sum(w * int(digit) for w, digit in zip(_ID_WEIGHTS, number[:-1], strict=True))
    return _ID_CHECKS[total % 11] == number[-1].upper() and _is_date(number[6:14])


def _is_date(digits: str) -> bool:
    try:
        date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError:
        return False
    return True


_HONG_KONG_ID = regex(
    r"(?i)(?<![a-z0-9])([a-z]{1,2})[ -]?([0-9]{6}|[0-9]{3}[ -][0-9]{3})[ -]?"
    r"(?:(?P<bracket>[(（])[ ]?(?P<check>[0-9a])[ ]?[)）]|(?P<bare>[0-9a]))(?![a-z0-9])"
)
_TAIWAN_ID = regex(r"(?i)(?<![a-z0-9])([a-z])[ -]?([1289](?:[ -]?[0-9]){8})(?![a-z0-9])")
# Codes of this shape are common: the label decides where the shape alone does not.
_ID_LABEL = regex(
    r"(?i)(?:身份证|证件|居留证|香港|台湾|(?<![a-z])(?:hkid|hong kong|taiwan|identity|national|id)"
    r"(?![a-z]))[^0-9\n]{0,16}$"
)
_CODE_LABEL = regex(
    r"(?i)(?:单号?|编号|型号|序列号|货号|批号|款号|票号|航班|车次|条码|快递|包裹|发票|工单"
    r"|(?<![a-z])(?:order|tracking|invoice|ticket|model|serial|part|sku|case|flight|ref|booking"
    r"|parcel|asin|product|item)(?![a-z]))[^0-9\n]{0,12}$"
)
_LABEL_CHARS = 32
_TAIWAN_LETTERS = "ABCDEFGHJKLMNPQRSTUVXYWZIO"
_SPACE_VALUE = 36


def _regional_id_spans(text: str) -> Iterator[Span]:
    for match in _HONG_KONG_ID.finditer(text):
        check = match["check"] or match["bare"]
        before = text[max(0, match.start() - _LABEL_CHARS) : match.start()]
        is_labelled = bool(match["bracket"]) or bool(_ID_LABEL.search(before))
        if is_labelled and _is_hong_kong_id(
            match[1].upper(), _NO_ID_CHARS.sub("", match[2]), check
        ):
            yield match.span()
    for match in _TAIWAN_ID.finditer(text):
        before = text[max(0, match.start() - _LABEL_CHARS) : match.start()]
        is_labelled = bool(_ID_LABEL.search(before))
        is_code = match[1].islower() or bool(_CODE_LABEL.search(before))
        digits = _NO_ID_CHARS.sub("", match[2])
        if (is_labelled or not is_code) and _is_taiwan_id(match[1].upper(), digits):
            yield match.span()


def _is_hong_kong_id(letters: str, digits: str, check: str) -> bool:
    values = [int(letter, 36) for letter in letters] + [int(digit) for digit in digits]
    if len(letters) == 1:
        values.insert(0, _SPACE_VALUE)
    total = sum(weight * value for weight, value in zip(range(9, 1, -1), values, strict=True))
    return (total + int(check, 16)) % 11 == 0


def _is_taiwan_id(letter: str, digits: str) -> bool:
    tens, ones = divmod(_TAIWAN_LETTERS.index(letter) + 10, 10)
    weighted = sum(w * int(digit) for w, digit in zip(range(8, 0, -1), digits, strict=False))
    return (tens + 9 * ones + weighted + int(digits[-1])) % 10 == 0
