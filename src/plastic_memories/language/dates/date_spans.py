"""Date spans, and the arithmetic of weeks, months and seasons."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date, timedelta
from enum import StrEnum

SEASON_STARTS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
_MONTHS = 12
_WEEK = 7
_SATURDAY = 5
# No conversation means a date further away, and date arithmetic would overflow.
_MAX_DAYS_AWAY = 365 * 300


# "Early" in a year is its first two months, "mid" June and July, "late" the last two.
_PARTS_OF_YEAR = {
    "begin": (1, 2),
    "middle": (6, 7),
    "end": (11, 12),
    "first": (1, 6),
    "second": (7, 12),
}
_THIRDS = {"begin": (0, 1 / 3), "middle": (1 / 3, 2 / 3), "end": (2 / 3, 1)}
_PART_SHARES = _THIRDS | {"first": (0, 1 / 2), "second": (1 / 2, 1)}
_MONTHS_OF = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_DAYS_OF = {"day": 1, "week": _WEEK, "fortnight": 2 * _WEEK}
_HALF_A_MONTH = 15


class DatePreference(StrEnum):
    """How to resolve a date without a year: plans look ahead, questions look back."""

    PAST = "past"
    FUTURE = "future"


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A span of days; both ends are included."""

    start: date
    end: date

    @property
    def is_day(self) -> bool:
        return self.start == self.end

    def to_text(self, to: str = " and ") -> str:
        """Return the span as text: a day, a month, a year, or a range.

        >>> whole_month(2024, 6).to_text(), whole_week(date(2024, 5, 15), 0).to_text("至")
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
    """Return a date, or None if the calendar has no such day."""
    if not (MINYEAR <= year <= MAXYEAR and 1 <= month <= _MONTHS):
        return None
    return date(year, month, day) if 1 <= day <= monthrange(year, month)[1] else None


def one_day(day: date | None) -> DateSpan | None:
    return DateSpan(day, day) if day else None


def days_away(today: date, days: int) -> DateSpan | None:
    """Return the day `days` days from today.

    >>> days_away(date(2024, 12, 31), 1).start
    datetime.date(2025, 1, 1)
    """
    if abs(days) > _MAX_DAYS_AWAY:
        return None
    return one_day(today + timedelta(days=days))


def shifted_month(year: int, month: int, months: int) -> tuple[int, int]:
    """Return the month `months` months after a month.

    >>> shifted_month(2024, 11, 3)
    (2025, 2)
    """
    index = year * _MONTHS + month - 1 + months
    return index // _MONTHS, index % _MONTHS + 1


def months_away(today: date, months: int) -> DateSpan | None:
    """Return the same day in another month, or that month's last day if it is shorter."""
    if abs(months) > _MAX_DAYS_AWAY // 30:
        return None
    year, month = shifted_month(today.year, today.month, months)
    return one_day(date(year, month, min(today.day, monthrange(year, month)[1])))


def units_away(today: date, count: float, unit: str) -> DateSpan | None:
    """Return the day `count` days, weeks, months or years from today; halves are allowed.

    >>> str(units_away(date(2026, 11, 16), -1.5, "month").start)
    '2026-10-01'
    """
    if unit in _DAYS_OF:
        return days_away(today, round(count * _DAYS_OF[unit]))
    months = count * _MONTHS_OF[unit]
    away = months_away(today, int(months))
    return (
        days_away(away.start, round((months - int(months)) * 2 * _HALF_A_MONTH)) if away else None
    )


def span_between(one: DateSpan | None, other: DateSpan | None) -> DateSpan | None:
    """Return the span from the earlier start to the later end."""
    if one is None or other is None:
        return None
    return DateSpan(min(one.start, other.start), max(one.end, other.end))


def span_around(day: DateSpan, unit: str) -> DateSpan:
    """Return about that time: weeks for "this time last year", days for "... last week"."""
    slack = timedelta(days={"week": 1, "month": 3}.get(unit, _HALF_A_MONTH))
    return DateSpan(day.start - slack, day.end + slack)


def whole_unit(day: date, unit: str) -> DateSpan | None:
    """Return the week, month or year that contains a day."""
    if unit in {"week", "fortnight"}:
        return whole_week(day, 0)
    return whole_month(day.year, day.month) if unit == "month" else whole_year(day.year)


def whole_month(year: int, month: int) -> DateSpan | None:
    first = date_or_none(year, month, 1)
    return DateSpan(first, first.replace(day=monthrange(year, month)[1])) if first else None


