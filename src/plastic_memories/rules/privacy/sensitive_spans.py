"""Find secrets, payment data, government ids and contact data in a text.

Every pattern is linear: runs are bounded, possessive or start only where a run starts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.rules.privacy.credentials import code_spans, credential_spans
from plastic_memories.rules.privacy.government_ids import government_id_spans
from plastic_memories.rules.privacy.payment_numbers import (
    card_code_spans,
    card_spans,
    iban_spans,
)
from plastic_memories.rules.privacy.spans import Span, group_spans

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
        found += _with_category(GOV_ID, government_id_spans(folded))
        found += _with_category(
            PAYMENT, chain(card_spans(folded), iban_spans(folded), card_code_spans(folded))
        )
        found += _with_category(CONTACT, _phone_spans(folded))
    elif digits:
        found += _with_category(PAYMENT, card_code_spans(folded))
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


_DIGIT, _DIGITS = regex(r"[0-9]"), regex(r"[0-9]+")
# A passport number has six digits; cards, ids and telephone numbers have more.
_MIN_DIGITS = 6
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
