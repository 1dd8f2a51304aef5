"""Chinese date expressions and the date spans they mean."""

from __future__ import annotations

import re
from datetime import date, timedelta

from plastic_memories.language.dates import date_spans
from plastic_memories.language.dates.date_spans import DatePreference, DateSpan
from plastic_memories.language.dates.grammar import DateRule, Grammar, PhraseRole, compile_rules
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.numerals import (
    FEW_RANGE,
    ZH_COUNT,
    ZH_NUMBER,
    zh_count,
    zh_number,
)

_DAYS = {
    "大前天": -3, "前天": -2, "前晚": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "昨儿": -1,
    "昨夜": -1, "今天": 0, "今日": 0, "今晚": 0, "今早": 0, "今儿": 0, "今夜": 0, "明天": 1,
    "明日": 1, "明晚": 1, "明早": 1, "明儿": 1, "后天": 2, "后晚": 2, "大后天": 3,
}  # fmt: skip
_YEARS = {
    "大前年": -3, "前年": -2, "去年": -1, "上一年": -1, "今年": 0, "本年": 0, "明年": 1,
    "下一年": 1, "后年": 2, "大后年": 3,
}  # fmt: skip
_UNITS = {
    "天": "day",
    "日": "day",
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "月": "month",
    "季度": "quarter",
    "年": "year",
}
_WEEKDAYS = {char: index for index, char in enumerate("一二三四五六日")} | {"天": 6}
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_PARTS = {"初": "begin", "中": "middle", "底": "end", "末": "end"}
_PARTS |= {"上旬": "begin", "中旬": "middle", "下旬": "end"}
_HOLIDAYS = {
    "元旦": (1, 1), "情人节": (2, 14), "妇女节": (3, 8), "愚人节": (4, 1), "劳动节": (5, 1),
    "五一": (5, 1), "儿童节": (6, 1), "六一": (6, 1), "国庆节": (10, 1), "国庆": (10, 1),
    "十一": (10, 1), "万圣节": (10, 31), "双十一": (11, 11), "平安夜": (12, 24),
    "圣诞节": (12, 25), "圣诞": (12, 25), "跨年": (12, 31),
}  # fmt: skip
_NUMBER = r"零〇一二两三四五六七八九十百"
# `十一个人`, `二十一岁`: numbers, not holidays.
_NO_NUMBER = (
    rf"(?<![第\d{_NUMBER}]..)(?![个点岁号日年月天位块元人次米斤层楼路班中度%％.\d千万{_NUMBER}])"
)
# `王国庆` is a person.
_NO_SURNAME = "(?<![王李张刘陈杨黄赵吴徐孙朱胡郭何林罗郑梁谢宋唐韩冯邓曹彭曾董袁潘蒋蔡])"
_HOLIDAY = (
    "(?P<name>"
    + "|".join(
        (_NO_SURNAME if name == "国庆" else "")
        + name
        + (_NO_NUMBER if name in {"五一", "六一", "十一"} else "")
        for name in sorted(_HOLIDAYS, key=len, reverse=True)
    )
    + ")"
)
_CENTURY = 100
_WEEK_WORD = r"(?:周|星期|礼拜)"
_PREFIX = r"(?P<rel>大上|上{1,3}|下{1,3}|这|本)"
# `早上月亮`, `线上月销`: not a past month.
_MONTH_PREFIX = r"(?:(?<![早晚线以身面路网世历马])" + _PREFIX + r"(?:一?个)?)"
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
    """Return a year; a short one is expanded to the most likely century: 95年 is 1995.

    >>> full_year("95", date(2024, 5, 1)), full_year("二零二三", date(2024, 5, 1))
    (1995, 2023)
    """
    year = zh_number(text)
    if year >= _CENTURY:
        return year
    return 2000 + year if 2000 + year <= today.year + 10 else 1900 + year


def _relative_offset(rel: str) -> int:
    """Return the offset of a week or month: `上上` is two back, and so is `大上`."""
    if rel == "大上":
        return -2
    return rel.count("下") - rel.count("上")