def whole_year(year: int) -> DateSpan | None:
    if not MINYEAR <= year <= MAXYEAR:
        return None
    return DateSpan(date(year, 1, 1), date(year, 12, 31))


def whole_week(today: date, weeks: int) -> DateSpan | None:
    """Return a week from Monday to Sunday, counted from the current one."""
    if abs(weeks * _WEEK) > _MAX_DAYS_AWAY:
        return None
    monday = today - timedelta(days=today.weekday()) + timedelta(weeks=weeks)
    return DateSpan(monday, monday + timedelta(days=_WEEK - 1))


def weekday_of_week(today: date, weeks: int, weekday: int) -> DateSpan | None:
    week = whole_week(today, weeks)
    return one_day(week.start + timedelta(days=weekday)) if week else None


def weekend_of_week(today: date, weeks: int) -> DateSpan | None:
    week = whole_week(today, weeks)
    return DateSpan(week.end - timedelta(days=1), week.end) if week else None


def nearest_weekday(today: date, weekday: int, lean: DatePreference) -> DateSpan | None:
    """Return the nearest such weekday: today counts when looking ahead, not when looking back."""
    if lean is DatePreference.FUTURE:
        return days_away(today, (weekday - today.weekday()) % _WEEK)
    return days_away(today, -((today.weekday() - weekday - 1) % _WEEK + 1))


def season_of_year(year: int, name: str) -> DateSpan | None:
    """Return the three months of a season; a winter belongs to the year in which it begins."""
    first = SEASON_STARTS[name]
    last_year, last_month = shifted_month(year, first, 2)
    start, end = date_or_none(year, first, 1), whole_month(last_year, last_month)
    return DateSpan(start, end.end) if start and end else None


def third_of_month(year: int, month: int, part: str) -> DateSpan | None:
    """Return the beginning, middle or end of a month."""
    month_span = whole_month(year, month)
    if month_span is None:
        return None
    first, last = month_span.start, month_span.end
    if part == "begin":
        return DateSpan(first, first.replace(day=10))
    if part == "middle":
        return DateSpan(first.replace(day=11), first.replace(day=20))
    return DateSpan(first.replace(day=21), last)


def months_of_year(year: int, first: int, last: int) -> DateSpan | None:
    return span_between(whole_month(year, first), whole_month(year, last))


def part_of(span: DateSpan, part: str, today: date) -> DateSpan | None:
    """Return the beginning, middle, end or half of a span, or its part before or after today.

    >>> str(part_of(whole_year(2025), "end", date(2026, 5, 1)).start)
    '2025-11-01'
    """
    if span.is_day:
        return span
    if part in {"earlier", "later"}:
        if not span.start <= today <= span.end:
            return span
        return DateSpan(span.start, today) if part == "earlier" else DateSpan(today, span.end)
    if span == whole_year(span.start.year):
        return months_of_year(span.start.year, *_PARTS_OF_YEAR[part])
    if part in _THIRDS and span == whole_month(span.start.year, span.start.month):
        return third_of_month(span.start.year, span.start.month, part)
    days = (span.end - span.start).days + 1
    first, last = _PART_SHARES[part]
    return DateSpan(
        span.start + timedelta(days=int(days * first)),
        span.start + timedelta(days=round(days * last) - 1),
    )


def relative_season(today: date, name: str, turn: int, lean: DatePreference) -> DateSpan | None:
    """Return last, this or next summer, relative to a day.

    Looking back, this summer is that of the calendar year, whether past, current or coming. A
    winter spans two years: this winter is the nearest one.
    """
    around = [season_of_year(today.year + step, name) for step in (-2, -1, 0, 1, 2)]
    known = [span for span in around if span]
    if turn < 0:
        return next((span for span in reversed(known) if span.end < today), None)
    if turn > 0:
        return next((span for span in known if span.start > today), None)
    if lean is DatePreference.FUTURE:
        return next((span for span in known if span.end >= today), None)
    return nearest_span(known, today) if name == "winter" else season_of_year(today.year, name)


def nearest_span(known: list[DateSpan], today: date) -> DateSpan | None:
    """Return the span that contains today, else the nearest; of two equally near, the later."""

    def gap(span: DateSpan) -> tuple[int, int]:
        away = max((span.start - today).days, (today - span.end).days, 0)
        return away, -span.start.toordinal()

    return min(known, key=gap, default=None)


