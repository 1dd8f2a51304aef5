"""English expressions of time, each with the days it means."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from plastic_memories.rules.regex import regex
from plastic_memories.rules.talk import spans
from plastic_memories.rules.talk.numerals import EN_NUMBER, en_number
from plastic_memories.rules.talk.spans import DateSpan, Lean

Meaning = Callable[["re.Match[str]", date, Lean], DateSpan | None]

_MONTH_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec"
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES.split(), start=1)}
_WEEKDAY_NAMES = (
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
)
_WEEKDAYS = {name[:3]: number for number, name in enumerate(_WEEKDAY_NAMES)}
_DAYS = {
    "the day after tomorrow": 2,
    "the day before yesterday": -2,
    "tomorrow": 1,
    "tonight": 0,
    "today": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "yesterday": -1,
    "last night": -1,
}
_TURNS = {
    "last": -1,
    "past": -1,
    "previous": -1,
    "this": 0,
    "this coming": 0,
    "coming": 0,
    "next": 1,
}
_HOLIDAYS = {
    "new year's day": (1, 1),
    "valentine's day": (2, 14),
    "halloween": (10, 31),
    "christmas eve": (12, 24),
    "christmas": (12, 25),
    "new year's eve": (12, 31),
}
MONTH = (
    r"(?P<m>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_WEEKDAY = rf"(?P<wd>{'|'.join(_WEEKDAY_NAMES)})\b"
# Short names are common words too ("I sat in the sun"): they need a word before them.
_SHORT_WEEKDAY = r"(?P<wd>mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b"
_TURN = r"(?P<rel>this coming|last|this|next|coming|past|previous)"
DAY = r"(?P<d>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
YEAR = r"(?P<y>(?:19|20)\d\d)"
_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)"
_N = EN_NUMBER
_UNIT = r"(?P<unit>day|week|month|year)s?"


def month_number(text: str) -> int:
    return int(text) if text.isdigit() else _MONTHS[text.lower()[:3]]


def _day_word(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return spans.days_away(today, _DAYS[found["day"].lower()])


def _distance(found: re.Match[str], today: date, sign: int) -> DateSpan | None:
    count = en_number(found["n"]) * sign
    if found["unit"].lower() in {"day", "week"}:
        return spans.days_away(today, count * (7 if found["unit"].lower() == "week" else 1))
    return spans.months_away(today, count * (12 if found["unit"].lower() == "year" else 1))


def _ahead(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return _distance(found, today, 1)


def _ago(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return _distance(found, today, -1)


def _lately(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    start = _distance(found, today, -1)
    return DateSpan(start.start, today) if start else None


def _weekday(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    """Last Friday is the latest one past; next Friday is the one of next week."""
    weekday = _WEEKDAYS[found["wd"].lower()[:3]]
    rel = _TURNS.get((found["rel"] or "").lower())
    if rel == 1 or found["week"]:
        return spans.weekday_of_week(today, 1, weekday)
    return spans.nearest_weekday(today, weekday, Lean.PAST if rel == -1 else lean)


def _week(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return spans.whole_week(today, _TURNS[found["rel"].lower()])


def _weekend(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return spans.weekend_of_week(today, _TURNS[(found["rel"] or "this").lower()])


def _relative_month(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    turn = _TURNS[found["rel"].lower()]
    return spans.whole_month(*spans.shifted_month(today.year, today.month, turn))


def _day_of_relative_month(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    turn = _TURNS[found["rel"].lower()]
    year, month = spans.shifted_month(today.year, today.month, turn)
    return spans.one_day(spans.date_or_none(year, month, int(found["d"])))


def _relative_year(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return spans.whole_year(today.year + _TURNS[found["rel"].lower()])


def _named_month(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    """The last, this or the next month of that name."""
    month, turn = month_number(found["m"]), _TURNS[found["rel"].lower()]
    if turn == 0:
        return spans.whole_month(today.year, month)
    passed = month < today.month if turn < 0 else month <= today.month
    return spans.whole_month(today.year - (turn < 0 and not passed) + (turn > 0 and passed), month)


def _season(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    name = found["season"].lower().replace("fall", "autumn")
    if found["y"]:
        return spans.season(int(found["y"]), name)
    turn = _TURNS[found["rel"].lower()]
    around = [spans.season(today.year + step, name) for step in (-2, -1, 0, 1, 2)]
    known = [span for span in around if span]
    if turn < 0:
        return next(span for span in reversed(known) if span.end < today)
    if turn > 0:
        return next(span for span in known if span.start > today)
    return next(span for span in known if span.end >= today)


def _month_day(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    month, day = month_number(found["m"]), int(found["d"])
    if found["y"]:
        return spans.one_day(spans.date_or_none(int(found["y"]), month, day))
    return spans.year_of_month_day(today, month, day, lean)


def _month_of_year(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return spans.whole_month(int(found["y"]), month_number(found["m"]))


def _month(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return spans.year_of_month(today, month_number(found["m"]), lean)


def _numeric(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return spans.one_day(spans.date_or_none(int(found["y"]), int(found["m"]), int(found["d"])))


def _year(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return spans.whole_year(int(found["y"]))


def _day_of_month(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    day, ahead = int(found["d"]), lean is Lean.FUTURE
    passed = day < today.day if ahead else day > today.day
    step = (1 if ahead else -1) if passed else 0
    year, month = spans.shifted_month(today.year, today.month, step)
    return spans.one_day(spans.date_or_none(year, month, day))


def _holiday(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return spans.year_of_month_day(today, *_HOLIDAYS[found["name"].lower()], lean)


def _month_end(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return spans.third_of_month(today.year, today.month, "end")


_MONTH_DAY = rf"\b(?:on )?{MONTH} (?:the )?{DAY}\b(?:,? {YEAR}\b)?"
_DAY_MONTH = rf"\b(?:on )?(?:the )?{DAY} (?:of )?{MONTH}(?:,? {YEAR}\b)?"
CALENDAR = tuple(regex(text, re.IGNORECASE | re.ASCII) for text in (_MONTH_DAY, _DAY_MONTH))
_GRAMMAR: tuple[tuple[str, Meaning], ...] = (
    (rf"\b(?P<day>{'|'.join(_DAYS)})\b", _day_word),
    (rf"\b(?:in|within) (?P<n>{_N}) {_UNIT}(?:' time)?\b", _ahead),
    (rf"\b(?P<n>{_N}) {_UNIT} (?:from now|from today|later)\b", _ahead),
    (rf"\b(?P<n>{_N}) {_UNIT} ago\b", _ago),
    (rf"\b(?:in )?(?:the )?(?:last|past) (?P<n>{_N}) {_UNIT}\b", _lately),
    (rf"\b(?:on )?(?:{_TURN} )?{_WEEKDAY}(?P<week> next week)?", _weekday),
    (rf"\b(?:on|{_TURN}) {_SHORT_WEEKDAY}(?P<week> next week)?", _weekday),
    (rf"\b{_TURN} week\b", _week),
    (rf"\b(?:on |over |at )?(?:the )?(?:{_TURN} )?weekend\b", _weekend),
    (rf"\b(?:on )?the {DAY} of {_TURN} month\b", _day_of_relative_month),
    (rf"\b{_TURN} month\b", _relative_month),
    (rf"\b{_TURN} year\b", _relative_year),
    (rf"\b{_TURN} {MONTH}(?! \d)", _named_month),
    (rf"\b(?:in (?:the )?)?(?:{_TURN} )?{_SEASON}(?: of)? ?(?P<y>(?:19|20)\d\d)\b", _season),
    (rf"\b{_TURN} {_SEASON}(?P<y>)\b", _season),
    (_MONTH_DAY, _month_day),
    (_DAY_MONTH, _month_day),
    (rf"\b(?:in )?{MONTH},? (?:of )?{YEAR}\b", _month_of_year),
    (rf"\b(?:in|since|by|until) {MONTH}(?! \d)", _month),
    (r"(?<!\d)(?P<y>(?:19|20)\d\d)[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)", _numeric),
    (rf"\bin {YEAR}\b", _year),
    (r"\bon the (?P<d>3[01]|[12]?\d)(?:st|nd|rd|th)\b", _day_of_month),
    (rf"\b(?:on |at )?(?P<name>{'|'.join(_HOLIDAYS)})(?: day)?\b", _holiday),
    (r"\b(?:at |by )?the end of (?:the|this) month\b", _month_end),
)
# ASCII: a Chinese character beside an English date does not belong to it.
_FLAGS = re.IGNORECASE | re.ASCII
RULES = tuple((regex(pattern, _FLAGS), meaning) for pattern, meaning in _GRAMMAR)
HINT = regex(
    r"day\b|night|morrow|week|month|year|ago\b|spring|summer|autumn|fall|winter|morning|noon"
    r"|evening|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)"
    r"|(?:19|20)\d\d|christmas|halloween|\d(?:st|nd|rd|th)\b",
    re.IGNORECASE | re.ASCII,
)
