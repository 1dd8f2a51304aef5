"""English date expressions and the date spans they mean."""

from __future__ import annotations

import re
from datetime import date

from plastic_memories.language.dates import date_spans
from plastic_memories.language.dates.date_spans import DatePreference, DateSpan
from plastic_memories.language.dates.grammar import (
    DateRule,
    Grammar,
    Meaning,
    PhraseRole,
    compile_rules,
)
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.numerals import EN_COUNT, en_count

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
_RELATIVE_OFFSETS = {
    "last": -1,
    "past": -1,
    "this past": -1,
    "previous": -1,
    "this": 0,
    "next": 1,
}
_HOLIDAYS = {
    "new year's day": (1, 1),
    "valentine's day": (2, 14),
    "halloween": (10, 31),
    "christmas eve": (12, 24),
    "christmas": (12, 25),
    "xmas": (12, 25),
    "new year's eve": (12, 31),
}
MONTH = (
    r"(?P<m>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_ANY_MONTH = MONTH.replace("?P<m>", "?:")
_WEEKDAY = rf"(?P<wd>{'|'.join(_WEEKDAY_NAMES)})\b"
# Short names are also common words ("I sat in the sun"): they need a word before them.
_SHORT_WEEKDAY = r"(?P<wd>mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b"
_RELATIVE_WORD = r"(?P<rel>this coming|this past|last|this|next|coming|past|previous)"
DAY = r"(?P<d>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
YEAR = r"(?P<y>(?:19|20)\d\d)"
_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)"
_UNIT = r"(?P<unit>day|week|fortnight|month|year|decade)s?"
_HOLIDAY = rf"(?P<name>{'|'.join(_HOLIDAYS)})(?: day)?\b"
_PARTS = {
    "early": "begin",
    "begin": "begin",
    "start": "begin",
    "mid": "middle",
    "late": "end",
    "end": "end",
    "first": "first",
    "second": "second",
    "earlier": "earlier",
    "later": "later",
}
_PART = (
    r"(?:in |at |by |around )?(?:the )?(?P<part>earlier|early|later|late|mid(?:dle)?"
    r"|end|beginning|start|first half|second half)(?: of| in)?(?: the|-)?"
)
# "This may be": a month only if capitalised, or at the end.
_MAY_IS_A_VERB = r"(?!(?-i:may)\b(?! ?(?:$|[,.?!])))"


def month_number(text: str) -> int:
    return int(text) if text.isdigit() else _MONTHS[text.lower()[:3]]


def _without_punctuation(text: str) -> str:
    return " ".join(text.lower().split())


