"""Find bank cards, card codes and IBANs by their shape and checksum.

Every pattern is linear: runs are bounded, possessive or start only where a run starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.rules.privacy.spans import Span, contains_any, group_spans

_DIGIT_RUN = regex(r"(?<![A-Za-z0-9])[0-9]++(?:[ \-\u2010-\u2015._/,·•，、|\t\r\n]{1,3}[0-9]++)*+")
_DIGITS = regex(r"[0-9]+")
# Lists and amounts are written with these: they join only groups that a card is printed in.
_LIST_SIGNS = regex(r"[.,，、\r\n|]")
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
# A number with another label, or a fraction, is not a card even if its checksum matches.
_OTHER_NUMBER = regex(
    r"(?i)(?:订单编?号?|运单号?|快递单?号?|单号|流水号|条形?码|编号|(?<![a-z])(?:order|tracking|"
    r"invoice|message|user|channel|guild)[ _]?(?:number|no\.?|id|\#)?|isbn|barcode|snowflake|"
    r"(?<![a-z])id)\s?(?:is|是|为|[:=#])?\s{0,2}$|(?<![0-9.])[0-9]{1,3}\.$"
)
_LABEL_CHARS = 24
_CARD_DIGITS = range(13, 20)
_AMEX, _DINERS, _UNIONPAY = (4, 6, 5), (4, 6, 4), (6, 13)
_CARD_FIRST_DIGITS = "234569"


def card_code_spans(text: str) -> Iterable[Span]:
    """Return the spans of the security codes of cards."""
    return group_spans(_CARD_CODE, text) if contains_any(text.lower(), _CARD_CODE_HINTS) else ()


def card_spans(text: str) -> Iterator[Span]:
    """Yield the spans of bank card numbers."""
    for run in _DIGIT_RUN.finditer(text):
        groups = [match.span() for match in _DIGITS.finditer(text, *run.span())]
        if _LETTER.match(text, run.end()):
            groups.pop()
        yield from (
            span for span in _card_digit_groups(text, groups) if not is_other_number(text, span[0])
        )


def is_other_number(text: str, start: int) -> bool:
    """Return whether the label before a number says that it is an order number or another id."""
    return bool(_OTHER_NUMBER.search(text[max(0, start - _LABEL_CHARS) : start]))


def _card_digit_groups(text: str, groups: list[Span]) -> Iterator[Span]:
    """Yield digit groups that form a card number: an expiry date may follow directly."""
    first = 0
    while first < len(groups):
        sizes = [end - start for start, end in groups[first : first + max(_CARD_DIGITS)]]
        if text[groups[first][0]] not in _CARD_FIRST_DIGITS:
            sizes = []
        for count, total in enumerate(accumulate(sizes), start=1):
            span = groups[first][0], groups[first + count - 1][1]
            if total in _CARD_DIGITS and _is_card(text, span, sizes[:count], len(groups)):
                yield span
                first += count - 1
                break
        first += 1


def _is_card(text: str, span: Span, sizes: list[int], in_run: int) -> bool:
    is_list = bool(_LIST_SIGNS.search(text, *span))
    return _is_card_grouping(sizes, 0 if is_list else in_run) and _is_card_number(
        "".join(_DIGITS.findall(text, *span))
    )


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


_IBAN_START = regex(r"(?i)(?<![a-z0-9])([a-z]{2})[ -]?[0-9][ -]?[0-9](?=[ -]?[a-z0-9])")
_IBAN_CHAR = regex(r"[A-Za-z0-9]")
_MAX_IBAN_CHARS = 80
_IBAN_LENGTHS = {
    country: length
    for length, countries in {
        15: "NO", 16: "BE", 18: "DK FI FO GL NL FK", 19: "MK SI", 20: "AT BA EE KZ LT LU MN XK",
        21: "CH HR LI LV", 22: "BG BH CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ OM TL SO",
        24: "AD CZ ES MD PK RO SA SE SK TN VG", 25: "LY PT ST", 26: "IS TR",
        27: "BI DJ FR GR IT MC MR SM", 28: "AL AZ BY CY DO GT HU LB NI PL SV", 29: "BR EG PS QA UA",
        30: "JO KW MU YE", 31: "MT SC", 32: "LC", 33: "RU",
    }.items()
    for country in countries.split()
}  # fmt: skip


def iban_spans(text: str) -> Iterator[Span]:
    """Yield the spans of international account numbers: length by country, checksum right."""
    for opening in _IBAN_START.finditer(text):
        start, length = opening.start(), _IBAN_LENGTHS.get(opening[1].upper())
        span = _iban_span(text, start, length) if length else None
        if span:
            yield span


_MAX_STEP = 2  # at most one sign between two characters


def _has_gap(places: list[int]) -> bool:
    return any(after - before > _MAX_STEP for before, after in pairwise(places))


def _iban_span(text: str, start: int, length: int) -> Span | None:
    window = text[start : start + _MAX_IBAN_CHARS]
    places = [match.start() for match in _IBAN_CHAR.finditer(window)][: length + 1]
    if len(places) < length or _has_gap(places[:length]):
        return None
    end = places[length - 1] + 1
    if len(places) > length and places[length] == end:
        return None
    number = "".join(window[place] for place in places[:length]).upper()
    digits = "".join(str(int(char, 36)) for char in number[4:] + number[:4])
    return (start, start + end) if int(digits) % 97 == 1 else None
