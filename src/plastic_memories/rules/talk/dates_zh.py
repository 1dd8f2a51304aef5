"""Chinese expressions of time, each with the days it means."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from plastic_memories.rules.regex import regex
from plastic_memories.rules.talk import spans
from plastic_memories.rules.talk.numerals import ZH_NUMBER, zh_number
from plastic_memories.rules.talk.spans import DateSpan, Lean

Meaning = Callable[["re.Match[str]", date, Lean], DateSpan | None]

_DAYS = {
    "大前天": -3,
    "前天": -2,
    "前晚": -2,
    "昨天": -1,
    "昨日": -1,
    "昨晚": -1,
    "昨儿": -1,
    "昨夜": -1,
    "今天": 0,
    "今日": 0,
    "今晚": 0,
    "今早": 0,
    "今儿": 0,
    "今夜": 0,
    "明天": 1,
    "明日": 1,
    "明晚": 1,
    "明早": 1,
    "明儿": 1,
    "后天": 2,
    "后晚": 2,
    "大后天": 3,
}
_WEEKS = {"上上": -2, "上": -1, "这": 0, "本": 0, "": 0, "下": 1, "下下": 2}
_YEARS = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2}
_WEEKDAYS = {char: index for index, char in enumerate("一二三四五六日")} | {"天": 6}
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_PARTS = {"初": "begin", "中": "middle", "底": "end", "末": "end"}
_PARTS |= {"上旬": "begin", "中旬": "middle", "下旬": "end"}
_HOLIDAYS = {
    "元旦": (1, 1),
    "情人节": (2, 14),
    "妇女节": (3, 8),
    "愚人节": (4, 1),
    "劳动节": (5, 1),
    "五一": (5, 1),
    "儿童节": (6, 1),
    "六一": (6, 1),
    "国庆节": (10, 1),
    "国庆": (10, 1),
    "十一": (10, 1),
    "万圣节": (10, 31),
    "双十一": (11, 11),
    "平安夜": (12, 24),
    "圣诞节": (12, 25),
    "圣诞": (12, 25),
    "跨年": (12, 31),
}
_N = rf"(?<!\d){ZH_NUMBER}"
_CENTURY = 100
_SATURDAY = 5
_WEEK_WORD = r"(?:周|星期|礼拜)"
_PREFIX = r"(?P<rel>上上|下下|上|这|本|下)"
MONTH = r"(?P<m>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月"
DAY = (
    r"(?P<d>[12]\d|3[01]|0?[1-9]|[二三]?十[一二三四五六七八九]?|廿[一二三四五六七八九]?|"
    r"[一二三四五六七八九])"
)
_LONG_YEAR = r"(?:1[89]|2[01])\d\d|[一二][零〇九][零〇一二三四五六七八九]{2}"
_SHORT_YEAR = r"\d\d|[零〇一二九八七六][零〇一二三四五六七八九]"
YEAR = rf"(?P<y>{_LONG_YEAR})年"
ANY_YEAR = rf"(?P<y>{_LONG_YEAR}|{_SHORT_YEAR})年"


def full_year(text: str, today: date) -> int:
    """Read a year, short ones as near as they can be meant: 95年 is 1995.

    >>> full_year("95", date(2024, 5, 1)), full_year("二零二三", date(2024, 5, 1))
    (1995, 2023)
    """
    year = zh_number(text)
    if year >= _CENTURY:
        return year
    return 2000 + year if 2000 + year <= today.year + 10 else 1900 + year


def _day_word(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return spans.days_away(today, _DAYS[found["day"]])


def _distance(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    count = zh_number(found["n"]) * (-1 if "前" in found["way"] else 1)
    unit = found["unit"]
    if unit in {"天", "日"}:
        return spans.days_away(today, count)
    if unit in {"周", "星期", "礼拜"}:
        return spans.days_away(today, count * 7)
    return spans.months_away(today, count * (12 if unit == "年" else 1))


def _half(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    sign = -1 if "前" in found["way"] else 1
    if found["unit"] == "年":
        return spans.months_away(today, 6 * sign)
    return spans.days_away(today, 15 * sign)


def _weekday(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    rel, name = found["rel"], found["wd"]
    if name == "末":
        return _weekend(rel, today, lean)
    if rel is None:
        return spans.nearest_weekday(today, _WEEKDAYS[name], lean)
    return spans.weekday_of_week(today, _WEEKS[rel], _WEEKDAYS[name])


def _weekend(rel: str | None, today: date, lean: Lean) -> DateSpan | None:
    if rel is None and lean is Lean.PAST and today.weekday() < _SATURDAY:
        return spans.weekend_of_week(today, -1)
    return spans.weekend_of_week(today, _WEEKS[rel or ""])


def _bare_weekend(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return _weekend(None, today, lean)


def _week(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return spans.whole_week(today, _WEEKS[found["rel"]])


def _relative_month(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    year, month = spans.shifted_month(today.year, today.month, _WEEKS[found["rel"]])
    if found["d"]:
        return spans.one_day(spans.date_or_none(year, month, zh_number(found["d"])))
    if found["part"]:
        return spans.third_of_month(year, month, _PARTS[found["part"]])
    return spans.whole_month(year, month)


def _month_end(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return spans.third_of_month(today.year, today.month, _PARTS[found["part"]])


def _of_year(found: re.Match[str], year: int) -> DateSpan | None:
    if found["m"] and found["d"]:
        return spans.one_day(spans.date_or_none(year, zh_number(found["m"]), zh_number(found["d"])))
    if found["m"]:
        return spans.whole_month(year, zh_number(found["m"]))
    if found["season"]:
        return spans.season(year, _SEASONS[found["season"]])
    if found["part"]:
        return _part_of_year(year, found["part"])
    return spans.whole_year(year)


def _part_of_year(year: int, part: str) -> DateSpan | None:
    first, last = {"初": (1, 2), "中": (6, 7)}.get(part, (11, 12))
    start, end = spans.whole_month(year, first), spans.whole_month(year, last)
    return DateSpan(start.start, end.end) if start and end else None


def _relative_year(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return _of_year(found, today.year + _YEARS[found["rel"]])


def _absolute_year(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return _of_year(found, full_year(found["y"], today))


def _numeric(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    year, month = int(found["y"]), int(found["m"])
    if not found["d"]:
        return spans.whole_month(year, month)
    return spans.one_day(spans.date_or_none(year, month, int(found["d"])))


def _month_day(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return spans.year_of_month_day(today, zh_number(found["m"]), zh_number(found["d"]), lean)


def _month(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    whole = spans.year_of_month(today, zh_number(found["m"]), lean)
    if whole and found["part"]:
        return spans.third_of_month(whole.start.year, whole.start.month, _PARTS[found["part"]])
    return whole


def _day_of_month(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    day = zh_number(found["d"])
    ahead = lean is Lean.FUTURE
    passed = day < today.day if ahead else day > today.day
    step = (1 if ahead else -1) if passed else 0
    year, month = spans.shifted_month(today.year, today.month, step)
    return spans.one_day(spans.date_or_none(year, month, day))


def _holiday(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return spans.year_of_month_day(today, *_HOLIDAYS[found["name"]], lean)


def _recent(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    count = zh_number(found["n"]) if found["n"] else 7
    days = (
        count
        * {"天": 1, "日": 1, "周": 7, "星期": 7, "礼拜": 7, "月": 30, "年": 365}[found["unit"]]
    )
    start = spans.days_away(today, -days)
    return DateSpan(start.start, today) if start else None


def _few_days_ago(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    return DateSpan(today - timedelta(days=7), today - timedelta(days=1))


def _season(found: re.Match[str], today: date, lean: Lean) -> DateSpan | None:
    name = _SEASONS[found["season"]]
    years = range(today.year - 1, today.year + 2)
    found_spans = [span for year in years if (span := spans.season(year, name))]
    if lean is Lean.FUTURE:
        return next((span for span in found_spans if span.end >= today), None)
    return next((span for span in reversed(found_spans) if span.start <= today), None)


_PART = rf"(?:{MONTH}份?(?:{DAY}[日号]?)?|的?(?P<season>[春夏秋冬])[天季]|年?(?P<part>[初中底末]))"
_TAIL = rf"{_PART}?"
_UNIT = r"(?:个)?(?P<unit>天|日(?!语|本|元|企|料)|周|星期|礼拜|(?<=个)月|年)"
_GRAMMAR: tuple[tuple[str, Meaning], ...] = (
    (rf"(?P<day>{'|'.join(sorted(_DAYS, key=len, reverse=True))})", _day_word),
    (rf"(?P<n>{_N}){_UNIT}(?P<way>(?:之|以)?[前后])(?!台|端|面|边)", _distance),
    (rf"再过(?P<n>{_N}){_UNIT}(?P<way>)", _distance),
    (r"半个?(?P<unit>年|月)(?P<way>(?:之|以)?[前后])", _half),
    (rf"(?:最近|过去|近)这?(?P<n>{_N})?几?{_UNIT}", _recent),
    (r"前(?:几|两三)天|前些天", _few_days_ago),
    (rf"{_PREFIX}?个?{_WEEK_WORD}(?P<wd>[一二三四五六日天末])(?![年月天周个])", _weekday),
    (r"(?<!每)(?<!个)周末", _bare_weekend),
    (rf"{_PREFIX}一?个?{_WEEK_WORD}", _week),
    (rf"{_PREFIX}个月(?:(?P<part>[初中底末])|{DAY}[日号])?", _relative_month),
    (rf"(?P<rel>本)月(?:(?P<part>[初中底末])|{DAY}[日号])?", _relative_month),
    (r"(?<![一二三四五六七八九十\d个])月(?P<part>[初底末])", _month_end),
    (rf"(?P<rel>{'|'.join(_YEARS)}){_TAIL}", _relative_year),
    (r"(?P<rel>)年(?P<part>[初底])(?P<m>)(?P<d>)(?P<season>)", lambda f, t, _: _of_year(f, t.year)),
    (rf"(?<!\d){YEAR}{_TAIL}", _absolute_year),
    # "10年" alone is a duration; "10年5月" is a year.
    (rf"(?<!\d){ANY_YEAR}{_PART}", _absolute_year),
    (
        r"(?:^|(?<=[我在于，]))(?P<m>1[0-2]|0?[1-9])[./](?P<d>3[01]|[12]\d|0?[1-9])"
        r"(?=我|要|去|有|考|面试|出发|回|搬|开|的)",
        _month_day,
    ),
    (r"(?<!\d)(?P<y>(?:19|20)\d\d)[-/.](?P<m>\d{1,2})(?:[-/.](?P<d>\d{1,2}))?(?!\d)", _numeric),
    (rf"(?<![\d个]){MONTH}份?{DAY}[日号]?(?!\d)", _month_day),
    (rf"(?<![\d个]){MONTH}(?:份|(?P<part>[上中下]旬|[初中底末]))?", _month),
    (rf"(?<![\d月]){DAY}[号](?!楼|线|店|房|码|机|称|院)", _day_of_month),
    (rf"(?P<name>{'|'.join(sorted(_HOLIDAYS, key=len, reverse=True))})", _holiday),
    (r"(?P<season>[春夏秋冬])[天季]", _season),
)
RULES = tuple((regex(pattern), meaning) for pattern, meaning in _GRAMMAR)
HINT = regex(r"[天日周月年号儿晚早]|星期|礼拜|元旦|国庆|圣诞|节|五一|六一|十一|平安夜|\d[-/.]\d")
# A lunar date has no fixed day in our calendar: it is kept as it was said.
LUNAR = regex(
    r"(?:农历|阴历|旧历)的?(?=[一二三四五六七八九十正冬腊闰初廿\d])(?:[一二三四五六七八九十正冬腊闰\d]{1,3}月)?"
    r"(?:初?[一二三四五六七八九十廿\d]{1,3})?[日号]?|(?:大年|正月|腊月|"
    r"冬月)初?[一二三四五六七八九十廿]{1,3}"
    r"|[一二三四五六七八九十]{1,2}月初[一二三四五六七八九十]"
)
