"""Chinese rules for job, school and residence of the user."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plastic_memories.language.reading.chinese.clause import (
    ChineseClause,
    ChineseSubject,
    clean_value,
)
from plastic_memories.language.reading.chinese.lexicon import JOB, PLACE
from plastic_memories.language.reading.finding import (
    CERTAIN_CONFIDENCE,
    LIKELY_CONFIDENCE,
    ExtractedItem,
)
from plastic_memories.language.text.lazy_regex import at_start, regex
from plastic_memories.language.text.numerals import ZH_NUMBER
from plastic_memories.language.text.word_lists import any_of

_JOB_IS = at_start(
    rf"(?:后来|现在)?(?:转行|改行|转岗|改)?(?:是|当上?|做|(?=.+(?:一枚|一名|一个|一位)$))(?:了)?(?:{ZH_NUMBER}年的?)?(?:一|1)?(?:名|个|位|枚|"
    rf"只)?(?P<v>(?:[\u4e00-\u9fffA-Za-z0-9]{{1,12}}的)?{JOB})(?:了|啦|哦|啊|呢|一枚|"
    rf"一名|一个|一位)?$",
    re.IGNORECASE,
)
_TRADE = regex(any_of("chinese_work", "trade"))
_DOES = regex(any_of("chinese_work", "does"))
_DOES_TRADE = regex(any_of("chinese_work", "does_trade"))
_WORKS_AT = regex(any_of("chinese_work", "works_at"))
_NOT_A_WORKPLACE = regex(any_of("chinese_work", "not_a_workplace"))
_WORKS_AS = at_start(
    rf"在(?P<w>[^，,]{{1,15}}?)(?:里)?(?:当|做|担任|教)(?:一名|一个|个)?(?P<v>{JOB}|数学|"
    rf"语文|英语|物理|化学|历史|书)$",
    re.IGNORECASE,
)
_SCHOOL = any_of("chinese_work", "school")
_AT_SCHOOL = regex(
    rf"(?:大学|本科|研究生|硕士)?(?:在|就读于|毕业于|毕业自|读的是|上的是|来自|是|(?=[\u4e00-\u9fff]{{1,2}}大[读念])){_SCHOOL}(?:的?(?:读书|上学|念书|"
    rf"读大学|读研|读博|读|学习|毕业(?:的|了)?|大[一二三四](?:学生)?|研[一二三](?:学生)?|"
    rf"本科生?|博士生?|研究生|学生|的)?)?(?:.{{0,4}}|(?<=读|念|学)(?P<major>[^，,的了书研博]{{2,10}}))$"
)
_NO_STUDENT = regex(r"老师|教|上班|工作|一所|某|附近|旁边|门口|对面|住|看到|[我你他她]们")
_MAJOR = regex(any_of("chinese_work", "major"))
_GRADE = at_start(any_of("chinese_work", "grade"))
_PLACE_VALUE = r"(?P<v>[\u4e00-\u9fffA-Za-z·\- ]{2,16}?)"
_PLACE_END = any_of("chinese_work", "place_end")
# 我住浦东, but not 我住顶楼 or 我住不惯.
_BARE_PLACE = any_of("chinese_work", "bare_place")
_LIVES = regex(
    rf"(?:租?(?:房子?)?(?:住|居住|定居|生活|长居|常住|旅居|租房)(?:在|于)|住(?={PLACE}|{_BARE_PLACE})|人在|现居|"
    rf"(?:定居|常住|旅居)(?={PLACE})|居于|坐标|base在?|(?:全|我们?)?家搬(?:到|来|去)了?|家住在?|(?:的)?家(?:就)?在|的?住址是|"
    rf"(?:从[^，,]{{2,8}}?)?搬(?:家)?(?:到|来|去)了?|搬(?:回)了?|在){_PLACE_VALUE}{_PLACE_END}"
)
_WHEN = regex(any_of("chinese_work", "when"))
_LIVES_IN = regex(rf"在{_PLACE_VALUE}(?:生活|定居|居住|住|租房)")
_NOT_A_PLACE = regex(any_of("chinese_work", "not_a_place"))
_HOMETOWN = regex(
    rf"(?:在(?={PLACE}长大)|的?(?:老家|家乡|故乡|籍贯|hometown)(?:是|在)?|来自|出生(?:在|于)|生在|从小在|长大在|"
    rf"是从|从(?={PLACE}来)){_PLACE_VALUE}(?=的|来|长大|人?$)"
    rf"|(?:是(?:个|一个)?|(?={PLACE}))(?:土生土长的?|地道的?|地地道道的?|"
    rf"正宗的?)?(?P<w>(?:{PLACE}){{1,2}})(?:本地)?(?:人|的|妹子|小伙|姑娘|仔|男生|女生|来的)$"
    r"|是(?:个|一个)?(?P<x>[\u4e00-\u9fff]{2,5}(?:省|市|县))人$"
)


def find_work(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    """Yield the user's job, school and places."""
    if parsed.is_past:
        return
    if parsed.subject is ChineseSubject.WE:
        yield from _place(parsed)
    if parsed.subject in {ChineseSubject.USER, ChineseSubject.NONE}:
        for rule in (_work, _study, _place):
            yield from rule(parsed)


