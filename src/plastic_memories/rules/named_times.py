"""The times a question names, looking back: `去年冬天`, "last March", "in the past two weeks"."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from plastic_memories.rules.regex import regex
from plastic_memories.rules.talk.dates import Mention, find_all
from plastic_memories.rules.talk.spans import DateSpan, Lean

_MAX_TIMES = 4
# A stretch that ends today, not the calendar's last week or month.
_UP_TO_NOW = regex(
    r"\bin the (?:past|last) (?P<en>week|month|year)\b"
    r"|(?:最近|近|过去|過去)(?:这|這)?一(?P<zh>[周週月年])",
    re.IGNORECASE,
)
_DAYS = {"week": 7, "month": 31, "year": 366, "周": 7, "週": 7, "月": 31, "年": 366}
# "participate in a month ago" is no "in a month".
_STRAY_IN = regex(r"\bin (?=an? \w+ ago\b)", re.IGNORECASE)

_SPACE_IN_CHINESE = regex(r"(?<=[\u4e00-\u9fff\d]) (?=[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff]) (?=\d)")
_SINCE = regex(r"(?:\bever since|\bsince|自从?) ?(?:the )?$", re.IGNORECASE)
_LONGEST_BEFORE = len("ever since the ")
_SINCE_INSIDE = regex(r"since\b", re.IGNORECASE)
_TILL_NOW = regex(
    r"以来|至今|到(?:现在|目前|如今|今天)"
    r"| (?:to|until|till|up to) (?:now|today|date|the present)\b| onwards?\b",
    re.IGNORECASE,
)
# A habit is of no day: `每周三`, "every weekend".
_EVERY = regex(
    r"每(?:个?[月周年]|个|到|逢|隔)?的?$|\b(?:every|each) (?:other |single )?$", re.IGNORECASE
)
_ON = regex(r"开始|起")


def named_times(text: str, now: datetime) -> list[DateSpan]:
    """Return the stretches of days that a text names, seen from `now`, in its order.

    >>> from datetime import UTC
    >>> now = datetime(2024, 5, 15, 9, 0, tzinfo=UTC)
    >>> [str(span.start) for span in named_times("去年冬天和上个月", now)]
    ['2023-12-01', '2024-04-01']
    """
    text = _STRAY_IN.sub("", _tidy(text))
    found = [_up_to(now, match) for match in _UP_TO_NOW.finditer(text)]
    text = _UP_TO_NOW.sub(" ", text) if found else text
    once = (
        _until_now(text, mention, now)
        for mention in find_all(text, now, lean=Lean.PAST)
        if not _EVERY.search(_before(text, mention))
    )
    return [*found, *islice(once, _MAX_TIMES)][:_MAX_TIMES]


def _tidy(text: str) -> str:
    """One space where there are several, and none inside a Chinese date (`2025 年 3 月`)."""
    text = " ".join(text.split()).replace("’", "'")
    return _SPACE_IN_CHINESE.sub("", text) if " " in text else text


def _before(text: str, mention: Mention) -> str:
    return text[max(0, mention.start - _LONGEST_BEFORE) : mention.start]


def _until_now(text: str, mention: Mention, now: datetime) -> DateSpan:
    """What began then and goes on: since last March, `上周以来`, `从三月到现在`."""
    span, today = mention.span, now.date()
    before = _before(text, mention)
    is_open = (
        _SINCE.search(before)
        or _SINCE_INSIDE.match(text, mention.start)
        or _TILL_NOW.match(text, mention.end)
        or (before.endswith("从") and _ON.match(text, mention.end))
    )
    return DateSpan(span.start, today) if is_open and span.start <= today else span


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
