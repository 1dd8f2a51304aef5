"""The times a question names, looking back: `去年冬天`, "last March", "in the past two weeks"."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from plastic_memories.rules.han import simplified
from plastic_memories.rules.regex import regex
from plastic_memories.rules.talk.dates import find
from plastic_memories.rules.talk.spans import DateSpan, Lean

Span = tuple[float, float]  # from, up to
_MAX_TIMES = 4
# A stretch that ends today, not the calendar's last week or month.
_UP_TO_NOW = regex(
    r"\bin the (?:past|last) (?P<en>week|month|year)\b"
    r"|(?:最近|近|过去)这?一(?P<zh>[周月年])",
    re.IGNORECASE,
)
_DAYS = {"week": 7, "month": 31, "year": 366, "周": 7, "月": 31, "年": 366}
# "participate in a month ago" is no "in a month".
_STRAY_IN = regex(r"\bin (?=an? \w+ ago\b)", re.IGNORECASE)


def named_times(text: str, now: datetime) -> list[DateSpan]:
    """Return the stretches of days that a text names, seen from `now`, in its order.

    >>> from datetime import UTC
    >>> now = datetime(2024, 5, 15, 9, 0, tzinfo=UTC)
    >>> [str(span.start) for span in named_times("去年冬天和上个月", now)]
    ['2023-12-01', '2024-04-01']
    """
    return _times_and_rest(text, now)[0]


def _times_and_rest(text: str, now: datetime) -> tuple[list[DateSpan], str]:
    text = _STRAY_IN.sub("", simplified(text))
    found = [_up_to(now, match) for match in _UP_TO_NOW.finditer(text)]
    text = _UP_TO_NOW.sub(" ", text)
    rest = ""
    while len(found) < _MAX_TIMES and (mention := find(text, now, lean=Lean.PAST)):
        found.append(mention.span)
        rest += f"{text[: mention.start]} "
        text = text[mention.end :]
    return found[:_MAX_TIMES], rest + text


def _up_to(now: datetime, match: re.Match[str]) -> DateSpan:
    days = _DAYS[(match["en"] or match["zh"]).lower()]
    return DateSpan(now.date() - timedelta(days=days), now.date())


def named_spans(text: str, now: float, zone: ZoneInfo) -> list[Span]:
    """Return the same in epoch seconds: from, up to. Beyond the calendar there is no time."""
    return list(spans_and_rest(text, now, zone)[0])


# One recall asks for the times of its question in several places.
@lru_cache(maxsize=64)
def spans_and_rest(text: str, now: float, zone: ZoneInfo) -> tuple[tuple[Span, ...], str]:
    """Return the spans that a text names, and the text without the words that name them.

    >>> spans_and_rest("前天我吃了什么", 1_700_000_000.0, ZoneInfo("UTC"))[1]
    ' 我吃了什么'
    """
    try:
        here = datetime.fromtimestamp(now, UTC).astimezone(zone)
        times, rest = _times_and_rest(text, here)
        return tuple(_in_seconds(span, zone) for span in times), rest
    except (OverflowError, ValueError, OSError):  # a caller's `now` in the year 1 or 10,000
        return (), text


def _in_seconds(span: DateSpan, zone: ZoneInfo) -> Span:
    midnight = datetime.min.time()
    return (
        datetime.combine(span.start, midnight, zone).timestamp(),
        datetime.combine(span.end + timedelta(days=1), midnight, zone).timestamp(),
    )