def season_without_year(today: date, name: str, lean: DatePreference) -> DateSpan | None:
    """Return the season without a year: the current one, else the next or the last."""
    known = [span for step in (-1, 0, 1) if (span := season_of_year(today.year + step, name))]
    if lean is DatePreference.FUTURE:
        return next((span for span in known if span.end >= today), None)
    return next((span for span in reversed(known) if span.start <= today), None)


def relative_weekend(today: date, turn: int, lean: DatePreference) -> DateSpan | None:
    """Return last, this or next weekend. On a Monday, looking back, "this weekend" is just over."""
    if turn or lean is DatePreference.FUTURE:
        return weekend_of_week(today, turn)
    around = [weekend_of_week(today, step) for step in (-1, 0)]
    return nearest_span([span for span in around if span], today)


def weekend_without_week(today: date, lean: DatePreference) -> DateSpan | None:
    """Return the weekend without a week: looking back from a weekday it is the last one."""
    is_over = lean is DatePreference.PAST and today.weekday() < _SATURDAY
    return weekend_of_week(today, -1 if is_over else 0)


def relative_weekday(today: date, weekday: int, turn: int, lean: DatePreference) -> DateSpan | None:
    """Return last Friday (the latest one past) or next Friday (the one of next week)."""
    if turn > 0:
        return weekday_of_week(today, turn, weekday)
    if turn == 0 and lean is DatePreference.PAST:
        return weekday_of_week(today, 0, weekday)
    return nearest_weekday(today, weekday, DatePreference.PAST if turn < 0 else lean)


def relative_month_day(
    today: date, month: int, day: int, turn: int, lean: DatePreference
) -> DateSpan | None:
    """Return last, this or next Christmas; looking back, "this" is the nearest."""
    tomorrow, yesterday = today + timedelta(days=1), today - timedelta(days=1)
    if turn < 0:
        return month_day_without_year(yesterday, month, day, DatePreference.PAST)
    if turn > 0:
        return month_day_without_year(tomorrow, month, day, DatePreference.FUTURE)
    if lean is DatePreference.FUTURE:
        return month_day_without_year(today, month, day, lean)
    around = [month_day_without_year(today, month, day, way) for way in DatePreference]
    return nearest_span([span for span in around if span], today)


def relative_month(today: date, month: int, turn: int) -> DateSpan | None:
    """Return the last, this or the next month of that name."""
    if turn == 0:
        return whole_month(today.year, month)
    passed = month < today.month if turn < 0 else month <= today.month
    return whole_month(today.year - (turn < 0 and not passed) + (turn > 0 and passed), month)


def relative_quarter(today: date, turn: int) -> DateSpan | None:
    year, month = shifted_month(today.year, (today.month - 1) // 3 * 3 + 1, 3 * turn)
    return months_of_year(year, month, month + 2)


def months_without_year(
    today: date, first: int, last: int, lean: DatePreference
) -> DateSpan | None:
    """Return a range of months without a year; the current range counts both ways."""
    if lean is DatePreference.FUTURE:
        return months_of_year(today.year + (last < today.month), first, last)
    return months_of_year(today.year - (first > today.month), first, last)


def day_without_month(today: date, day: int, lean: DatePreference) -> DateSpan | None:
    """Return the 5th of an unnamed month: the next one, or the last."""
    ahead = lean is DatePreference.FUTURE
    passed = day < today.day if ahead else day > today.day
    year, month = shifted_month(today.year, today.month, (1 if ahead else -1) if passed else 0)
    return one_day(date_or_none(year, month, day))


def month_day_without_year(
    today: date, month: int, day: int, lean: DatePreference
) -> DateSpan | None:
    """Return a month and day without a year: the next such date, or the last one.

    >>> month_day_without_year(date(2024, 12, 30), 1, 2, DatePreference.FUTURE).start
    datetime.date(2025, 1, 2)
    """
    step = 1 if lean is DatePreference.FUTURE else -1
    # 29 February may be eight years away (around 1900 and 2100).
    for year in range(today.year, today.year + 9 * step, step):
        found = date_or_none(year, month, day)
        if found and (found - today).days * step >= 0:
            return one_day(found)
    return None


def month_without_year(today: date, month: int, lean: DatePreference) -> DateSpan | None:
    """Return a month without a year; the current month counts both ways."""
    if lean is DatePreference.FUTURE:
        return whole_month(today.year + (month < today.month), month)
    return whole_month(today.year - (month > today.month), month)
