"""When an event is next, against a calendar that looks at one day after the other."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plastic_memories.model.memory import Draft, Memory, MemoryType
from plastic_memories.model.owner import Owner
from plastic_memories.rules.lifecycle.occurrences import next_occurrence, upcoming_events
from plastic_memories.rules.lifecycle.transitions import memory_from_draft

DAYS = st.dates(date(1896, 1, 1), date(2110, 12, 31))
RECURRENCES = st.sampled_from(["yearly", "monthly", "weekly", "daily", None])
# A shorter month gives way to the day, so nothing that comes again is further than a year.
ENOUGH = 367


def is_on(day: date, anchor: date, recurrence: str | None) -> bool:
    last = monthrange(day.year, day.month)[1]
    fits = day.day == anchor.day or (day.day == last and anchor.day > last)
    return {
        "yearly": fits and day.month == anchor.month,
        "monthly": fits,
        "weekly": day.weekday() == anchor.weekday(),
        "daily": True,
        None: day == anchor,
    }[recurrence]


def first_day(anchor: date, recurrence: str | None, today: date) -> date | None:
    start = max(anchor, today)
    days = (start + timedelta(days=ahead) for ahead in range(ENOUGH))
    return next((day for day in days if is_on(day, anchor, recurrence)), None)


def event(number: int, **attributes: str) -> Memory:
    draft = Draft(type=MemoryType.EVENT, key=str(number), content="…", attributes=attributes)
    return replace(memory_from_draft(Owner("default", "ann", "miku"), draft, 0.0), id=number)


@given(DAYS, RECURRENCES, DAYS)
def test_the_next_day_is_the_one_a_calendar_shows(
    anchor: date, recurrence: str | None, today: date
) -> None:
    found = next_occurrence(anchor.isoformat(), recurrence, today)

    assert found == first_day(anchor, recurrence, today)


@given(DAYS, DAYS)
def test_without_a_year_it_comes_every_year(anchor: date, today: date) -> None:
    long_ago = date(1892, anchor.month, anchor.day)

    found = next_occurrence(anchor.strftime("%m-%d"), None, today)

    assert found == first_day(long_ago, "yearly", today)


@given(st.lists(st.tuples(DAYS, RECURRENCES), max_size=8), DAYS, st.integers(0, 400))
def test_upcoming_is_what_a_calendar_shows(
    dated: list[tuple[date, str | None]], today: date, days: int
) -> None:
    events = [
        event(number, date=day.isoformat(), **({"recurrence": again} if again else {}))
        for number, (day, again) in enumerate(dated)
    ]

    found = upcoming_events(events, today, days)

    shown = {n: first_day(day, again, today) for n, (day, again) in enumerate(dated)}
    within = {n: d for n, d in shown.items() if d and (d - today).days <= days}
    assert {item.memory.id: item.date for item in found} == within
    assert [item.date for item in found] == sorted(item.date for item in found)


@given(st.text(max_size=12), RECURRENCES, DAYS)
def test_what_is_no_date_is_never(text: str, recurrence: str | None, today: date) -> None:
    assert next_occurrence(f"{text}?", recurrence, today) is None


@pytest.mark.parametrize("text", ["2023-02-29", "02-30", "13-01", "00-10", "0000-01-01", "1-2"])
def test_a_day_the_calendar_does_not_have_is_never(text: str) -> None:
    assert next_occurrence(text, "yearly", date(2024, 1, 1)) is None


def test_a_birthday_on_29_february_is_kept_on_the_28th() -> None:
    years = [next_occurrence("1996-02-29", "yearly", date(year, 1, 1)) for year in (2023, 2024)]

    assert years == [date(2023, 2, 28), date(2024, 2, 29)]


def test_the_calendar_has_an_end() -> None:
    assert next_occurrence("01-01", "yearly", date(9999, 12, 31)) is None


def test_a_weekday_needs_a_year() -> None:
    assert next_occurrence("05-20", "weekly", date(2024, 5, 1)) is None


def test_a_journey_that_has_begun_is_todays_and_a_wedding_last_year_is_not() -> None:
    journey = event(1, date="2024-05-10", end_date="2024-05-20", event_type="plan")
    wedding = event(2, date="2024-01-01", end_date="2024-12-31", event_type="life_event")

    found = upcoming_events([journey, wedding], date(2024, 5, 15))

    assert [(item.memory.id, item.days_away) for item in found] == [(1, 0)]


def test_a_lunar_birthday_has_no_day_of_ours() -> None:
    assert (
        upcoming_events([event(1, date_text="农历八月十五", recurrence="yearly")], date(2024, 5, 1))
        == []
    )
