"""Dates in talk: what `明天`, `去年冬天` or "next Friday" mean, seen from a moment."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime

from plastic_memories.rules.talk import dates_en, dates_zh
from plastic_memories.rules.talk.numerals import zh_number
from plastic_memories.rules.talk.spans import DateSpan, Lean, date_or_none

__all__ = [
    "CalendarDate",
    "DateSpan",
    "Lean",
    "Mention",
    "calendar_date",
    "find",
    "lunar",
    "resolve",
]

_LATIN = re.compile(r"[A-Za-z]")
_LEAP_YEAR = 2000


@dataclass(frozen=True, slots=True)
class Mention:
    """A stretch of days, and where in the text it was named."""

    span: DateSpan
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CalendarDate:
    """A day with or without its year, as birthdays are told."""

    month: int
    day: int
    year: int | None = None

    def __str__(self) -> str:
        short = f"{self.month:02d}-{self.day:02d}"
        return f"{self.year:04d}-{short}" if self.year else short


def resolve(text: str, now: datetime, *, lean: Lean = Lean.FUTURE) -> DateSpan | None:
    """Return the days the first expression of time in the text means, seen from `now`.

    `now` carries the user's time zone. `lean` decides for dates without a year.

    >>> from datetime import UTC
    >>> now = datetime(2024, 5, 15, 9, 0, tzinfo=UTC)  # a Wednesday
    >>> resolve("下周三去北京", now).start
    datetime.date(2024, 5, 22)
    >>> winter = resolve("去年冬天", now, lean=Lean.PAST)
    >>> str(winter.start), str(winter.end)
    ('2023-12-01', '2024-02-29')
    """
    mention = find(text, now, lean=lean)
    return mention.span if mention else None


def find(text: str, now: datetime, *, lean: Lean = Lean.FUTURE) -> Mention | None:
    """Return the first expression of time; of two that begin together, the longer one."""
    if lunar(text):
        return None
    best: Mention | None = None
    for pattern, meaning in _rules_for(text):
        found = pattern.search(text)
        if found is None or (best and not _comes_before(found, best)):
            continue
        span = meaning(found, now.date(), lean)
        if span:
            best = Mention(span, found.start(), found.end())
    return best


def _rules_for(text: str) -> list[tuple[re.Pattern[str], dates_zh.Meaning]]:
    rules: list[tuple[re.Pattern[str], dates_zh.Meaning]] = []
    if dates_zh.HINT.search(text):
        rules += dates_zh.RULES
    if _LATIN.search(text) and dates_en.HINT.search(text):
        rules += dates_en.RULES
    return rules


def _comes_before(found: re.Match[str], best: Mention) -> bool:
    return (found.start(), -found.end()) < (best.start, -best.end)


def lunar(text: str) -> str | None:
    """Return a date of the Chinese lunar calendar as it was said, if there is one.

    >>> lunar("我生日是农历八月十五")
    '农历八月十五'
    """
    found = dates_zh.LUNAR.search(text)
    return found[0] if found else None


_YEARED = re.compile(r"(?<!\d)(?P<y>(?:19|20)\d\d)[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)")
_SHORT = re.compile(r"(?<![\d./-])(?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?![\d./-])(?P<y>)")
_ZH_DATE = re.compile(
    rf"(?<!\d)(?:{dates_zh.ANY_YEAR})?{dates_zh.MONTH}份?的?{dates_zh.DAY}[日号]?"
)


def calendar_date(text: str, today: date) -> CalendarDate | None:
    """Read a day of the year that is written out, with its year if that is said.

    >>> today = date(2024, 5, 1)
    >>> str(calendar_date("95年5月20号", today)), str(calendar_date("2月29", today))
    ('1995-05-20', '02-29')
    """
    found = _ZH_DATE.search(text)
    if found:
        year = dates_zh.full_year(found["y"], today) if found["y"] else None
        return _checked(year, zh_number(found["m"]), zh_number(found["d"]))
    for pattern in (_YEARED, *dates_en.CALENDAR, _SHORT):
        found = pattern.search(text)
        if found:
            month = dates_en.month_number(found["m"])
            return _checked(int(found["y"]) if found["y"] else None, month, int(found["d"]))
    return None


def _checked(year: int | None, month: int, day: int) -> CalendarDate | None:
    # A day without a year may be 29 February: a leap year has room for all of them.
    known = date_or_none(year or _LEAP_YEAR, month, day)
    return CalendarDate(month, day, year) if known else None