def _relative_day(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.days_away(today, _DAYS[_without_punctuation(found["day"])])


def _unit_name(found: re.Match[str]) -> str:
    return found["unit"].lower()


def _units_from_today(found: re.Match[str], today: date, sign: int) -> DateSpan | None:
    (low, high), unit = en_count(found["n"]), _unit_name(found)
    if found["low"]:
        low = en_count(found["low"])[0]
    more = {" and a half": (0.5, 0.5), " or two": (0, 1)}.get((found["half"] or "").lower(), (0, 0))
    low, high = low + more[0], high + more[1]
    near, far = (date_spans.units_away(today, count * sign, unit) for count in (low, high))
    return date_spans.span_between(near, far)


def _units_ahead(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    span = _units_from_today(found, today, 1)
    return span if span and span.is_day else None  # "in a few days" is not a date


def _units_ago(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return _units_from_today(found, today, -1)


def _recent_period(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    high = en_count(found["n"] or "one")[1]
    start = date_spans.units_away(today, -high, _unit_name(found))
    return DateSpan(start.start, today) if start else None


def _few_days_ago(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.span_between(date_spans.days_away(today, -7), date_spans.days_away(today, -1))


def _same_time_in_period(
    found: re.Match[str], today: date, lean: DatePreference
) -> DateSpan | None:
    """ "This time last year"."""
    day = date_spans.units_away(today, _RELATIVE_OFFSETS[found["rel"].lower()], _unit_name(found))
    if day is None or "time" not in found[0].lower():
        return day
    return date_spans.span_around(day, _unit_name(found))


def _named_relative_period(
    found: re.Match[str], today: date, turn: int, lean: DatePreference
) -> DateSpan | None:
    """Last, this or next week, summer, Friday, March, Christmas."""
    if found["season"]:
        name = found["season"].lower().replace("fall", "autumn")
        return date_spans.relative_season(today, name, turn, lean)
    if found["wd"]:
        return date_spans.relative_weekday(today, _WEEKDAYS[found["wd"].lower()[:3]], turn, lean)
    if found["m"]:
        return date_spans.relative_month(today, month_number(found["m"]), turn)
    if found["name"]:
        return date_spans.relative_month_day(
            today, *_HOLIDAYS[_without_punctuation(found["name"])], turn, lean
        )
    return _relative_unit(today, found["unit"].lower(), turn, lean)


def _relative_unit(today: date, unit: str, turn: int, lean: DatePreference) -> DateSpan | None:
    if unit == "week":
        return date_spans.whole_week(today, turn)
    if unit == "weekend":
        return date_spans.relative_weekend(today, turn, lean)
    if unit == "quarter":
        return date_spans.relative_quarter(today, turn)
    if unit == "month":
        return date_spans.whole_month(*date_spans.shifted_month(today.year, today.month, turn))
    return date_spans.whole_year(today.year + turn)


def _relative_period(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    word = found["rel"].lower()
    if word.endswith("coming"):
        # The coming weekend is that of this week, the coming week is the next.
        is_near = found["wd"] or (found["unit"] or "").lower() == "weekend"
        return _named_relative_period(found, today, 0 if is_near else 1, DatePreference.FUTURE)
    return _named_relative_period(found, today, _RELATIVE_OFFSETS[word], lean)


def _before_last_or_after_next(
    found: re.Match[str], today: date, lean: DatePreference
) -> DateSpan | None:
    """ "The week before last", "the summer after next"."""
    turn = -1 if "before" in found[0].lower() else 1
    once = _named_relative_period(found, today, turn, lean)
    if once is None:
        return None
    return _named_relative_period(found, once.start if turn < 0 else once.end, turn, lean)


def _counted_periods_ago(
    found: re.Match[str], today: date, lean: DatePreference
) -> DateSpan | None:
    """ "Three summers ago"."""
    count = en_count(found["n"])[1]
    span, day = None, today
    for _ in range(int(count) if count <= _MAX_OFFSET else 0):
        span = _named_relative_period(found, day, -1, lean)
        day = span.start if span else day
    return span


def _day_of_relative_month(
    found: re.Match[str], today: date, lean: DatePreference
) -> DateSpan | None:
    turn = _RELATIVE_OFFSETS[found["rel"].lower()]
    year, month = date_spans.shifted_month(today.year, today.month, turn)
    return date_spans.one_day(date_spans.date_or_none(year, month, int(found["d"])))


def _weekday(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.nearest_weekday(today, _WEEKDAYS[found["wd"].lower()[:3]], lean)


def _weekend(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.weekend_without_week(today, lean)


def _season(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.season_without_year(
        today, found["season"].lower().replace("fall", "autumn"), lean
    )


def _season_of_year(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.season_of_year(
        int(found["y"]), found["season"].lower().replace("fall", "autumn")
    )


def _month_day(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    month, day = month_number(found["m"]), int(found["d"])
    if found["y"]:
        return date_spans.one_day(date_spans.date_or_none(int(found["y"]), month, day))
    return date_spans.month_day_without_year(today, month, day, lean)


def _month_of_year(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.whole_month(int(found["y"]), month_number(found["m"]))


def _month(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.month_without_year(today, month_number(found["m"]), lean)


def _quarter(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    last = int(found["q"]) * 3
    return date_spans.months_without_year(today, last - 2, last, lean)


def _numeric_date(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.one_day(
        date_spans.date_or_none(int(found["y"]), int(found["m"]), int(found["d"]))
    )


def _year(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.whole_year(int(found["y"]))


def _year_range(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    first, last = int(found["from"]), int(found["y"])
    return (
        date_spans.span_between(date_spans.whole_year(first), date_spans.whole_year(last))
        if first < last
        else None
    )


def _day_of_month(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.day_without_month(today, int(found["d"]), lean)


def _holiday(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.month_day_without_year(
        today, *_HOLIDAYS[_without_punctuation(found["name"])], lean
    )


def _current_unit(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    """ "The end of the month", "... of the year"."""
    return date_spans.whole_unit(today, _unit_name(found))


def _part_of(meaning: Meaning) -> Meaning:
    """Return the meaning narrowed by "early", "late" or "the end of"."""

    def cut(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
        span = meaning(found, today, lean)
        if span is None or not found["part"]:
            return span
        word = found["part"].lower()
        part = next(part for begin, part in _PARTS_LONGEST_FIRST if word.startswith(begin))
        return date_spans.part_of(span, part, today)

    return cut


_PARTS_LONGEST_FIRST = sorted(_PARTS.items(), key=lambda item: -len(item[0]))
_MONTH_DAY = rf"\b(?:on )?{MONTH} (?:the )?{DAY}\b(?! (?:day|week|month|year)s?\b)(?:,? {YEAR}\b)?"
_DAY_MONTH = rf"\b(?:on )?(?:the )?{DAY} (?:of )?{MONTH}(?:,? {YEAR}\b)?"
CALENDAR = tuple(regex(text, re.IGNORECASE | re.ASCII) for text in (_MONTH_DAY, _DAY_MONTH))
_PERIOD = (
    rf"(?:(?P<unit>weekend|week|month|year|quarter)\b|{_SEASON}\b|{_WEEKDAY}|{_HOLIDAY}"
    rf"|{_MAY_IS_A_VERB}{MONTH}(?! \d))"
)
_ANY_PERIOD = "|".join((*_HOLIDAYS, *_WEEKDAY_NAMES, "week|month|year|spring|summer|fall|winter"))
_PERIODS = (
    rf"(?:(?P<unit>weekend)s?\b|{_SEASON}s?\b|(?P<wd>{'|'.join(_WEEKDAY_NAMES)})s?\b"
    rf"|(?P<name>christmas)(?:es)?\b|(?P<m>(?!)))"
)
_COUNT = (
    rf"(?<![\d.])(?:(?P<low>{EN_COUNT})(?: or | to |-))?(?P<n>{EN_COUNT}) {_UNIT}"
    r"(?P<half> and a half| or (?:two|so))?"
)
_MAX_OFFSET = 50
_PART_PREFIX = rf"\b(?:{_PART} ?)?"
_BARE_MONTH_BEFORE = (
    r"(?=,? (?:of |in )?(?:(?:last|this|next|previous) year|the year before last)\b"
    r"| (?:to|until|till) (?:now|today|date|the present)\b"
    rf"|,? (?:{EN_COUNT}) years? ago\b| ?[-–到至~] ?(?:{_ANY_MONTH})"
    rf"| (?:to|through|until|till|and) (?:early |late |mid-?|the end of )?(?:{_ANY_MONTH}))"
)
_FIXED, _FLOATING, _FRAME = PhraseRole.FIXED, PhraseRole.FLOATING, PhraseRole.FRAME
_PERIOD_HINTS = "unit/season/weekday/month/holiday"
_GRAMMAR_ROWS: Grammar = (
    (rf"\b(?P<day>{'|'.join(_DAYS)})\b", _relative_day, _FIXED, "today"),
    (rf"\b(?:in|within) {_COUNT}(?:' time)?\b", _units_ahead, _FIXED, "unit in"),
    (rf"\b{_COUNT} (?:from now|from today|later)\b", _units_ahead, _FIXED, "unit later"),
    (
        rf"\b(?:in )?(?:the )?(?:last|past) (?P<n>{EN_COUNT}) {_UNIT}\b",
        _recent_period,
        _FIXED,
        "turn unit",
    ),
    (
        r"\b(?:the )?(?:last|past) (?P<unit>fortnight|decade)(?P<n>)\b",
        _recent_period,
        _FIXED,
        "turn unit",
    ),
    (r"\bthe other (?:day|night|morning|evening)\b", _few_days_ago, _FIXED, "unit/today"),
    (
        r"\b(?:today|(?:this|the same|same) (?:day|time)),? (?P<rel>last|next) "
        r"(?P<unit>week|month|year)\b",
        _same_time_in_period,
        _FIXED,
        "turn unit",
    ),
    (
        rf"{_PART_PREFIX}{_RELATIVE_WORD} {_PERIOD}",
        _part_of(_relative_period),
        _FRAME,
        f"turn {_PERIOD_HINTS}",
    ),
    (
        rf"\b{_RELATIVE_WORD} {_SHORT_WEEKDAY}(?P<season>)(?P<m>)(?P<name>)",
        _relative_period,
        _FIXED,
        "turn weekday",
    ),
    (
        rf"\b(?:the )?{_PERIOD} (?:before last|after next)\b(?! (?:{_ANY_PERIOD}))",
        _before_last_or_after_next,
        _FRAME,
        f"turn {_PERIOD_HINTS}",
    ),
    (
        rf"\b(?P<n>{EN_COUNT}) {_PERIODS} ago\b",
        _counted_periods_ago,
        _FRAME,
        f"ago {_PERIOD_HINTS}",
    ),
    (rf"\b(?:on )?{_WEEKDAY}", _weekday, _FLOATING, "weekday"),
    (rf"\bon {_SHORT_WEEKDAY}", _weekday, _FLOATING, "weekday"),
    (r"\b(?:on |over |at |during )?(?:the )?weekend\b", _weekend, _FLOATING, "unit"),
    (
        rf"\b(?:on )?the {DAY} of {_RELATIVE_WORD} month\b",
        _day_of_relative_month,
        _FIXED,
        "turn unit",
    ),
    (
        rf"{_PART_PREFIX}(?:in )?(?:the )?{_SEASON}(?: of)? ?(?P<y>(?:19|20)\d\d)\b",
        _part_of(_season_of_year),
        _FRAME,
        "season year",
    ),
    (rf"\b(?:in|during|over)(?: the)? {_SEASON}\b", _season, _FLOATING, "season"),
    (
        rf"\b(?:the )?{_SEASON}"
        rf"(?= (?:of )?(?:last year|this year|the year before|{EN_COUNT} years? ago))",
        _season,
        _FLOATING,
        "season unit",
    ),
    (_MONTH_DAY, _month_day, _FLOATING, "month"),
    (_DAY_MONTH, _month_day, _FLOATING, "month"),
    (
        rf"{_PART_PREFIX}(?:in )?{MONTH},? (?:of )?{YEAR}\b",
        _part_of(_month_of_year),
        _FRAME,
        "month year",
    ),
    (rf"\b(?:in|since|by|until|during) {MONTH}(?! \d)", _month, _FLOATING, "month"),
    (rf"\b{_PART} ?{MONTH}(?! \d)", _part_of(_month), _FLOATING, "month part"),
    (rf"\b(?:from |between )?{MONTH}{_BARE_MONTH_BEFORE}", _month, _FLOATING, "month"),
    (r"\bq(?P<q>[1-4])\b", _quarter, _FLOATING, "quarter"),
    (
        r"(?<!\d)(?P<y>(?:19|20)\d\d)[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)",
        _numeric_date,
        _FIXED,
        "year",
    ),
    (rf"\b(?:in|(?:in )?the year) {YEAR}\b", _year, _FRAME, "year"),
    (rf"\b{_PART} {YEAR}\b", _part_of(_year), _FRAME, "year part"),
    (
        r"\b(?:in|from|between|during) (?P<from>(?:19|20)\d\d)"
        rf"(?: ?[-–] ?| (?:and|to|until|till|through) ){YEAR}\b",
        _year_range,
        _FIXED,
        "year",
    ),
    (r"\bon the (?P<d>3[01]|[12]?\d)(?:st|nd|rd|th)\b", _day_of_month, _FLOATING, "ordinal"),
    (rf"\b(?:on |at |over )?{_HOLIDAY}", _holiday, _FLOATING, "holiday"),
    (rf"\b{_PART} (?P<unit>month|year|week)\b", _part_of(_current_unit), _FIXED, "unit part"),
)
# Directly after another date expression, fewer words are needed.
_FOLLOWING_ROWS: Grammar = (
    (rf"{MONTH}(?! \d)", _month, _FLOATING, "month"),
    (rf"{_SEASON}\b", _season, _FLOATING, "season"),
    (_SHORT_WEEKDAY, _weekday, _FLOATING, "weekday"),
    (rf"{YEAR}\b(?![-/.]\d)", _year, _FRAME, "year"),
    (r"(?P<d>3[01]|[12]?\d)(?:st|nd|rd|th)\b", _day_of_month, _FLOATING, "ordinal"),
    (rf"(?<=[-–]){DAY}\b(?![-/.:]\d)", _day_of_month, _FLOATING, "month"),
)
# ASCII: a Chinese character next to an English date is not part of it.
_FLAGS = re.IGNORECASE | re.ASCII


def _required_hints(hints: str) -> tuple[frozenset[str], ...]:
    """Return the hints that a text needs: "turn unit/season" is a turn, and a unit or a season."""
    return tuple(frozenset(one.split("/")) for one in hints.split())


_AGO = regex(rf"\b{_COUNT} ago(?: today)?\b", _FLAGS)
RULES = (
    *compile_rules(_GRAMMAR_ROWS, _required_hints, _FLAGS),
    DateRule(_AGO, _units_ago, PhraseRole.FRAME, _required_hints("unit ago"), _unit_name),
)
FOLLOWING = compile_rules(_FOLLOWING_ROWS, _required_hints, _FLAGS)
_WORD = regex(r"[a-z0-9]+")
_HINT_WORDS = {
    "today": "today tonight tomorrow yesterday night morning afternoon evening",
    "unit": "day days week weeks weekend weekends month months year years fortnight fortnights "
    "decade decades quarter",
    "turn": "last this next coming past previous",
    "ago": "ago",
    "in": "in within",
    "later": "from later",
    "part": "early earlier late later mid middle end beginning start first second",
    "season": "spring summer autumn fall winter springs summers autumns falls winters",
    "month": f"{_MONTH_NAMES} january february march april june july august sept september october "
    "november december",
    "weekday": "mon tue tues wed thu thur thurs fri sat sun "
    + " ".join(_WEEKDAY_NAMES)
    + " "
    + " ".join(f"{name}s" for name in _WEEKDAY_NAMES),
    "holiday": "christmas christmases xmas halloween valentine new",
    "quarter": "q1 q2 q3 q4",
}
_HINTS_OF_WORD: dict[str, tuple[str, ...]] = {}
for _kind, _words in _HINT_WORDS.items():
    for _word in _words.split():
        _HINTS_OF_WORD[_word] = (*_HINTS_OF_WORD.get(_word, ()), _kind)


def time_hints(text: str) -> set[str]:
    """Return the kinds of time words that a text contains."""
    kinds: set[str] = set()
    for word in _WORD.findall(text.lower()):
        if word in _HINTS_OF_WORD:
            kinds.update(_HINTS_OF_WORD[word])
        elif word[0].isdigit():
            kinds.add("year" if word.isdigit() else "ordinal")
    return kinds
