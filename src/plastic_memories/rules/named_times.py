"""The times a question names, looking back: `去年冬天`, "last March", "in the past two weeks"."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from plastic_memories.rules.han import simplified
from plastic_memories.rules.regex import regex
from plastic_memories.rules.talk.dates import find
from plastic_memories.rules.talk.spans import DateSpan, Lean

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
    text = _STRAY_IN.sub("", simplified(text))
    found = [_up_to(now, match) for match in _UP_TO_NOW.finditer(text)]
    text = _UP_TO_NOW.sub(" ", text)
    while len(found) < _MAX_TIMES and (mention := find(text, now, lean=Lean.PAST)):
        found.append(mention.span)
        text = text[mention.end :]
    return found[:_MAX_TIMES]


def _up_to(now: datetime, match: re.Match[str]) -> DateSpan:
    days = _DAYS[(match["en"] or match["zh"]).lower()]
    return DateSpan(now.date() - timedelta(days=days), now.date())


def named_spans(text: str, now: float, zone: ZoneInfo) -> list[tuple[float, float]]:
    """Return the same in epoch seconds: from, up to. Beyond the calendar there is no time."""
    try:
        here = datetime.fromtimestamp(now, UTC).astimezone(zone)
        return [_in_seconds(span, zone) for span in named_times(text, here)]
    except (OverflowError, ValueError, OSError):  # a caller's `now` in the year 1 or 10,000
        return []


def _in_seconds(span: DateSpan, zone: ZoneInfo) -> tuple[float, float]:
    midnight = datetime.min.time()
    return (
        datetime.combine(span.start, midnight, zone).timestamp(),
        datetime.combine(span.end + timedelta(days=1), midnight, zone).timestamp(),
    )
