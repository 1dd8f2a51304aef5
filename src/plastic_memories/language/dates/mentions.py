"""Resolve dates in messages: what `明天`, `去年冬天` or "next Friday" mean at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache

from plastic_memories.language.dates import chinese, english
from plastic_memories.language.dates.date_spans import DatePreference, DateSpan, date_or_none
from plastic_memories.language.dates.grammar import DatePhraseReader, DateRule, applicable_rules
from plastic_memories.language.text.lazy_regex import at_start, regex
from plastic_memories.language.text.numerals import zh_number

__all__ = [
    "CalendarDate",
    "DateMention",
    "DatePreference",
    "DateSpan",
    "calendar_date",
    "find_date",
    "find_dates",
    "insert_date",
    "lunar_date",
    "resolve_date",
    "resolve_relative_dates",
    "yearly_date",
]

_LATIN = regex(r"[A-Za-z]")
_LEAP_YEAR = 2000


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date span and its position in the text."""

    span: DateSpan
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CalendarDate:
    """A day with or without its year, such as a birthday."""

    month: int
    day: int
    year: int | None = None

    def __str__(self) -> str:
        short = f"{self.month:02d}-{self.day:02d}"
        return f"{self.year:04d}-{short}" if self.year else short


def resolve_date(
    text: str, now: datetime, *, lean: DatePreference = DatePreference.FUTURE
) -> DateSpan | None:
    """Return the span of the first date expression in the text, relative to `now`.

    `now` carries the user's time zone. `lean` decides for dates without a year.

    >>> from datetime import UTC
    >>> now = datetime(2024, 5, 15, 9, 0, tzinfo=UTC)  # a Wednesday
    >>> resolve_date("下周三去北京", now).start
    datetime.date(2024, 5, 22)
    >>> winter = resolve_date("去年冬天", now, lean=DatePreference.PAST)
    >>> str(winter.start), str(winter.end)
    ('2023-12-01', '2024-02-29')
    """
    mention = find_date(text, now, lean=lean)
    return mention.span if mention else None


def find_date(
    text: str, now: datetime, *, lean: DatePreference = DatePreference.FUTURE
) -> DateMention | None:
    """Return the first date expression, combined with its neighbours: `去年国庆` is one."""
    return next(find_dates(text, now, lean=lean), None)


def find_dates(
    text: str, now: datetime, *, lean: DatePreference = DatePreference.FUTURE
) -> Iterator[DateMention]:
    """Yield the date expressions in order.

    Lunar dates are skipped: they have no fixed Gregorian date.
    """
    rules, following = _rules_for(text)
    if not rules:
        return
    reader = DatePhraseReader(
        chinese.LUNAR.sub(_mask_match, text), now.date(), lean, rules, following
    )
    phrase = reader.first_phrase()
    while phrase:
        yield DateMention(phrase.span, phrase.start, phrase.end)
        phrase = reader.next_phrase(phrase)


def _mask_match(found: re.Match[str]) -> str:
    return "_" * len(found[0])  # same length, so that positions in the text stay valid


def _rules_for(text: str) -> tuple[tuple[DateRule, ...], tuple[DateRule, ...]]:
    hints = chinese.time_hints(text)
    return _applicable_rules(
        hints.union(english.time_hints(text)) if _LATIN.search(text) else hints
    )


@lru_cache(maxsize=4096)
def _applicable_rules(hints: frozenset[str]) -> tuple[tuple[DateRule, ...], tuple[DateRule, ...]]:
    """Return the rules worth trying: trying all took most of the time of a question."""
    rules = applicable_rules((*chinese.RULES, *english.RULES), hints)
    return rules, applicable_rules((*chinese.FOLLOWING, *english.FOLLOWING), hints)


_DAY_ALONE = at_start(r"[\d一二三四五六七八九十廿]+[日号]|on the \d\w*")
_YEAR_TEXT = regex(r"\d{4}")
_RELATIVE = regex(
    r"[昨明后前]天|昨晚|明早|明晚|[上下]个?(?:周|星期|礼拜|月)|去年|前年|明年|后年|[天周月年]之?[前后]"
    r"|\b(?:yesterday|tomorrow|last|next|ago)\b",
    re.IGNORECASE,
)
_HAN = regex("[\u4e00-\u9fff]")
_AFTER_PREPOSITION = regex(
    r"\b(?:on|in|at|by|for|until|till|since|from|before|after)\s$", re.IGNORECASE
)

_LONGEST_WORDS = 100  # no date is written with more letters


