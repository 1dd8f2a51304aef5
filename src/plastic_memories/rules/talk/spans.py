"""Stretches of calendar days, and the arithmetic of weeks, months and seasons."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date, timedelta
from enum import StrEnum

SEASON_STARTS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
_MONTHS = 12
_WEEK = 7
# Further away than this no talk means it, and date arithmetic would overflow.
_FURTHEST_DAYS = 365 * 300


class Lean(StrEnum):
    """Which way a date without a year is meant: plans look ahead, questions look back."""

    PAST = "past"
    FUTURE = "future"


@dataclass(frozen=True, slots=True)
class DateSpan:
    """From the first day to the last, both included."""

    start: date
    end: date

    @property
    def is_day(self) -> bool:
        return self.start == self.end

    def written(self, to: str = " and ") -> str:
        """The days as they are written down: a day, a month, a year, or from one to another.

        >>> whole_month(2024, 6).written(), whole_week(date(2024, 5, 15), 0).written("至")
        ('2024-06', '2024-05-13至2024-05-19')
        """
        first, last = self.start.isoformat(), self.end.isoformat()
        if self.is_day:
            return first
        if self == whole_year(self.start.year):
            return first[:4]
        if self == whole_month(self.start.year, self.start.month):
            return first[:7]
        return f"{first}{to}{last}"


def date_or_none(year: int, month: int, day: int) -> date | None:
    """Build a date, or say that the calendar has no such day."""
    if not (MINYEAR <= year <= MAXYEAR and 1 <= month <= _MONTHS):
        return None
    return date(year, month, day) if 1 <= day <= monthrange(year, month)[1] else None


def one_day(day: date | None) -> DateSpan | None:
    return DateSpan(day, day) if day else None


def days_away(today: date, days: int) -> DateSpan | None:
    """The single day so many days from today.

    >>> days_away(date(2024, 12, 31), 1).start
    datetime.date(2025, 1, 1)
    """
    if abs(days) > _FURTHEST_DAYS:
        return None
    return one_day(today + timedelta(days=days))


def shifted_month(year: int, month: int, months: int) -> tuple[int, int]:
    """Count months on from a month.

    >>> shifted_month(2024, 11, 3)
    (2025, 2)
    """
    index = year * _MONTHS + month - 1 + months
    return index // _MONTHS, index % _MONTHS + 1


def months_away(today: date, months: int) -> DateSpan | None:
    """The same day in another month, or that month's last day if it is shorter."""
    if abs(months) > _FURTHEST_DAYS // 30:
        return None
    year, month = shifted_month(today.year, today.month, months)
    return one_day(date(year, month, min(today.day, monthrange(year, month)[1])))


def whole_month(year: int, month: int) -> DateSpan | None:
    first = date_or_none(year, month, 1)
    return DateSpan(first, first.replace(day=monthrange(year, month)[1])) if first else None


def whole_year(year: int) -> DateSpan | None:
    if not MINYEAR <= year <= MAXYEAR:
        return None
    return DateSpan(date(year, 1, 1), date(year, 12, 31))


def whole_week(today: date, weeks: int) -> DateSpan | None:
    """A week from Monday to Sunday, counted from the one that holds today."""
    if abs(weeks * _WEEK) > _FURTHEST_DAYS:
        return None
    monday = today - timedelta(days=today.weekday()) + timedelta(weeks=weeks)
    return DateSpan(monday, monday + timedelta(days=_WEEK - 1))


def weekday_of_week(today: date, weeks: int, weekday: int) -> DateSpan | None:
    week = whole_week(today, weeks)
    return one_day(week.start + timedelta(days=weekday)) if week else None


def weekend_of_week(today: date, weeks: int) -> DateSpan | None:
    week = whole_week(today, weeks)
    return DateSpan(week.end - timedelta(days=1), week.end) if week else None


def nearest_weekday(today: date, weekday: int, lean: Lean) -> DateSpan | None:
    """The weekday alone ("Friday"): today counts when looking ahead, not when looking back."""
    if lean is Lean.FUTURE:
        return days_away(today, (weekday - today.weekday()) % _WEEK)
    return days_away(today, -((today.weekday() - weekday - 1) % _WEEK + 1))


def season(year: int, name: str) -> DateSpan | None:
    """Three months of a year; a winter belongs to the year in which it begins."""
    first = SEASON_STARTS[name]
    last_year, last_month = shifted_month(year, first, 2)
    start, end = date_or_none(year, first, 1), whole_month(last_year, last_month)
    return DateSpan(start, end.end) if start and end else None


def third_of_month(year: int, month: int, part: str) -> DateSpan | None:
    """The beginning, middle or end of a month."""
    month_span = whole_month(year, month)
    if month_span is None:
        return None
    first, last = month_span.start, month_span.end
    if part == "begin":
        return DateSpan(first, first.replace(day=10))
    if part == "middle":
        return DateSpan(first.replace(day=11), first.replace(day=20))
    return DateSpan(first.replace(day=21), last)


def year_of_month_day(today: date, month: int, day: int, lean: Lean) -> DateSpan | None:
    """A month and a day without a year: the next such day, or the last one.

    >>> year_of_month_day(date(2024, 12, 30), 1, 2, Lean.FUTURE).start
    datetime.date(2025, 1, 2)
    """
    step = 1 if lean is Lean.FUTURE else -1
    # 29 February may be eight years away (around 1900 and 2100).
    for year in range(today.year, today.year + 9 * step, step):
        found = date_or_none(year, month, day)
        if found and (found - today).days * step >= 0:
            return one_day(found)
    return None


def year_of_month(today: date, month: int, lean: Lean) -> DateSpan | None:
    """A month without a year; the month we are in counts both ways."""
    if lean is Lean.FUTURE:
        return whole_month(today.year + (month < today.month), month)
    return whole_month(today.year - (month > today.month), month)
