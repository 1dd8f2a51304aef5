"""Expressions of time become days, seen from a moment in the user's time zone."""

from __future__ import annotations

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from plastic_memories.language.dates.mentions import (
    DatePreference,
    calendar_date,
    find_date,
    lunar_date,
    resolve_date,
)

# A Wednesday.
NOW = datetime(2024, 5, 15, 9, tzinfo=ZoneInfo("Asia/Shanghai"))


def days(text: str, lean: DatePreference, now: datetime = NOW) -> str:
    span = resolve_date(text, now, lean=lean)
    if span is None:
        return ""
    return str(span.start) if span.is_day else f"{span.start}..{span.end}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("今天", "2024-05-15"),
        ("明天", "2024-05-16"),
        ("后天", "2024-05-17"),
        ("大后天", "2024-05-18"),
        ("下周三", "2024-05-22"),
        ("下下周一", "2024-05-27"),
        ("周五", "2024-05-17"),
        ("周三", "2024-05-15"),
        ("星期天", "2024-05-19"),
        ("礼拜六", "2024-05-18"),
        ("周末", "2024-05-18..2024-05-19"),
        ("下周", "2024-05-20..2024-05-26"),
        ("下个月3号", "2024-06-03"),
        ("下个月", "2024-06-01..2024-06-30"),
        ("下个月底", "2024-06-21..2024-06-30"),
        ("三天后", "2024-05-18"),
        ("两周后", "2024-05-29"),
        ("半年后", "2024-11-15"),
        ("半个月后", "2024-05-30"),
        ("一年后", "2025-05-15"),
        ("十天之后", "2024-05-25"),
        ("6月18日", "2024-06-18"),
        ("1月2号", "2025-01-02"),
        ("3号", "2024-06-03"),
        ("二十号", "2024-05-20"),
        ("月底", "2024-05-21..2024-05-31"),
        ("年底", "2024-11-01..2024-12-31"),
        ("明年3月", "2025-03-01..2025-03-31"),
        ("国庆节", "2024-10-01"),
        ("圣诞节", "2024-12-25"),
        ("今年夏天", "2024-06-01..2024-08-31"),
        ("冬天", "2024-12-01..2025-02-28"),
        ("12月底", "2024-12-21..2024-12-31"),
        ("本月20号", "2024-05-20"),
        ("tomorrow", "2024-05-16"),
        ("the day after tomorrow", "2024-05-17"),
        ("tonight", "2024-05-15"),
        ("next Friday", "2024-05-24"),
        ("on Friday", "2024-05-17"),
        ("this Fri", "2024-05-17"),
        ("Monday next week", "2024-05-20"),
        ("in two weeks", "2024-05-29"),
        ("three months from now", "2024-08-15"),
        ("this weekend", "2024-05-18..2024-05-19"),
        ("next month", "2024-06-01..2024-06-30"),
        ("the 3rd of next month", "2024-06-03"),
        ("June 3rd", "2024-06-03"),
        ("3 June 2026", "2026-06-03"),
        ("on the 25th", "2024-05-25"),
        ("next June", "2024-06-01..2024-06-30"),
        ("this June", "2024-06-01..2024-06-30"),
        ("Christmas", "2024-12-25"),
        ("next summer", "2024-06-01..2024-08-31"),
        ("in October", "2024-10-01..2024-10-31"),
        ("the end of the month", "2024-05-21..2024-05-31"),
        ("this winter", "2024-12-01..2025-02-28"),
    ],
)
def test_what_lies_ahead(text: str, expected: str) -> None:
    assert days(text, DatePreference.FUTURE) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("昨天", "2024-05-14"),
        ("前天", "2024-05-13"),
        ("上周", "2024-05-06..2024-05-12"),
        ("上周五", "2024-05-10"),
        ("周五", "2024-05-10"),
        ("周三", "2024-05-08"),
        ("周末", "2024-05-11..2024-05-12"),
        ("五天前", "2024-05-10"),
        ("三个月前", "2024-02-15"),
        ("去年", "2023-01-01..2023-12-31"),
        ("去年冬天", "2023-12-01..2024-02-29"),
        ("去年5月3日", "2023-05-03"),
        ("2023年5月", "2023-05-01..2023-05-31"),
        ("2019年", "2019-01-01..2019-12-31"),
        ("95年5月20号", "1995-05-20"),
        ("二零二三年", "2023-01-01..2023-12-31"),
        ("2023-05-20", "2023-05-20"),
        ("6月18日", "2023-06-18"),
        ("冬天", "2023-12-01..2024-02-29"),
        ("前几天", "2024-05-08..2024-05-14"),
        ("最近三天", "2024-05-12..2024-05-15"),
        ("过去一年", "2023-05-16..2024-05-15"),
        ("20号", "2024-04-20"),
        ("12月", "2023-12-01..2023-12-31"),
        ("2023.5", "2023-05-01..2023-05-31"),
        ("去年底", "2023-11-01..2023-12-31"),
        ("yesterday", "2024-05-14"),
        ("last Friday", "2024-05-10"),
        ("Friday", "2024-05-10"),
        ("last March", "2024-03-01..2024-03-31"),
        ("last June", "2023-06-01..2023-06-30"),
        ("in May 2023", "2023-05-01..2023-05-31"),
        ("3 days ago", "2024-05-12"),
        ("a month ago", "2024-04-15"),
        ("last summer", "2023-06-01..2023-08-31"),
        ("last year", "2023-01-01..2023-12-31"),
        ("in 2019", "2019-01-01..2019-12-31"),
        ("winter of 2022", "2022-12-01..2023-02-28"),
        ("the past two weeks", "2024-05-01..2024-05-15"),
        ("last week", "2024-05-06..2024-05-12"),
        ("2023/05/20", "2023-05-20"),
        ("on the 25th", "2024-04-25"),
    ],
)
def test_what_lies_behind(text: str, expected: str) -> None:
    assert days(text, DatePreference.PAST) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "你好",
        "工作10年了",
        "我有三个月",
        "农历八月十五",
        "第一次去日本",
        "I may go",
        "I march on",
        "I sat in the sun",
        "13月40日",
        "99999天后",
        "9999年后",
        "in 4000 years",
    ],
)
def test_what_names_no_day(text: str) -> None:
    assert days(text, DatePreference.FUTURE) == ""


