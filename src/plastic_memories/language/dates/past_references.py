"""Resolve past times in questions: `去年冬天`, "last March", "in the past two weeks"."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from plastic_memories.language.dates.date_spans import DatePreference, DateSpan
from plastic_memories.language.dates.mentions import DateMention, find_dates
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified

Span = tuple[float, float]  # start, end
_MAX_SPANS = 4
# A span that ends today, not the previous calendar week or month.
_UP_TO_NOW = regex(
    r"\b(?:(?:in|over|during|within|for) the (?:past|last)|the past) (?P<en>week|month|year)\b"
    r"|(?:最近|近|过去)这?一(?P<zh>[周月年])",
    re.IGNORECASE,
)
_DAYS = {"week": 7, "month": 31, "year": 366, "周": 7, "月": 31, "年": 366}
# "participate in a month ago" does not contain "in a month".
_STRAY_IN = regex(r"\bin (?=an? \w+ ago\b)", re.IGNORECASE)

_SPACE_IN_CHINESE = regex(r"(?<=[\u4e00-\u9fff\d]) (?=[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff]) (?=\d)")
_SINCE = regex(r"(?:\bever since|\bsince|自从?) ?(?:the )?$", re.IGNORECASE)
_MAX_PREFIX_CHARS = len("ever since the ")
_SINCE_INSIDE = regex(r"since\b", re.IGNORECASE)
_TILL_NOW = regex(
    r"以来|至今|到(?:现在|目前|如今|今天)"
    r"| (?:to|until|till|up to) (?:now|today|date|the present)\b| onwards?\b",
    re.IGNORECASE,
)
# A habit has no single date: `每周三`, "every weekend".
_EVERY = regex(
    r"每(?:个?[月周年]|个|到|逢|隔)?的?$|\b(?:every|each) (?:other |single )?$", re.IGNORECASE
)
_ON = regex(r"开始|起")


def mentioned_date_spans(text: str, now: datetime) -> list[DateSpan]:
    """Return the date spans that a text names, relative to `now`, in text order.

    >>> from datetime import UTC
    >>> now = datetime(2024, 5, 15, 9, 0, tzinfo=UTC)
    >>> [str(span.start) for span in mentioned_date_spans("去年冬天和上个月", now)]
    ['2023-12-01', '2024-04-01']
    """
    return _date_spans_and_rest(text, now)[0]


def _date_spans_and_rest(text: str, now: datetime) -> tuple[list[DateSpan], str]:
    text = _STRAY_IN.sub("", _normalise_spaces(to_simplified(text)))
    found = [_span_up_to(now, match) for match in _UP_TO_NOW.finditer(text)]
    text = _UP_TO_NOW.sub(" ", text) if found else text
    rest, end = "", 0
    for mention in find_dates(text, now, lean=DatePreference.PAST):
        if len(found) >= _MAX_SPANS:
            break
        if not _EVERY.search(_text_before(text, mention)):
            found.append(_extended_to_now(text, mention, now))
            rest += f"{text[end : mention.start]} "
            end = mention.end
    return found[:_MAX_SPANS], rest + text[end:]


def _normalise_spaces(text: str) -> str:
    """Collapse spaces, and remove those inside a Chinese date (`2025 年 3 月`)."""
    text = " ".join(text.split()).replace("’", "'")
    return _SPACE_IN_CHINESE.sub("", text) if " " in text else text


def _text_before(text: str, mention: DateMention) -> str:
    return text[max(0, mention.start - _MAX_PREFIX_CHARS) : mention.start]


def _extended_to_now(text: str, mention: DateMention, now: datetime) -> DateSpan:
    """Extend a span to today if it continues: since last March, `上周以来`, `从三月到现在`."""
    span, today = mention.span, now.date()
    before = _text_before(text, mention)
    is_open = (
        _SINCE.search(before)
        or _SINCE_INSIDE.match(text, mention.start)
        or _TILL_NOW.match(text, mention.end)
        or (before.endswith("从") and _ON.match(text, mention.end))
    )
    return DateSpan(span.start, today) if is_open and span.start <= today else span


def _span_up_to(now: datetime, match: re.Match[str]) -> DateSpan:
    days = _DAYS[(match["en"] or match["zh"]).lower()]
    return DateSpan(now.date() - timedelta(days=days), now.date())


def mentioned_time_spans(text: str, now: float, zone: ZoneInfo) -> list[Span]:
    """Return the spans as epoch seconds (start, end); none if `now` is beyond the calendar."""
    return list(time_spans_and_rest(text, now, zone)[0])


# One recall needs the spans of its question in several places.
@lru_cache(maxsize=64)
def time_spans_and_rest(text: str, now: float, zone: ZoneInfo) -> tuple[tuple[Span, ...], str]:
    """Return the spans that a text names, and the text without the words that name them.

    >>> time_spans_and_rest("前天我吃了什么", 1_700_000_000.0, ZoneInfo("UTC"))[1]
    ' 我吃了什么'
    """
    try:
        here = datetime.fromtimestamp(now, UTC).astimezone(zone)
        times, rest = _date_spans_and_rest(text, here)
        return tuple(_epoch_span(span, zone) for span in times), rest
    except (OverflowError, ValueError, OSError):  # `now` of the caller in the year 1 or 10,000
        return (), text


def _epoch_span(span: DateSpan, zone: ZoneInfo) -> Span:
    midnight = datetime.min.time()
    return (
        datetime.combine(span.start, midnight, zone).timestamp(),
        datetime.combine(span.end + timedelta(days=1), midnight, zone).timestamp(),
    )