def _relative_day(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.days_away(today, _DAYS[found["day"]])


def _unit_name(found: re.Match[str]) -> str:
    return _UNITS[found["unit"]]


def _units_from_today(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    low, high = zh_count(found["n"])
    sign = -1 if "前" in found["way"] else 1
    if high - low > 1 and sign > 0:
        return None  # "in a few days" is not a date, "in two or three" is
    half = 0.5 if found["half"] or found["mid"] == "半" else 0
    near, far = (
        date_spans.units_away(today, (count + half) * sign, _unit_name(found))
        for count in (low, high)
    )
    return date_spans.span_between(near, far)


def _half_unit_from_today(
    found: re.Match[str], today: date, lean: DatePreference
) -> DateSpan | None:
    return date_spans.units_away(today, -0.5 if "前" in found["way"] else 0.5, _unit_name(found))


def _recent_period(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    count = zh_number(found["n"]) if found["n"] else 7
    days = count * {"day": 1, "week": 7, "month": 30, "year": 365}[_unit_name(found)]
    start = date_spans.days_away(today, -days)
    return DateSpan(start.start, today) if start else None


def _few_days_ago(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return DateSpan(today - timedelta(days=7), today - timedelta(days=1))


def _few_units_ago(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    most = FEW_RANGE[1] if found["few"] == "几" else FEW_RANGE[0] + 1
    far, near = (date_spans.units_away(today, -count, _unit_name(found)) for count in (most, 1))
    return date_spans.span_between(far, near)


def _same_time_in_period(
    found: re.Match[str], today: date, lean: DatePreference
) -> DateSpan | None:
    """`去年今天`, `上个月的这个时候`."""
    if found["y"]:
        day, unit = date_spans.units_away(today, _YEARS[found["y"]], "year"), "year"
    else:
        unit = _unit_name(found)
        day = date_spans.units_away(today, _relative_offset(found["rel"]), unit)
    return date_spans.span_around(day, unit) if day and found["about"] else day


def _weekday(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    if found["wd"] == "末":
        return date_spans.weekend_without_week(today, lean)
    return date_spans.nearest_weekday(today, _WEEKDAYS[found["wd"]], lean)


def _weekday_of_week(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    if found["wd"] == "末":
        return date_spans.weekend_of_week(today, _relative_offset(found["rel"]))
    return date_spans.weekday_of_week(today, _relative_offset(found["rel"]), _WEEKDAYS[found["wd"]])


def _bare_weekend(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.weekend_without_week(today, lean)


def _relative_week(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.whole_week(today, _relative_offset(found["rel"]))


def _relative_period(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    """`上个冬天`, `这个国庆`, `上季度`."""
    turn, span = _relative_offset(found["rel"]), None
    for _ in range(abs(turn) or 1):
        step, day = (turn > 0) - (turn < 0), span.start if span else today
        if found["season"]:
            span = date_spans.relative_season(day, _SEASONS[found["season"]], step, lean)
        elif found["name"]:
            span = date_spans.relative_month_day(day, *_HOLIDAYS[found["name"]], step, lean)
        else:
            span = date_spans.relative_quarter(day, step)
    return span


def _relative_month(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    year, month = date_spans.shifted_month(today.year, today.month, _relative_offset(found["rel"]))
    if found["d"]:
        return date_spans.one_day(date_spans.date_or_none(year, month, zh_number(found["d"])))
    if found["part"]:
        return date_spans.third_of_month(year, month, _PARTS[found["part"]])
    return date_spans.whole_month(year, month)


def _month_end(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.third_of_month(today.year, today.month, _PARTS[found["part"]])


def _part_of_year(found: re.Match[str], year: int) -> DateSpan | None:
    if found["m"] and found["d"]:
        return date_spans.one_day(
            date_spans.date_or_none(year, zh_number(found["m"]), zh_number(found["d"]))
        )
    if found["m"] and found["third"]:
        return date_spans.third_of_month(year, zh_number(found["m"]), _PARTS[found["third"]])
    if found["m"]:
        return date_spans.whole_month(year, zh_number(found["m"]))
    if found["season"]:
        return date_spans.season_of_year(year, _SEASONS[found["season"]])
    whole = date_spans.whole_year(year)
    if whole and found["part"]:
        return date_spans.part_of(whole, _PARTS[found["part"]], whole.start)
    return whole


def _relative_year(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    turn = _YEARS[found["rel"]]
    if turn == 0 and found["season"] and lean is DatePreference.PAST:
        return date_spans.relative_season(today, _SEASONS[found["season"]], 0, lean)
    return _part_of_year(found, today.year + turn)


def _absolute_year(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return _part_of_year(found, full_year(found["y"], today))


def _year_end(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    whole = date_spans.whole_year(today.year)
    return date_spans.part_of(whole, _PARTS[found["part"]], today) if whole else None


def _year_of_holiday(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.whole_year(full_year(found["y"] or found["y2"], today))


def _year_range(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    first, last = zh_number(found["from"]), zh_number(found["y"])
    return (
        date_spans.span_between(date_spans.whole_year(first), date_spans.whole_year(last))
        if first < last
        else None
    )


def _numeric_date(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    year, month = int(found["y"]), int(found["m"])
    if not found["d"]:
        return date_spans.whole_month(year, month)
    return date_spans.one_day(date_spans.date_or_none(year, month, int(found["d"])))


def _month_day(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.month_day_without_year(
        today, zh_number(found["m"]), zh_number(found["d"]), lean
    )


def _month(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    whole = date_spans.month_without_year(today, zh_number(found["m"]), lean)
    if whole and found["part"]:
        return date_spans.third_of_month(whole.start.year, whole.start.month, _PARTS[found["part"]])
    return whole


def _month_range(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    """`3到5月`, `七八月`."""
    first, last = zh_number(found["from"]), zh_number(found["m"])
    is_pair = last == first + 1 and not found["from"].isdigit()
    if first >= last or not (found["to"] or is_pair):
        return None
    return date_spans.months_without_year(today, first, last, lean)


def _half_year(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.months_without_year(
        today, *((1, 6) if found["half"] == "上" else (7, 12)), lean
    )


def _quarter(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    last = zh_number(found["q"]) * 3
    return date_spans.months_without_year(today, last - 2, last, lean)


def _day_of_month(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.day_without_month(today, zh_number(found["d"]), lean)


def _day_range(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    """`1到7号`."""
    last = date_spans.day_without_month(today, zh_number(found["d"]), lean)
    first = last and date_spans.date_or_none(
        last.start.year, last.start.month, zh_number(found["from"])
    )
    return DateSpan(first, last.end) if last and first and first < last.end else None


def _holiday(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.month_day_without_year(today, *_HOLIDAYS[found["name"]], lean)


def _season(found: re.Match[str], today: date, lean: DatePreference) -> DateSpan | None:
    return date_spans.season_without_year(today, _SEASONS[found["season"]], lean)


# `去年初中毕业`, `今年中秋`, `上个月中奖`: neither a beginning nor a middle.
_BEGIN = r"初(?![一二三四五六七八九十中高级次恋衷步心春夏秋冬])"
_MIDDLE = r"中(?![秋国文午餐签奖学标招毒暑风考介心专医介级餐式东部])"
_THIRD = rf"(?:[上中下]旬|{_BEGIN}|{_MIDDLE}|[底末](?![日下层薪线]))"
_SEASON = r"(?:[初仲深盛暮晚隆严]|(?=.[天季]))(?P<season>[春夏秋冬])[天季]?"
_PART = (
    rf"的?(?:{MONTH}(?:份|(?P<third>{_THIRD}))?(?:的?{DAY}[日号]?)?|{_SEASON}"
    rf"|年?(?P<part>{_BEGIN}|{_MIDDLE}|[底末]))"
)
_TAIL = rf"(?:{_PART})?"
_OF_MONTH = rf"(?:的?月?(?P<part>{_THIRD})|的?{DAY}[日号])?"
_NO_MONTH = r"(?![亮球色光薪租饼经台牙票嫂子销均供])"
_UNIT = (
    r"(?:个(?P<mid>[半多来])?|多)?"
    r"(?P<unit>天|日(?!语|本|元|企|料)|周|星期|礼拜|(?<=[个半多来])月|年)"
)
_TO = r"[到至~～—–-]"
_MONTH_NUMBER = r"1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]"
_FIXED, _FLOATING, _FRAME = PhraseRole.FIXED, PhraseRole.FLOATING, PhraseRole.FRAME
# The rule is tried only if the text has one character of each of these words.
_WEEK_HINTS = "周期礼"
_UNIT_HINTS = f"天日月年{_WEEK_HINTS}"
_RELATIVE_HINTS = "上下这本"
_SEASON_HINTS = "春夏秋冬"
_HOLIDAY_HINTS = "节旦庆诞一夜跨"
_NO_PLACE = r"(?!楼|线|店|房|码|机|称|院)"


def _required_hints(hints: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(any_of) for any_of in hints.split())


_GRAMMAR_ROWS: Grammar = (
    (
        rf"(?P<day>{'|'.join(sorted(_DAYS, key=len, reverse=True))})",
        _relative_day,
        _FIXED,
        "天日晚早儿夜 前昨今明后",
    ),
    (
        rf"再过(?P<n>(?<!\d){ZH_COUNT}){_UNIT}(?P<half>半)?(?P<way>)",
        _units_from_today,
        _FIXED,
        f"过 {_UNIT_HINTS}",
    ),
    (
        rf"(?:最近|过去|近)这?(?P<n>(?<!\d){ZH_NUMBER})?几?{_UNIT}",
        _recent_period,
        _FIXED,
        f"近过 {_UNIT_HINTS}",
    ),
    (r"(?<![节庆旦诞])前(?:几|两三)天|前些天|前些日子", _few_days_ago, _FIXED, "前 天日"),
    (
        r"(?<![节庆旦诞])前(?P<few>几|两)个?(?P<unit>天|周|星期|礼拜|(?<=个)月|年)(?!级)",
        _few_units_ago,
        _FIXED,
        f"前 天月年{_WEEK_HINTS}",
    ),
    (
        rf"(?:(?P<y>{'|'.join(_YEARS)})|(?P<rel>[上下])一?个?(?P<unit>周|星期|礼拜|月))的?"
        r"(?:今[天日]|这一?天|(?P<about>这个?时候|同期|此时))",
        _same_time_in_period,
        _FIXED,
        f"月年{_WEEK_HINTS} 今这同此",
    ),
    (
        rf"{_PREFIX}个?{_WEEK_WORD}(?:的{_WEEK_WORD})?(?P<wd>[一二三四五六日天末])(?![年月天周个])",
        _weekday_of_week,
        _FIXED,
        f"{_WEEK_HINTS} {_RELATIVE_HINTS}",
    ),
    (
        rf"个?{_WEEK_WORD}(?P<wd>[一二三四五六日天末])(?![年月天周个])",
        _weekday,
        _FLOATING,
        _WEEK_HINTS,
    ),
    (r"(?<!每)(?<!个)周末", _bare_weekend, _FLOATING, "周"),
    (rf"{_PREFIX}一?个?{_WEEK_WORD}", _relative_week, _FRAME, f"{_WEEK_HINTS} {_RELATIVE_HINTS}"),
    (
        rf"(?P<rel>上{{1,2}}|下|这)一?个(?:{_SEASON}|{_HOLIDAY})",
        _relative_period,
        _FRAME,
        f"{_RELATIVE_HINTS} {_SEASON_HINTS}{_HOLIDAY_HINTS}",
    ),
    (rf"{_PREFIX}个?季度(?P<season>)(?P<name>)", _relative_period, _FRAME, f"季 {_RELATIVE_HINTS}"),
    (
        rf"{_MONTH_PREFIX}月{_NO_MONTH}{_OF_MONTH}",
        _relative_month,
        _FRAME,
        f"月 {_RELATIVE_HINTS}",
    ),
    (
        r"(?<![一二三四五六七八九十\d个岁日])月"
        r"(?P<part>[初底末]|[上中下]旬|中(?=$|[,，。?？!！的我]))",
        _month_end,
        _FLOATING,
        "月 初底末旬中",
    ),
    (rf"(?P<rel>{'|'.join(_YEARS)}){_TAIL}", _relative_year, _FRAME, "年"),
    (r"年(?P<part>[初底])", _year_end, _FIXED, "年 初底"),
    (rf"(?<!\d){YEAR}{_TAIL}", _absolute_year, _FRAME, "年"),
    # "10年" alone is a duration; "10年5月" is a year.
    (rf"(?<!\d){ANY_YEAR}{_PART}", _absolute_year, _FRAME, "年"),
    (
        rf"(?<!\d)(?:{ANY_YEAR}|(?P<y2>20\d\d))(?=的?{_HOLIDAY})",
        _year_of_holiday,
        _FRAME,
        _HOLIDAY_HINTS,
    ),
    (rf"(?<!\d)(?P<from>{_LONG_YEAR})年?{_TO}{YEAR}", _year_range, _FIXED, "年"),
    (
        r"(?:^|(?<=[我在于，]))(?P<m>1[0-2]|0?[1-9])[./](?P<d>3[01]|[12]\d|0?[1-9])"
        r"(?=我|要|去|有|考|面试|出发|回|搬|开|的)",
        _month_day,
        _FIXED,
        "-/.",
    ),
    (
        r"(?<!\d)(?P<y>(?:19|20)\d\d)[-/.](?P<m>\d{1,2})(?:[-/.](?P<d>\d{1,2}))?(?!\d)",
        _numeric_date,
        _FRAME,
        "-/.",
    ),
    (rf"(?<![\d个]){MONTH}份?{DAY}[日号]?(?!\d)", _month_day, _FLOATING, "月"),
    (rf"(?<![\d个]){MONTH}(?:份|(?P<part>{_THIRD}))?", _month, _FLOATING, "月"),
    (
        rf"(?<![\d个])(?P<from>{_MONTH_NUMBER})(?P<to>{_TO})?{MONTH}份?",
        _month_range,
        _FLOATING,
        "月",
    ),
    (r"(?P<half>[上下])半年", _half_year, _FLOATING, "年 上下"),
    (r"第?(?P<q>[一二三四1-4])季度", _quarter, _FLOATING, "季"),
    (rf"(?<![\d月]){DAY}[号]{_NO_PLACE}", _day_of_month, _FLOATING, "号"),
    (
        rf"(?<![\d月])(?P<from>\d{{1,2}}){_TO}{DAY}[号]{_NO_PLACE}",
        _day_range,
        _FLOATING,
        "号",
    ),
    (_HOLIDAY, _holiday, _FLOATING, _HOLIDAY_HINTS),
    (_SEASON, _season, _FLOATING, _SEASON_HINTS),
)
_AGO = (
    rf"(?P<n>(?<!\d){ZH_COUNT}){_UNIT}(?P<half>半)?(?P<way>(?:之|以)?[前后])(?!台|端|面|边)",
    r"半个?(?P<unit>年|月)(?P<way>(?:之|以)?[前后])",
)
_AGO_NEEDS = _required_hints(f"前后 {_UNIT_HINTS}")
RULES = (
    *compile_rules(_GRAMMAR_ROWS, _required_hints),
    DateRule(regex(_AGO[0]), _units_from_today, PhraseRole.FRAME, _AGO_NEEDS, _unit_name),
    DateRule(regex(_AGO[1]), _half_unit_from_today, PhraseRole.FRAME, _AGO_NEEDS, _unit_name),
)
# Directly after another date expression, a day needs only `日`.
FOLLOWING = (
    DateRule(regex(rf"{DAY}[日号]"), _day_of_month, PhraseRole.FLOATING, _required_hints("日号")),
)
_HINTS = frozenset(
    char for rule in (*RULES, *FOLLOWING) for any_of in rule.needs for char in any_of
)


def time_hints(text: str) -> frozenset[str]:
    """Return the characters of a text that may belong to a date expression."""
    return _HINTS.intersection(text)


# A lunar date has no fixed Gregorian date: it is stored as the user said it.
LUNAR = regex(
    r"(?:农历|阴历|旧历)的?(?=[一二三四五六七八九十正冬腊闰初廿\d])(?:[一二三四五六七八九十正冬腊闰\d]{1,3}月)?"
    r"(?:初?[一二三四五六七八九十廿\d]{1,3})?[日号]?|(?:大年|正月|腊月|"
    r"冬月)初?[一二三四五六七八九十廿]{1,3}"
    r"|[一二三四五六七八九十]{1,2}月初[一二三四五六七八九十](?!起|直|共|定|样|家)"
)
