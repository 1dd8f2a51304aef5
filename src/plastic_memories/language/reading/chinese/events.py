"""Chinese rules for plans, promises, anniversaries and life events."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plastic_memories.language.dates import mentions
from plastic_memories.language.dates.mentions import DateMention, DatePreference
from plastic_memories.language.reading.chinese.clause import (
    ChineseClause,
    ChineseSubject,
    clean_value,
)
from plastic_memories.language.reading.chinese.lexicon import PLACE
from plastic_memories.language.reading.finding import LIKELY_CONFIDENCE, ExtractedItem
from plastic_memories.language.reading.memory_keys import slug
from plastic_memories.language.text.lazy_regex import at_start, regex
from plastic_memories.language.text.word_lists import any_of
from plastic_memories.model.memory import MemoryType

_OCCASION = any_of("chinese_events", "occasion")
_INTENT = any_of("chinese_events", "intent")


def _adverbs(words: str, phrases: str) -> str:
    """Return a pattern of adverbs with at most two open-ended phrases between them.

    With any number of them, the number of ways to match would explode.
    """
    return f"(?>{words})*(?:(?:{phrases})(?>{words})*){{0,2}}"


_PLAN = at_start(
    _adverbs(
        "就|还|也|又|都|正好|已经|早上|上午|中午|下午|晚上|傍晚|凌晨|一早|开始", "[跟和].{1,6}?"
    )
    + rf"(?:{_INTENT}.{{1,30}}|有(?:一?个|一?场|一?次|"
    rf"一门)?.{{0,12}}?{_OCCASION}.{{0,6}}|(?:去|回|到|飞|来|坐|参加|开始|见|拍|交|做|办|"
    rf"请|陪|带|搬|考|上(?!海|周|个|次|面)).{{1,20}}|{_OCCASION}.{{0,6}})$"
)
_NOT_A_PLAN = regex(any_of("chinese_events", "not_a_plan"))
_TIME_OF_DAY = regex(any_of("chinese_events", "time_of_day"))
_UNDATED = at_start(any_of("chinese_events", "undated"))
_GOAL = at_start(any_of("chinese_events", "goal"))
_PROMISE = regex(any_of("chinese_events", "promise"))
_ANNIVERSARY = regex(any_of("chinese_events", "anniversary"))
_LIFE_EVENTS: tuple[tuple[str, str, str], ...] = (
    (
        "achievement",
        "positive",
        r"(?:大学|研究生|博士|高中|本科|硕士)?毕业(?=了|于|$)|升职|晋升|升为?.{1,8}|加薪|"
        r"涨工资|拿到(?:了)?(?:.{0,8})(?:offer|驾照|驾驶证|证书|学位|奖学金|奖|冠军|第一名?|"
        r"录取通知书?|绿卡|金牌)|"
        r"(?:考|通)?过了(?:法考|国考|省考|初试|复试|面试|答辩|[四六]级|科目.|雅思|托福|.{1,4}考试)|"
        r"考上(?:了)?.{2,12}|考过(?:了)?.{2,10}|考到(?:了)?.{2,8}证|"
        r"通过(?:了)?.{1,10}(?:考试|面试|答辩|试用期|考核)|(?:获得|得|赢|拿|夺得|"
        r"荣获)了?.{0,8}(?:奖|冠军|第一名?|金牌|亚军|季军)|被.{2,10}录取|论文.{0,4}(?:发表|"
        r"被录用|中稿|接收)|"
        r"(?:出版|发表)了.{1,12}|跑完了?.{0,6}马拉松|转正|找到(?:了)?(?:新|一份)?.{0,4}工作|"
        r"考研.{0,3}(?:成功|上岸)|上岸|评上了?.{2,8}|当上(?:了)?(?!爸|妈|爷|奶|外|舅|姑|叔).{2,8}|完成了?(?:第一个|"
        r"毕业).{1,8}",
    ),
    (
        "life_event",
        "positive",
        r"结婚(?=了|的?$)|订婚|领证|求婚成功|怀孕|生(?:了)?(?:一?个|一对)?(?:女儿|儿子|宝宝|"
        r"孩子|双胞胎|女孩|男孩|闺女|娃)|当(?:上)?(?:了)?(?:爸爸|妈妈|爷爷|奶奶|外婆|舅舅|"
        r"姑姑|叔叔)|买(?:了)?(?:一?套|一?辆|自己的|第一)*(?:新)?(?:房子?|车|新房|新车|房车)|"
        r"脱单|恋爱|谈恋爱|和.{1,5}在一起|入职(?:了)?.{0,8}|跳槽(?:到|去)?(?:了)?.{0,8}|"
        r"创业|开(?:了)?(?:一?家|一?间|自己的)+.{1,8}|退休|出国(?:留学)?|搬(?:完|好)?家|"
        r"搬到(?:了)?.{2,8}|搬(?:来|去|回)(?:了)?.{2,8}|领养(?:了)?.{1,8}|回国|"
        r"换(?:了)?(?:一?份|新|个)*工作|入籍|开始(?:了)?(?:新工作|上大学|读研|读博|"
        r"上班)",
    ),
    (
        "life_event",
        "negative",
        r"离婚|辞职|离职|失业|被(?:[^，,]{1,6}?)?(?:裁员?|辞退|开除|炒鱿鱼)|住院|"
        r"做(?:了)?(?:一?个|一?场|一?次)?.{0,4}手术|出(?:了)?车祸|破产|骨折|休学|退学|流产|"
        r"确诊.{1,8}",
    ),
    (
        "emotional",
        "sad",
        r"(?:和|跟).{1,8}?(?:分手|吵架|闹翻|绝交|冷战)|分手|失恋|被(?:甩|分手|劈腿|出轨)",
    ),
)
_LIFE_EVENT_RULES = tuple(
    (
        kind,
        mood,
        at_start(
            "的?"
            + _adverbs(
                "终于|刚刚|刚|已经|正式|顺利|成功|又|也|才|就|被|自己|全家|一家|家",
                "[和跟].{1,6}?|从.{2,10}?|在.{2,8}?",
            )
            + rf"(?P<v>{pattern})(?P<done>了|啦|的(?=$))?(?:(?!的)[^，,]{{0,6}}(?:了|啦))?$"
        ),
    )
    for kind, mood, pattern in _LIFE_EVENTS
)
# "今天去了公园" is over; "订了机票" and "约了牙医" are still to come.
_DONE = regex(r"每|过$|的$|了$|(?<![约订定买名好排])了")
_TRIVIAL_ACTIVITY = regex(r"不|没|今天|今晚|现在|睡|出门|吃|洗|先|一些|推荐|再|试试|看看|这|那")
_MAX_DATE_POSITION = 6
_SOON = regex(r"(?:终于|刚刚|刚|已经|正式|顺利|成功|自己)++")
_LOSS = regex(any_of("chinese_events", "loss"))
_NOT_COMPLETED = regex(any_of("chinese_events", "not_completed"))
_PAST_ACTIVITY = at_start(
    _adverbs("一个人|第一次|又|也|终于|刚", "[跟和].{1,6}?") + rf"(?P<v>(?:去了?(?:趟|"
    rf"一趟)?(?:{PLACE}|[^，,]{{0,8}}(?:演唱会|音乐节|医院|婚礼|迪士尼|"
    rf"环球影城)).{{0,8}}|第一次.{{2,12}}|参加了?.{{1,8}}(?:婚礼|比赛|马拉松|葬礼|聚会|"
    rf"同学会|考试|活动|面试).{{0,2}}|(?:看|听)了?.{{0,10}}(?:演唱会|话剧|音乐会)|"
    rf"认识了?.{{2,8}}|跑了?.{{0,4}}马拉松))$"
)


def find_events(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    """Yield dated events and life events."""
    if parsed.subject is ChineseSubject.OTHER:
        return
    anniversary = list(_anniversaries(parsed))
    if anniversary or parsed.subject is ChineseSubject.KIN:
        yield from anniversary or _losses(parsed)
        return
    promised = list(_promises(parsed))
    if promised:
        yield from promised
        return
    yield from _dated_events(parsed) or _undated_events(parsed)


def build_event(
    parsed: ChineseClause,
    kind: str,
    title: str,
    mention: DateMention | None,
    emotion: str = "neutral",
) -> ExtractedItem:
    """Return an event, keyed by its kind, date and title."""
    attributes = {"title": title, "event_type": kind, "emotion": emotion}
    date, content = "", parsed.content
    if mention:
        date, words = mention.span.start.isoformat(), parsed.whole[mention.start : mention.end]
        attributes |= {"date": date, "date_text": words}
        # A later reader must not take "tomorrow" for their own tomorrow.
        content = mentions.insert_date(content, words, mention.span.to_text("至"))
        if not mention.span.is_day:
            attributes["end_date"] = mention.span.end.isoformat()
    key = ".".join(part for part in (kind, date, slug(title)) if part)
    return ExtractedItem(
        key,
        date or title,
        content,
        MemoryType.EVENT,
        attributes,
        LIKELY_CONFIDENCE if parsed.is_subject_implied else 0.85,
    )


def _date_mention(parsed: ChineseClause, lean: DatePreference) -> DateMention | None:
    return mentions.find_date(parsed.whole, parsed.now, lean=lean)


def _anniversaries(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    found = _ANNIVERSARY.search(parsed.whole)
    if not found or re.search(r"礼物|快乐|怎么|忘", parsed.whole):
        return
    stated = parsed.clause.display_text if parsed.is_subject_implied else parsed.content
    day = mentions.yearly_date(parsed.whole, stated, parsed.now)
    if not day:
        return
    date, content = day
    attributes = {
        "title": found["v"],
        "event_type": "anniversary",
        "date": date,
        "recurrence": "yearly",
        "emotion": "positive",
    }
    yield ExtractedItem(
        f"anniversary.{slug(found['v'])}", date, content, MemoryType.EVENT, attributes
    )


def _promises(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    found = _PROMISE.match(parsed.predicate)
    if not found or parsed.subject not in {ChineseSubject.USER, ChineseSubject.WE}:
        return
    mention = _date_mention(parsed, DatePreference.FUTURE)
    yield build_event(parsed, "plan", clean_value(parsed.predicate), mention)


def _dated_events(parsed: ChineseClause) -> list[ExtractedItem]:
    """Return the dated events of a clause: a plan if ahead, a life event if it is over."""
    ahead = _date_mention(parsed, DatePreference.FUTURE)
    if ahead is None:
        return []
    # Without a subject the date must come first: else the clause is about something else.
    if (
        parsed.is_subject_implied
        and parsed.subject is ChineseSubject.NONE
        and ahead.start > _MAX_DATE_POSITION
    ):
        return []
    rest = _without_date(parsed, ahead)
    today = parsed.now.date()
    done = list(_turning_points(parsed, rest, _date_mention(parsed, DatePreference.PAST)))
    if done and not (ahead.span.start > today):
        return done
    if ahead.span.end < today:
        return _past_event(parsed, rest, ahead)
    return _planned_event(parsed, rest, ahead)


def _past_event(parsed: ChineseClause, rest: str, day: DateMention) -> list[ExtractedItem]:
    past = _PAST_ACTIVITY.match(rest)
    if not past or _NOT_COMPLETED.search(rest):
        return []
    return [build_event(parsed, "memory", clean_value(past["v"]), day)]


def _planned_event(parsed: ChineseClause, rest: str, day: DateMention) -> list[ExtractedItem]:
    if re.match(r"\A(?:就|快|马上)*要", rest):
        rest = rest.removesuffix("了")
    rest = rest.rstrip("哈啊呀哦喔啦嘛呢~～")
    if _is_not_personal(parsed, rest, day) or _NOT_A_PLAN.search(rest) or _DONE.search(rest):
        return []
    if not _PLAN.match(rest):
        return []
    title = re.sub(rf"^(?:{_INTENT}|还|也|就|有个?|一?场)+(?=.{{2}})", "", rest)
    return [build_event(parsed, "plan", clean_value(title), day)]


def _is_not_personal(parsed: ChineseClause, rest: str, mention: DateMention) -> bool:
    """Return whether it is no plan of the user: 明天放假, 今天加班; but 今天要面试 is one."""
    if parsed.is_subject_implied and re.match(r"放假|开学|上课|上班", rest):
        return True
    today = mention.span.start == mention.span.end == parsed.now.date()
    return today and not re.match(rf"{_INTENT}|有", rest)


def _without_date(parsed: ChineseClause, mention: DateMention) -> str:
    after = _TIME_OF_DAY.sub("", parsed.whole[mention.end :], count=1)
    rest = parsed.whole[: mention.start] + after
    rest = re.sub(r"^(?:请?提醒我?|记得提醒我)", "", rest)
    rest = re.sub(
        r"^(?:我们俩?|咱们|我(?:和|跟)[^，,]{1,6}?(?=要|去|打算|准备|约|会|是)|我)", "", rest
    )
    rest = re.sub(r"^就?是我们?的(?=.{2})", "有", rest)
    return re.sub(r"^(?:在|于|是我们?的?|是|就|的)(?=.{2})", "", rest)


def _turning_points(
    parsed: ChineseClause, text: str, mention: DateMention | None
) -> Iterator[ExtractedItem]:
    for kind, mood, pattern in _LIFE_EVENT_RULES:
        found = pattern.match(text)
        if (
            found
            and (
                found["done"]
                or text.endswith(("了", "啦"))
                or "了" in text
                or mention
                or _SOON.search(parsed.whole)
            )
            and not _NOT_COMPLETED.search(text)
        ):
            title = clean_value(_SOON.sub("", text)).removeprefix("的").removesuffix("的")
            yield build_event(parsed, kind, title, mention, mood)
            return


def _undated_events(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    if parsed.is_past:
        return
    turned = list(_turning_points(parsed, parsed.predicate, None))
    yield from turned
    if turned or (parsed.is_subject_implied and parsed.subject is not ChineseSubject.USER):
        return
    goal = _GOAL.match(parsed.predicate)
    if goal:
        yield ExtractedItem("basic_info.goal", clean_value(goal["v"]), parsed.content)
        return
    plan = _UNDATED.match(parsed.predicate)
    if (
        plan
        and not _TRIVIAL_ACTIVITY.search(parsed.whole)
        and plan["v"] not in {"好了", "好啦", "完了"}
    ):
        yield build_event(parsed, "plan", clean_value(plan["v"] or plan["w"]), None)


def _losses(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    found, text = _LOSS.match(parsed.predicate), parsed.predicate.replace("去世", "")
    if found and not re.search(r"没|快|要|吗|不会|去(?!年).{1,4}了$", text):
        mention = _date_mention(parsed, DatePreference.PAST)
        born = found["born"]
        title = f"{parsed.kin}{found['v'] or born or '去世'}"
        yield build_event(parsed, "life_event", title, mention, "positive" if born else "sad")