@pytest.mark.parametrize(
    ("now", "text", "expected"),
    [
        (datetime(2024, 12, 31, tzinfo=NOW.tzinfo), "明天", "2025-01-01"),
        (datetime(2024, 12, 31, tzinfo=NOW.tzinfo), "下周三", "2025-01-08"),
        (datetime(2024, 1, 31, tzinfo=NOW.tzinfo), "一个月后", "2024-02-29"),
        (datetime(2023, 3, 1, tzinfo=NOW.tzinfo), "2月29日", "2024-02-29"),
        (datetime(2024, 5, 19, tzinfo=NOW.tzinfo), "下周一", "2024-05-20"),
    ],
)
def test_the_ends_of_months_and_years(now: datetime, text: str, expected: str) -> None:
    assert days(text, DatePreference.FUTURE, now) == expected


def test_a_mention_says_where_it_stands() -> None:
    mention = find_date("我下周三去北京", NOW)

    assert mention is not None
    assert (mention.start, mention.end) == (1, 4)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5月20日", "05-20"),
        ("二月二十九", "02-29"),
        ("1990年12月1日", "1990-12-01"),
        ("88年3月8号", "1988-03-08"),
        ("May 20th, 1990", "1990-05-20"),
        ("20 May", "05-20"),
        ("1995-05-20", "1995-05-20"),
        ("5/20", "05-20"),
        ("13/20", "None"),
        ("二月三十", "None"),
        ("someday", "None"),
    ],
)
def test_a_day_of_the_year_that_is_written_out(text: str, expected: str) -> None:
    assert str(calendar_date(text, date(2024, 5, 15))) == expected


def test_a_lunar_date_stays_text() -> None:
    assert lunar_date("我生日是农历八月十五") == "农历八月十五"
    assert lunar_date("我生日是八月十五") is None
