"""Next occurrence of dated events, across month ends, year ends and 29 February."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import MAXYEAR, date, timedelta
from enum import StrEnum

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.model.memory import Memory

_DATE = regex(r"(?:(?P<year>\d{4})-)?(?P<month>\d{2})-(?P<day>\d{2})")
_LEAP_YEAR = 2000
_MONTHS = 12
_WEEK = 7


class Recurrence(StrEnum):
    """Supported recurrences."""

    YEARLY = "yearly"
    MONTHLY = "monthly"
    WEEKLY = "weekly"
    DAILY = "daily"


@dataclass(frozen=True, slots=True)
class EventDate:
    """The date of an event, with or without a year."""

    month: int
    day: int
    year: int | None = None

    @property
    def date(self) -> date | None:
        return date(self.year, self.month, self.day) if self.year else None


@dataclass(frozen=True, slots=True)
class UpcomingEvent:
    """A memory and its next date."""

    memory: Memory
    date: date
    days_away: int


def parse_event_date(text: str) -> EventDate | None:
    """Parse "YYYY-MM-DD" or "MM-DD"; return None for a date the calendar does not have.

    >>> parse_event_date("02-29"), parse_event_date("2023-02-29")
    (EventDate(month=2, day=29, year=None), None)
    """
    found = _DATE.fullmatch(text.strip())
    if not found:
        return None
    year, month, day = int(found["year"] or 0), int(found["month"]), int(found["day"])
    if (found["year"] and not year) or not 1 <= month <= _MONTHS:
        return None
    # Without a year, 29 February is valid: check against a leap year.
    if not 1 <= day <= monthrange(year or _LEAP_YEAR, month)[1]:
        return None
    return EventDate(month, day, year or None)


def next_occurrence(date_text: str, recurrence: str | None, today: date) -> date | None:
    """Return the first date of the event from today on, never before its first date.

    Without a year it recurs every year, whatever its recurrence, unless that is shorter. 29
    February falls on 28 February in other years, and the 31st on the last day of a shorter month. A
    weekly event needs a year, because month and day alone have no weekday.

    >>> next_occurrence("02-29", "yearly", date(2025, 1, 1))
    datetime.date(2025, 2, 28)
    >>> next_occurrence("2024-01-31", "monthly", date(2024, 2, 1))
    datetime.date(2024, 2, 29)
    >>> next_occurrence("2024-01-31", None, date(2024, 2, 1)) is None
    True
    """
    anchor = parse_event_date(date_text)
    if anchor is None:
        return None
    first = anchor.date
    since = max(first, today) if first else today
    try:
        return _first_occurrence_since(anchor, recurrence, since)
    except OverflowError:
        return None  # the calendar ends before the next occurrence


def _first_occurrence_since(anchor: EventDate, recurrence: str | None, since: date) -> date | None:
    """Return the first occurrence on or after `since`, which is not before the first one."""
    first = anchor.date
    if recurrence == Recurrence.DAILY:
        return since
    if recurrence == Recurrence.WEEKLY:
        return since + timedelta(days=(first - since).days % _WEEK) if first else None
    if recurrence == Recurrence.MONTHLY:
        return _next_monthly(anchor.day, since)
    if recurrence == Recurrence.YEARLY or first is None:
        return _next_yearly(anchor, since)
    return first if first == since else None


def _next_monthly(day: int, since: date) -> date:
    this = _clamped_date(since.year, since.month, day)
    if this >= since:
        return this
    year, month = divmod(since.year * _MONTHS + since.month, _MONTHS)
    return _clamped_date(year, month + 1, day)


def _next_yearly(anchor: EventDate, since: date) -> date:
    this = _clamped_date(since.year, anchor.month, anchor.day)
    return this if this >= since else _clamped_date(since.year + 1, anchor.month, anchor.day)


def _clamped_date(year: int, month: int, day: int) -> date:
    if year > MAXYEAR:
        raise OverflowError
    return date(year, month, min(day, monthrange(year, month)[1]))


def upcoming_events(memories: Iterable[Memory], today: date, days: int = 30) -> list[UpcomingEvent]:
    """Return the events within `days` days from today, soonest first.

    An event of several days that has begun and is not over counts as today. Events without a
    Gregorian date (such as lunar ones) are left out.
    """
    found = [
        UpcomingEvent(memory, day, (day - today).days)
        for memory in memories
        if (day := next_event_date(memory, today)) and (day - today).days <= days
    ]
    return sorted(found, key=lambda item: (item.date, item.memory.id))


def next_event_date(memory: Memory, today: date) -> date | None:
    """Return the next date of an event from today on; None if it is over or has no date."""
    attributes = memory.attributes
    text, recurrence = attributes.get("date"), attributes.get("recurrence")
    if not isinstance(text, str):
        return None
    day = next_occurrence(text, recurrence if isinstance(recurrence, str) else None, today)
    if day is None and attributes.get("event_type") == "plan":
        end = parse_event_date(str(attributes.get("end_date", "")))
        return today if end and end.date and end.date >= today else None
    return day