def insert_date(content: str, said: str, written: str) -> str:
    """Replace the words that meant a date by the date itself.

    >>> insert_date("我明天有个面试", "明天", "2024-05-16")
    '我 2024-05-16 有个面试'
    >>> insert_date("I promise to call you tomorrow", "tomorrow", "2024-05-16")
    'I promise to call you on 2024-05-16'
    >>> insert_date("我tomorrow有个面试", "tomorrow", "2024-05-16")
    '我 2024-05-16 有个面试'
    """
    letters = [re.escape(char) for char in said[:_LONGEST_WORDS] if not char.isspace()]
    found = re.search(r"\s*+".join(letters), content)
    if not found:
        return f"{written} {content}"
    before, after = content[: found.start()], content[found.end() :]
    if _LATIN.search(said) and not _is_in_chinese_sentence(before, after):
        return f"{before}{_with_preposition(written, before)}{after}"
    if after.startswith("的") and not after[1:]:
        after = ""
    return f"{before.rstrip()} {written} {after.lstrip()}".strip()


def _is_in_chinese_sentence(before: str, after: str) -> bool:
    """Return whether the words between these are part of a Chinese sentence, in any script."""
    return bool(_HAN.search(before.rstrip()[-1:] + after.lstrip()[:1]))


def _with_preposition(written: str, before: str) -> str:
    """Return an English date with its preposition: on a day, in a month, between two days."""
    if _AFTER_PREPOSITION.search(before) or not _YEAR_TEXT.match(written):
        return written
    word = "between" if " and " in written else "on" if len(written) > len("2024-05") else "in"
    return f"{word if before.strip() else word.capitalize()} {written}"


def resolve_relative_dates(content: str, now: datetime) -> str:
    """Replace an expression like "last month" by its date, if the sentence has one.

    >>> from datetime import UTC
    >>> resolve_relative_dates("我上个月搬到了南京", datetime(2024, 5, 15, tzinfo=UTC))
    '我 2024-04 搬到了南京'
    """
    if not _RELATIVE.search(content):
        return content
    mention = find_date(content, now, lean=DatePreference.PAST)
    if mention is None or not _RELATIVE.search(content, mention.start, mention.end):
        return content
    words = content[mention.start : mention.end].strip()
    return insert_date(content, words, mention.span.to_text(_range_connector(words)))


def _range_connector(words: str) -> str:
    return " and " if _LATIN.search(words) else "至"


def yearly_date(text: str, content: str, now: datetime) -> tuple[str, str] | None:
    """Return a date that recurs every year, and the sentence with that date inserted.

    >>> from datetime import UTC
    >>> yearly_date("明天是我生日", "明天是我生日", datetime(2024, 5, 15, tzinfo=UTC))
    ('05-16', '05-16 是我生日')
    """
    day = calendar_date(text, now.date())
    if day:
        return str(day), content
    mention = find_date(text, now)
    if mention is None or not mention.span.is_day:
        return None
    if _DAY_ALONE.fullmatch(text[mention.start : mention.end]):
        return None  # the 17th of an unknown month
    date = mention.span.start.strftime("%m-%d")
    return date, insert_date(content, text[mention.start : mention.end].strip(), date)


def lunar_date(text: str) -> str | None:
    """Return a date of the Chinese lunar calendar as written, or None.

    >>> lunar_date("我生日是农历八月十五")
    '农历八月十五'
    """
    found = chinese.LUNAR.search(text)
    return found[0] if found else None


_FULL_DATE = regex(r"(?<!\d)(?P<y>(?:19|20)\d\d)[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)")
_MONTH_DAY = regex(r"(?<![\d./-])(?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?![\d./-])(?P<y>)")
_ZH_DATE = regex(rf"(?<!\d)(?:{chinese.ANY_YEAR})?{chinese.MONTH}份?的?{chinese.DAY}[日号]?")


def calendar_date(text: str, today: date) -> CalendarDate | None:
    """Parse a written-out day of the year, with its year if given.

    >>> today = date(2024, 5, 1)
    >>> str(calendar_date("95年5月20号", today)), str(calendar_date("2月29", today))
    ('1995-05-20', '02-29')
    """
    found = _ZH_DATE.search(text)
    if found:
        year = chinese.full_year(found["y"], today) if found["y"] else None
        return _valid_calendar_date(year, zh_number(found["m"]), zh_number(found["d"]))
    for pattern in (_FULL_DATE, *english.CALENDAR, _MONTH_DAY):
        found = pattern.search(text)
        if found:
            month = english.month_number(found["m"])
            return _valid_calendar_date(
                int(found["y"]) if found["y"] else None, month, int(found["d"])
            )
    return None


def _valid_calendar_date(year: int | None, month: int, day: int) -> CalendarDate | None:
    # Without a year, 29 February is valid: check against a leap year.
    known = date_or_none(year or _LEAP_YEAR, month, day)
    return CalendarDate(month, day, year) if known else None