def _confidence(parsed: ChineseClause) -> float:
    return LIKELY_CONFIDENCE if parsed.is_subject_implied else CERTAIN_CONFIDENCE


def _work(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    text = parsed.predicate
    if parsed.is_temporary and "最近" not in parsed.whole:
        return
    works_as = _WORKS_AS.match(text)
    if works_as:
        job = (
            works_as["v"]
            if not re.match(r"数学|语文|英语|物理|化学|历史|书$", works_as["v"])
            else works_as[0][works_as[0].rindex("教") :]
        )
        yield ExtractedItem(
            "basic_info.job", clean_value(job), parsed.content, confidence=_confidence(parsed)
        )
        return
    found = (
        _JOB_IS.match(text) or _TRADE.match(text) or _DOES_TRADE.match(text) or _DOES.match(text)
    )
    if found:
        value = clean_value(next(part for part in found.groupdict().values() if part))
        value = value.rsplit("的", 1)[-1]
        if value and not re.search(
            r"你|他|她|自己|好事|坏事|这个|那个|这行|什么|一样|喜欢|(?<!撰稿)(?<!主持)(?<!经纪)(?<!媒体)(?<!音乐)(?<!投资)(?<!合伙)(?<!创始)人$|对$|大事|不|得|会员|一回事|玩笑|开心|着玩|作业",
            value,
        ):
            yield ExtractedItem(
                "basic_info.job", value, parsed.content, confidence=_confidence(parsed)
            )
    at = _WORKS_AT.match(text)
    if at:
        place = clean_value(at["v"] or at["w"])
        if not _NOT_A_WORKPLACE.search(place):
            yield ExtractedItem(
                "basic_info.workplace", place, parsed.content, confidence=_confidence(parsed)
            )


def _study(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    text = parsed.predicate
    school = _AT_SCHOOL.match(text)
    generic = school and re.fullmatch(
        r"\A[上读念在一名个]*(?:大学|中学|高中|小学|学校|学院)", school["v"]
    )
    if school and not generic and not _NO_STUDENT.search(text):
        yield ExtractedItem(
            "basic_info.school", school["v"], parsed.content, confidence=_confidence(parsed)
        )
        if school["major"]:
            yield ExtractedItem(
                "basic_info.major", school["major"], parsed.content, confidence=_confidence(parsed)
            )
    major = _MAJOR.match(text)
    if major:
        value = clean_value(next(part for part in major.groupdict().values() if part)).removesuffix(
            "专业"
        )
        if not re.search(r"大$|大学$|学院$", value):
            yield ExtractedItem(
                "basic_info.major", value, parsed.content, confidence=_confidence(parsed)
            )
    grade = _GRADE.match(text)
    if grade and "学生" not in text:
        yield ExtractedItem(
            "basic_info.grade", grade["v"], parsed.content, confidence=_confidence(parsed)
        )


def _place(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    text = parsed.predicate
    hometown = _HOMETOWN.match(text)
    if hometown:
        value = clean_value(hometown["v"] or hometown["w"] or hometown["x"]).removesuffix("人")
        if parsed.is_subject_implied and hometown["w"] and text.endswith("的"):
            return
        if value and not _NOT_A_PLACE.search(value):
            yield ExtractedItem(
                "basic_info.hometown", value, parsed.content, confidence=_confidence(parsed)
            )
        return
    if parsed.is_temporary:
        return
    text = _WHEN.sub("", text)
    settled = _LIVES_IN.match(text)
    lives = settled or _LIVES.match(text)
    if not lives or (
        text.startswith("在")
        and not settled
        and not re.fullmatch(rf"在{PLACE}(?:这边|那边)?", text)
    ):
        return
    # Who is somewhere need not live there.
    if parsed.is_subject_implied and text.startswith("在") and not settled:
        return
    value = re.sub(r"^(?:了|在)|(?:这个小区|这个地方)$", "", clean_value(lives["v"]))
    if len(value) > 1 and not _NOT_A_PLACE.search(value):
        yield ExtractedItem(
            "basic_info.place", value, parsed.content, confidence=_confidence(parsed)
        )
