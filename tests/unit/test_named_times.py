"""The times that questions name, in a table: Chinese, English and mixed, at several moments."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plastic_memories.language.dates.mentions import DatePreference, find_date
from plastic_memories.language.dates.past_references import (
    mentioned_date_spans,
    mentioned_time_spans,
)

MONDAY = datetime(2026, 11, 16, 9, tzinfo=UTC)
SUNDAY = datetime(2026, 11, 15, 9, tzinfo=UTC)
WEDNESDAY = datetime(2026, 11, 18, 9, tzinfo=UTC)
NEW_YEAR = datetime(2026, 1, 1, 9, tzinfo=UTC)  # a Thursday
YEAR_END = datetime(2026, 12, 31, 9, tzinfo=UTC)  # a Thursday
LEAP_DAY = datetime(2024, 2, 29, 9, tzinfo=UTC)  # a Thursday
SPRING = datetime(2026, 4, 10, 9, tzinfo=UTC)


def days(text: str, now: datetime = MONDAY) -> str:
    found = mentioned_date_spans(text, now)
    return " ".join(
        str(span.start) if span.is_day else f"{span.start}..{span.end}" for span in found
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("去年国庆", "2025-10-01"),
        ("去年的国庆我去哪里爬山了？", "2025-10-01"),
        ("今年国庆", "2026-10-01"),
        ("去年國慶", "2025-10-01"),
        ("前年圣诞", "2024-12-25"),
        ("去年十一去哪玩了", "2025-10-01"),
        ("去年十一月", "2025-11-01..2025-11-30"),
        ("24年国庆", "2024-10-01"),
        ("2024国庆", "2024-10-01"),
        ("两年前的国庆", "2024-10-01"),
        ("去年三月", "2025-03-01..2025-03-31"),
        ("去年的三月", "2025-03-01..2025-03-31"),
        ("前年冬天", "2024-12-01..2025-02-28"),
        ("两年前的夏天", "2024-06-01..2024-08-31"),
        ("三年前的冬天", "2023-12-01..2024-02-29"),
        ("几年前的夏天", "2019-11-16..2024-11-16"),
        ("去年初夏", "2025-06-01..2025-08-31"),
        ("去年今天", "2025-11-16"),
        ("去年这个时候", "2025-11-01..2025-12-01"),
        ("去年下半年", "2025-07-01..2025-12-31"),
        ("去年第三季度", "2025-07-01..2025-09-30"),
        ("去年初中毕业", "2025-01-01..2025-12-31"),
        ("大后年", "2029-01-01..2029-12-31"),
        ("2025 年 3 月 15 号", "2025-03-15"),
        ("in March last year", "2025-03-01..2025-03-31"),
        ("last year in March", "2025-03-01..2025-03-31"),
        ("March last year", "2025-03-01..2025-03-31"),
        ("may I ask about March of last year", "2025-03-01..2025-03-31"),
        ("March two years ago", "2024-03-01..2024-03-31"),
        ("on March 5 last year", "2025-03-05"),
        ("last year on March 5th", "2025-03-05"),
        ("last year's Christmas", "2025-12-25"),
        ("Christmas two years ago", "2024-12-25"),
        ("Christmas 2024", "2024-12-25"),
        ("New Year’s Eve last year", "2025-12-31"),
        ("the summer two years ago", "2024-06-01..2024-08-31"),
        ("fall of last year", "2025-09-01..2025-11-30"),
        ("last summer in July", "2026-07-01..2026-07-31"),
        ("Q3 last year", "2025-07-01..2025-09-30"),
        ("last year on a Friday", "2025-01-01..2025-12-31"),
        ("this time last year", "2025-11-01..2025-12-01"),
        ("去年 Christmas 我去哪了", "2025-12-25"),
        ("last year 国庆 where was I", "2025-10-01"),
        ("在 March last year 的时候", "2025-03-01..2025-03-31"),
        ("去年 summer", "2025-06-01..2025-08-31"),
        ("两年前的 summer", "2024-06-01..2024-08-31"),
    ],
)
def test_a_part_of_a_year_is_that_years(text: str, expected: str) -> None:
    assert days(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("上月底", "2026-10-21..2026-10-31"),
        ("上月15号", "2026-10-15"),
        ("上个月底", "2026-10-21..2026-10-31"),
        ("上个月月底", "2026-10-21..2026-10-31"),
        ("上个月初", "2026-10-01..2026-10-10"),
        ("上个月中旬", "2026-10-11..2026-10-20"),
        ("上个月中", "2026-10-11..2026-10-20"),
        ("上个月中奖了", "2026-10-01..2026-10-31"),
        ("本月底", "2026-11-21..2026-11-30"),
        ("上个月的周末", "2026-10-01..2026-10-31"),
        ("大上个月", "2026-09-01..2026-09-30"),
        ("上上周", "2026-11-02..2026-11-08"),
        ("上上上周", "2026-10-26..2026-11-01"),
        ("上周的周三", "2026-11-11"),
        ("两周前的周三", "2026-11-04"),
        ("两个月前的5号", "2026-09-05"),
        ("at the end of last month", "2026-10-21..2026-10-31"),
        ("early last year", "2025-01-01..2025-02-28"),
        ("late March", "2026-03-21..2026-03-31"),
        ("mid-May", "2026-05-11..2026-05-20"),
        ("in early 2024", "2024-01-01..2024-02-29"),
        ("the first half of last year", "2025-01-01..2025-06-30"),
        ("earlier this month", "2026-11-01..2026-11-16"),
        ("the week before last", "2026-11-02..2026-11-08"),
        ("the month before last", "2026-09-01..2026-09-30"),
        ("the year before last", "2024-01-01..2024-12-31"),
        ("the weekend before last", "2026-11-07..2026-11-08"),
        ("Christmas before last", "2024-12-25"),
        ("a week before last Christmas", "2025-12-25"),
        ("the summer before last", "2025-06-01..2025-08-31"),
        ("three summers ago", "2024-06-01..2024-08-31"),
        ("Tuesday last week", "2026-11-10"),
        ("last week, on Friday", "2026-11-13"),
        ("last month on the 5th", "2026-10-05"),
        ("上周 Friday", "2026-11-13"),
        ("last week 周三", "2026-11-11"),
    ],
)
def test_a_part_of_a_month_or_a_week_is_that_months(text: str, expected: str) -> None:
    assert days(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("半年前", "2026-05-16"),
        ("半个月前", "2026-11-01"),
        ("一年半前", "2025-05-16"),
        ("一个半月前", "2026-10-01"),
        ("三个多月前", "2026-08-16"),
        ("前几天", "2026-11-09..2026-11-15"),
        ("几天前", "2026-11-09..2026-11-14"),
        ("前两天", "2026-11-13..2026-11-15"),
        ("两三天前", "2026-11-13..2026-11-14"),
        ("两三天后", "2026-11-18..2026-11-19"),
        ("三四个月前", "2026-07-16..2026-08-16"),
        ("十几年前", "2007-11-16..2015-11-16"),
        ("几个月前", "2026-04-16..2026-09-16"),
        ("half a year ago", "2026-05-16"),
        ("a half year ago", "2026-05-16"),
        ("over the past year", "2025-11-15..2026-11-16"),
        ("a year and a half ago", "2025-05-16"),
        ("1.5 years ago", "2025-05-16"),
        ("a couple weeks ago", "2026-11-02"),
        ("a couple of weeks ago", "2026-11-02"),
        ("a few days ago", "2026-11-09..2026-11-14"),
        ("two or three weeks ago", "2026-10-26..2026-11-02"),
        ("a month or two ago", "2026-09-16..2026-10-16"),
        ("a fortnight ago", "2026-11-02"),
        ("a decade ago", "2016-11-16"),
        ("the other day", "2026-11-09..2026-11-15"),
        ("a week ago today", "2026-11-09"),
        ("the last 3 days", "2026-11-13..2026-11-16"),
        ("in the past few days", "2026-11-09..2026-11-16"),
        ("early last Friday", "2026-11-13"),
        ("a few days ago 我们聊了什么", "2026-11-09..2026-11-14"),
    ],
)
def test_how_long_ago_may_be_vague(text: str, expected: str) -> None:
    assert days(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("三月到五月", "2026-03-01..2026-05-31"),
        ("从三月到五月", "2026-03-01..2026-05-31"),
        ("三月和五月之间", "2026-03-01..2026-05-31"),
        ("三月和五月", "2026-03-01..2026-03-31 2026-05-01..2026-05-31"),
        ("3-5月", "2026-03-01..2026-05-31"),
        ("七八月份", "2026-07-01..2026-08-31"),
        ("3 月到 5 月", "2026-03-01..2026-05-31"),
        ("2025年3月到5月", "2025-03-01..2025-05-31"),
        ("去年三月到今年五月", "2025-03-01..2026-05-31"),
        ("11月到2月", "2025-11-01..2026-02-28"),
        ("10月1号到7号", "2026-10-01..2026-10-07"),
        ("10月1-7号", "2026-10-01..2026-10-07"),
        ("上周一到周三", "2026-11-09..2026-11-11"),
        ("从周一到周三", "2026-11-09..2026-11-11"),
        ("2023到2025年", "2023-01-01..2025-12-31"),
        ("今年五一到十一", "2026-05-01..2026-10-01"),
        ("从上周到现在", "2026-11-09..2026-11-16"),
        ("上周以来", "2026-11-09..2026-11-16"),
        ("从上个月开始", "2026-10-01..2026-11-16"),
        ("between March and May 2026", "2026-03-01..2026-05-31"),
        ("between March and May last year", "2025-03-01..2025-05-31"),
        ("last year from March to May", "2025-03-01..2025-05-31"),
        ("from March to May", "2026-03-01..2026-05-31"),
        ("March - May 2025", "2025-03-01..2025-05-31"),
        ("Oct 1-7, 2025", "2025-10-01..2025-10-07"),
        ("from December to February", "2025-12-01..2026-02-28"),
        ("between 2023 and 2025", "2023-01-01..2025-12-31"),
        ("from last Monday to yesterday", "2026-11-09..2026-11-15"),
        ("Monday and Wednesday", "2026-11-09 2026-11-11"),
        ("since last March", "2026-03-01..2026-11-16"),
        ("from March to now", "2026-03-01..2026-11-16"),
        ("从 March 到 May 我在哪", "2026-03-01..2026-05-31"),
        ("从国庆到 last week", "2026-10-01..2026-11-15"),
    ],
)
def test_from_one_to_another_is_the_whole_stretch(text: str, expected: str) -> None:
    assert days(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("去年三月和五月", "2025-03-01..2025-03-31 2025-05-01..2025-05-31"),
        ("去年国庆和圣诞", "2025-10-01 2025-12-25"),
        ("上周一和周三", "2026-11-09 2026-11-11"),
        ("昨天和周三", "2026-11-15 2026-11-11"),
        ("三月和去年五月", "2026-03-01..2026-03-31 2025-05-01..2025-05-31"),
        ("March and April last year", "2025-03-01..2025-03-31 2025-04-01..2025-04-30"),
        ("last year in March and in May", "2025-03-01..2025-03-31 2025-05-01..2025-05-31"),
        ("去年圣诞和国庆", "2025-12-25 2025-10-01"),
        ("去年 Christmas 和国庆", "2025-12-25 2025-10-01"),
        ("Wednesday and Monday last week", "2026-11-11 2026-11-09"),
    ],
)
def test_times_in_a_list_share_their_year_or_week(text: str, expected: str) -> None:
    assert days(text) == expected


@pytest.mark.parametrize(
    ("now", "text", "expected"),
    [
        # Before it, while it is on, and after it.
        (SPRING, "this summer", "2026-06-01..2026-08-31"),
        (MONDAY, "this summer", "2026-06-01..2026-08-31"),
        (MONDAY, "今年夏天", "2026-06-01..2026-08-31"),
        (MONDAY, "这个夏天", "2026-06-01..2026-08-31"),
        (MONDAY, "this autumn", "2026-09-01..2026-11-30"),
        (YEAR_END, "this spring", "2026-03-01..2026-05-31"),
        (NEW_YEAR, "this winter", "2025-12-01..2026-02-28"),
        (NEW_YEAR, "今年冬天", "2025-12-01..2026-02-28"),
        (SPRING, "this winter", "2025-12-01..2026-02-28"),
        (MONDAY, "this winter", "2026-12-01..2027-02-28"),
        (SPRING, "last winter", "2025-12-01..2026-02-28"),
        (NEW_YEAR, "this Christmas", "2025-12-25"),
        (MONDAY, "this Christmas", "2026-12-25"),
        (YEAR_END, "next Christmas", "2027-12-25"),
        (SUNDAY, "this weekend", "2026-11-14..2026-11-15"),
        (MONDAY, "this weekend", "2026-11-14..2026-11-15"),
        (WEDNESDAY, "this weekend", "2026-11-21..2026-11-22"),
        (MONDAY, "over the weekend", "2026-11-14..2026-11-15"),
        (MONDAY, "周末", "2026-11-14..2026-11-15"),
        (SUNDAY, "over the weekend", "2026-11-14..2026-11-15"),
        (SUNDAY, "last weekend", "2026-11-07..2026-11-08"),
        (SUNDAY, "上周末", "2026-11-07..2026-11-08"),
        (MONDAY, "this Monday", "2026-11-16"),
        (MONDAY, "this coming Friday", "2026-11-20"),
        (WEDNESDAY, "this Monday", "2026-11-16"),
        (SUNDAY, "last week", "2026-11-02..2026-11-08"),
        (SUNDAY, "周一到周三", "2026-11-09..2026-11-11"),
        # The ends of years.
        (NEW_YEAR, "上月底", "2025-12-21..2025-12-31"),
        (NEW_YEAR, "去年国庆", "2025-10-01"),
        (NEW_YEAR, "国庆", "2025-10-01"),
        (NEW_YEAR, "the week before last", "2025-12-15..2025-12-21"),
        (NEW_YEAR, "last quarter", "2025-10-01..2025-12-31"),
        (NEW_YEAR, "三月到五月", "2025-03-01..2025-05-31"),
        (SPRING, "from March to May", "2025-03-01..2025-05-31"),
        (YEAR_END, "last Christmas", "2026-12-25"),
        (YEAR_END, "去年圣诞", "2025-12-25"),
        (YEAR_END, "half a year ago", "2026-06-30"),
        (YEAR_END, "March last year", "2025-03-01..2025-03-31"),
        # A leap day.
        (LEAP_DAY, "一年前", "2023-02-28"),
        (LEAP_DAY, "去年今天", "2023-02-28"),
        (LEAP_DAY, "this time last year", "2023-02-13..2023-03-15"),
        (LEAP_DAY, "上月底", "2024-01-21..2024-01-31"),
        (LEAP_DAY, "the end of this month", "2024-02-21..2024-02-29"),
        (LEAP_DAY, "两年前的冬天", "2022-12-01..2023-02-28"),
        (LEAP_DAY, "this winter", "2023-12-01..2024-02-29"),
        (LEAP_DAY, "February last year", "2023-02-01..2023-02-28"),
    ],
)
def test_what_is_meant_depends_on_the_moment(now: datetime, text: str, expected: str) -> None:
    assert days(text, now) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("昨天农历八月我吃了什么", "2026-11-15"),
        ("我们上个月在农历八月十五之前去了哪", "2026-10-01..2026-10-31"),
        ("农历八月十五 and last March", "2026-03-01..2026-03-31"),
        ("农历八月十五我吃了什么", ""),
        ("八月初三", ""),
    ],
)
def test_a_lunar_date_is_passed_over_and_takes_nothing_with_it(text: str, expected: str) -> None:
    assert days(text) == expected


@pytest.mark.parametrize("text", ["last  March", "last\nMarch", "last \t\n March", "LAST MARCH"])
def test_spaces_and_line_breaks_do_not_matter(text: str) -> None:
    assert days(text) == "2026-03-01..2026-03-31"


@pytest.mark.parametrize(
    "text",
    [
        "我十一点睡",
        "十一个人一起吃饭",
        "第六一个",
        "早上月亮很圆",
        "线上月销多少",
        "this may be wrong",
        "my friend May likes tea",
        "March on",
        "an hour ago",
        "我喜欢 spring roll",
        "我每周三去哪里",
        "每年国庆我们都做什么",
        "what do I do every weekend",
        "我 every Friday 干什么",
    ],
)
def test_words_that_only_look_like_a_time_name_none(text: str) -> None:
    assert days(text) == ""


def test_a_stretch_is_one_mention_from_its_first_word_to_its_last() -> None:
    for text, words in [
        ("我从下周一到周三去上海出差", "从下周一到周三"),
        ("I am in Paris from Monday to Wednesday for work", "from Monday to Wednesday"),
        ("我下周一 to 周三出差", "下周一 to 周三"),
    ]:
        mention = find_date(text, MONDAY, lean=DatePreference.FUTURE)

        assert mention is not None
        assert text[mention.start : mention.end] == words
        assert (mention.span.end - mention.span.start).days == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("我下个月周末去爬山", "下个月"),
        ("next month on a Friday I leave", "next month"),
        ("next month 周末去爬山", "next month"),
    ],
)
def test_what_stays_unclear_is_left_in_the_sentence(text: str, words: str) -> None:
    mention = find_date(text, MONDAY, lean=DatePreference.FUTURE)

    assert mention is not None
    assert text[mention.start : mention.end] == words
    assert len(mentioned_date_spans(text, MONDAY)) == 1


def test_the_days_of_a_stretch_are_those_where_the_user_lives() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    late = datetime(2026, 10, 31, 23, 30, tzinfo=UTC)  # already November in Berlin

    [(start, end)] = mentioned_time_spans("上月底", late.timestamp(), berlin)

    assert datetime.fromtimestamp(start, berlin).isoformat() == "2026-10-21T00:00:00+02:00"
    assert datetime.fromtimestamp(end, berlin).isoformat() == "2026-11-01T00:00:00+01:00"


def test_the_same_moment_is_another_day_elsewhere() -> None:
    new_year = datetime(2025, 12, 31, 20, tzinfo=UTC).timestamp()

    for name, year in [("Asia/Shanghai", 2025), ("America/New_York", 2024)]:
        zone = ZoneInfo(name)
        [(start, _)] = mentioned_time_spans("Christmas last year", new_year, zone)

        assert datetime.fromtimestamp(start, zone).date().isoformat() == f"{year}-12-25"


WORDS = [
    "去年",
    "前年",
    "今年",
    "上个",
    "大上个",
    "上",
    "下",
    "月",
    "月底",
    "周",
    "周三",
    "周末",
    "国庆",
    "十一",
    "夏天",
    "的",
    "到",
    "和",
    "之间",
    "从",
    "三",
    "两",
    "几",
    "半",
    "个",
    "年",
    "天",
    "前",
    "后",
    "农历八月",
    "3",
    "15",
    "号",
    "2024",
    "2月29日",
    "last",
    "this",
    "next",
    "the",
    "year",
    "before",
    "month",
    "week",
    "weekend",
    "ago",
    "a",
    "few",
    "half",
    "in",
    "of",
    "March",
    "May",
    "Friday",
    "summer",
    "Christmas",
    "between",
    "and",
    "to",
    "from",
    "early",
    "end",
    "since",
    "2025",
    "-",
    ",",
    "5th",
]


@given(
    st.lists(st.sampled_from(WORDS), max_size=9),
    st.sampled_from(["", " "]),
    st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)),  # noqa: DTZ001
)
def test_whatever_is_asked_begins_before_it_ends(
    words: list[str], gap: str, moment: datetime
) -> None:
    for span in mentioned_date_spans(gap.join(words), moment.replace(tzinfo=UTC)):
        assert span.start <= span.end
