"""Find secrets, payment data, government ids and contact data in a text.

Every pattern is linear: runs are bounded, possessive or start only where a run starts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate, chain

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.rules.privacy.credentials import (
    Span,
    code_spans,
    contains_any,
    credential_spans,
    group_spans,
)

CREDENTIAL, PAYMENT, GOV_ID, CONTACT = "credential", "payment", "gov_id", "contact"


@dataclass(frozen=True, slots=True)
class SensitiveSpan:
    """Category and position of sensitive data; never its text."""

    category: str
    start: int
    end: int


def find_sensitive(text: str) -> list[SensitiveSpan]:
    """Return the sensitive spans of a text, in order, without overlaps.

    >>> find_sensitive("我的密码是 hunter2。")
    [SensitiveSpan(category='credential', start=6, end=13)]
    """
    folded = _fold_disguises(text)
    found = [(CREDENTIAL, span) for span in chain(credential_spans(folded), code_spans(folded))]
    digits = sum(map(len, _DIGITS.findall(folded))) if _DIGIT.search(folded) else 0
    if digits >= _MIN_DIGITS:
        found += _with_category(GOV_ID, _government_id_spans(folded))
        found += _with_category(PAYMENT, chain(_card_spans(folded), _card_code_spans(folded)))
        found += _with_category(CONTACT, _phone_spans(folded))
    elif digits:
        found += _with_category(PAYMENT, _card_code_spans(folded))
    if "@" in folded:
        found += _with_category(CONTACT, group_spans(_E_MAIL, folded))
    return _merge_overlaps(found, text) if found else []


def find_credentials(text: str) -> list[SensitiveSpan]:
    """Return only credential-shaped spans: the check for keys, ids and references."""
    found = [(CREDENTIAL, span) for span in credential_spans(_fold_disguises(text))]
    return _merge_overlaps(found, text) if found else []


_FOLDED_SIGNS = frozenset(" -_:=@.+/#")
_MAX_FOLDED_CHARS = 4096


def _fold_char(char: str) -> str:
    """Return a character's plain form: ASCII, simplified, or '' if invisible."""
    if unicodedata.category(char) == "Cf" or "\ufe00" <= char <= "\ufe0f":
        return ""
    digit = unicodedata.decimal(char, None)
    if digit is not None:
        return str(digit)
    plain = unicodedata.normalize("NFKC", char)
    # Full-width commas and brackets stay: they end a value; their ASCII forms may be part of one.
    is_plain = len(plain) == 1 and (plain.isalnum() or plain in _FOLDED_SIGNS)
    return to_simplified(plain) if is_plain else char


class _FoldedCharCache(dict[int, str]):
    """Cache of folded characters, filled on first use."""

    def __missing__(self, place: int) -> str:
        if len(self) >= _MAX_FOLDED_CHARS:
            self.clear()
        self[place] = _fold_char(chr(place))
        return self[place]


_FOLDED = _FoldedCharCache()


def _fold_disguises(text: str) -> str:
    return text if text.isascii() else text.translate(_FOLDED)


def _source_positions(text: str) -> Sequence[int]:
    """Return the source position of each character of the folded text."""
    return [place for place, char in enumerate(text) if _fold_disguises(char)]


def _with_category(category: str, spans: Iterable[Span]) -> Iterator[tuple[str, Span]]:
    return ((category, span) for span in spans)


def _merge_overlaps(found: Iterable[tuple[str, Span]], text: str) -> list[SensitiveSpan]:
    """Merge overlapping spans under the category that comes first."""
    ranked = [(start, end, rank, name) for rank, (name, (start, end)) in enumerate(found)]
    places = _source_positions(text)
    joined: list[tuple[int, int, int, str]] = []
    for start, end, rank, name in sorted(ranked):
        if joined and start < joined[-1][1]:
            last = joined.pop()
            first = min(last[2:], (rank, name))
            joined.append((last[0], max(last[1], end), *first))
        else:
            joined.append((start, end, rank, name))
    return [
        SensitiveSpan(name, places[start], places[end - 1] + 1) for start, end, _, name in joined
    ]


_DIGIT_RUN = regex(r"(?<![A-Za-z0-9])[0-9]++(?:[ \-\u2010-\u2015]{1,3}[0-9]++)*+")
_DIGIT, _DIGITS = regex(r"[0-9]"), regex(r"[0-9]+")
# A passport number has six digits; cards, ids and telephone numbers have more.
_MIN_DIGITS = 6
_LETTER = regex(r"[A-Za-z]")
_CARD_CODE = regex(
    r"(?i)(?:(?<![a-z])(?:cvv2?|cvc)|安全码)(?:\s?(?:is|是|为|[:=]))?\s{0,3}([0-9]{3,4})(?![0-9a-z])"
)
_CARD_CODE_HINTS = ("cvv", "cvc", "安全码")
_CARD = regex(
    r"""(?x)
      4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})
    | (?:5[1-5][0-9]{2}|222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}
    | 3[47][0-9]{13} | 3(?:0[0-5]|[68][0-9])[0-9]{11}
    | 62[0-9]{14,17} | 35(?:2[89]|[3-8][0-9])[0-9]{12,15}
    | 6(?:011|4[4-9][0-9]|5[0-9]{2})[0-9]{12,15} | 9558[0-9]{15}"""
)
# A number with another label is not a card, even if its checksum happens to match.
_OTHER_NUMBER = regex(
    r"(?i)(?:订单编?号?|运单号?|快递单?号?|单号|流水号|条形?码|编号|(?<![a-z])(?:order|tracking|"
    r"invoice|message|user|channel|guild)[ _]?(?:number|no\.?|id|\#)?|isbn|barcode|snowflake|"
    r"(?<![a-z])id)\s?(?:is|是|为|[:=#])?\s{0,2}$"
)
_LABEL_CHARS = 24
_CARD_DIGITS = range(13, 20)
_AMEX, _DINERS, _UNIONPAY = (4, 6, 5), (4, 6, 4), (6, 13)
_CARD_FIRST_DIGITS = "234569"


def _card_code_spans(text: str) -> Iterable[Span]:
    return group_spans(_CARD_CODE, text) if contains_any(text.lower(), _CARD_CODE_HINTS) else ()


def _card_spans(text: str) -> Iterator[Span]:
    for run in _DIGIT_RUN.finditer(text):
        groups = [match.span() for match in _DIGITS.finditer(text, *run.span())]
        if _LETTER.match(text, run.end()):
            groups.pop()
        yield from (
            span for span in _card_digit_groups(text, groups) if not _is_other_number(text, span[0])
        )


def _is_other_number(text: str, start: int) -> bool:
    return bool(_OTHER_NUMBER.search(text[max(0, start - _LABEL_CHARS) : start]))


def _card_digit_groups(text: str, groups: list[Span]) -> Iterator[Span]:
    """Yield digit groups that form a card number: an expiry date may follow directly."""
    first = 0
    while first < len(groups):
        sizes = [end - start for start, end in groups[first : first + max(_CARD_DIGITS)]]
        if text[groups[first][0]] not in _CARD_FIRST_DIGITS:
            sizes = []
        for count, total in enumerate(accumulate(sizes), start=1):
            if total in _CARD_DIGITS and _is_card_grouping(sizes[:count], len(groups)):
                span = groups[first][0], groups[first + count - 1][1]
                if _is_card_number("".join(_DIGITS.findall(text, *span))):
                    yield span
                    first += count - 1
                    break
        first += 1


def _is_card_grouping(sizes: list[int], in_run: int) -> bool:
    if len(sizes) == 1 or tuple(sizes) in (_AMEX, _DINERS, _UNIONPAY):
        return True
    if all(size % 4 == 0 for size in sizes[:-1]):
        return True
    return len(sizes) == in_run and set(sizes[:-1]) == {sizes[0]} and sizes[-1] <= sizes[0]


def _is_card_number(digits: str) -> bool:
    if not _CARD.fullmatch(digits):
        return False
    odd = sum(int(digit) for digit in digits[::-2])
    even = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (odd + even) % 10 == 0


_CHINESE_ID = regex(
    r"(?<![A-Za-z0-9])([1-9][0-9]{5})[ -]?((?:18|19|20)[0-9]{6})[ -]?([0-9]{3}[0-9Xx])"
    r"(?![A-Za-z0-9])"
)
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


def _government_id_spans(text: str) -> Iterator[Span]:
    yield from (m.span() for m in _CHINESE_ID.finditer(text) if _is_chinese_id("".join(m.groups())))
    yield from group_spans(_SSN, text)
    for match in _PASSPORT.finditer(text):
        letters = _PASSPORT_LETTERS.search(text, match.start(), match.start(1))
        yield (letters.start() if letters else match.start(1)), match.end()


def _is_chinese_id(number: str) -> bool:
    total = sum(w * int(digit) for w, digit in zip(_ID_WEIGHTS, number[:-1], strict=True))
    return _ID_CHECKS[total % 11] == number[-1].upper() and _is_date(number[6:14])


def _is_date(digits: str) -> bool:
    try:
        date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError:
        return False
    return True


_PHONES = (
    regex(
        r"(?<![A-Za-z0-9])(?<![0-9]-)(?:\+?86[ -]?)?1[3-9][0-9][ -]?[0-9]{4}[ -]?[0-9]{4}"
        r"(?!-?[0-9]|[A-Za-z])"
    ),
    regex(r"(?<![A-Za-z0-9-])0[0-9]{2,3}-[0-9]{7,8}(?!-?[0-9]|[A-Za-z])"),
    regex(r"(?<![A-Za-z0-9.-])(?:\([0-9]{3}\) ?|[0-9]{3}[.-])[0-9]{3}[.-][0-9]{4}(?![0-9A-Za-z])"),
)
_INTERNATIONAL = regex(r"(?<![A-Za-z0-9+])\+([1-9][0-9 ().-]{6,20}[0-9])(?![0-9A-Za-z])")
_PHONE_DIGITS = range(8, 16)
_E_MAIL = regex(
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}+@(?:[A-Za-z0-9-]{1,63}+\.){1,5}[A-Za-z]{2,24}"
    r"(?![A-Za-z0-9])"
)


def _phone_spans(text: str) -> Iterator[Span]:
    for pattern in _PHONES:
        yield from group_spans(pattern, text)
    for match in _INTERNATIONAL.finditer(text):
        if sum(map(str.isdigit, match[1])) in _PHONE_DIGITS:
            yield match.span()
