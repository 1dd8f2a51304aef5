"""Chinese rules for allergies, diet, illness, taboos and reply style."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plastic_memories.language.reading.chinese.clause import (
    ChineseClause,
    ChineseSubject,
    clean_value,
    split_list,
)
from plastic_memories.language.reading.finding import (
    CERTAIN_CONFIDENCE,
    LIKELY_CONFIDENCE,
    ExtractedItem,
)
from plastic_memories.language.reading.memory_keys import slug, style_key
from plastic_memories.language.text.lazy_regex import at_start, regex
from plastic_memories.language.text.word_lists import any_of

_DEGREE = any_of("chinese_constraints", "degree")
_ALLERGY = at_start(
    rf"(?:对|吃了?|喝了?|碰到?|闻到?|一(?:吃|喝|碰|闻)到?|"
    rf"接触)(?P<v>[^，,不没]{{1,20}}?){_DEGREE}(?:就)?(?:会|要)?(?:起)?过敏(?:体质|"
    rf"反应)?的?(?:了|啊|哦|呢|的|(?:所以|你敢信|这个?千万|记住|千万)[^，,]{{0,10}})?$"
    rf"|有?(?P<w>[^，,不没对]{{1,12}}?){_DEGREE}过敏(?:症|史)?(?:的|啊|哦|呢|[挺很比较特别非常还]*(?:严重|厉害)的?|(?:所以|你敢信|这个?千万|记住|千万)[^，,]{{0,10}})?$"
    r"|(?:的)?过敏[原源](?:是|有|包括|[:：])(?P<x>.{1,20})$"
    rf"|对(?P<y>[^，,不没]{{1,20}}?)有{_DEGREE}的?过敏(?:反应|史|症)?$"
    r"|(?:是|am|is)?\s?allergic to\s?(?P<z>[^，,]{1,12})$"
)
_CAUSE = at_start(any_of("chinese_constraints", "cause"))
_NOT_AN_ALLERGEN = regex(any_of("chinese_constraints", "not_an_allergen"))
_INTOLERANT = at_start(
    r"(?:有|是|对)?(?P<v>[\u4e00-\u9fff]{1,4}?|[A-Za-z]{3,10})(?:不耐受|(?<=乳糖)不耐)(?:症|的)?$"
)
_NO_FOOD = at_start(any_of("chinese_constraints", "no_food"))
_NOT_FOOD = regex(any_of("chinese_constraints", "not_food"))
_DIET = at_start(
    rf"(?:是|在|正在|一直|坚持|常年|改|开始)*(?:个|一个|"
    rf"一名)?(?P<v>{any_of('health', 'zh_diet')})(?:的|饮食|者)?"
    rf"(?P<tail>[一二两三四五六七八九十半几第\d]{{1,3}}(?:个月|年|天|周)[多了]*)?$",
    re.IGNORECASE,
)
_ILLNESS = at_start(
    r"(?P<has>(?:患)?(?:有|得了|患有|得过|是|确诊了?|被诊断(?:出|为|出来)?|查出来?了?))?(?:轻度|重度|中度|严重的?|遗传性?|"
    r"点|轻微的?|家族|长期|老)*(?P<v>(?!没|无|不)(?:先天性|过敏性|类风湿性?|支气管|浅表性|萎缩性|地中海|缺铁性|季节性|一型|"
    rf"二型|[12]型|产后|慢性|急性|高度){{0,2}}{any_of('health', 'zh_illness')})"
    r"(?:患者|的|了)?(?P<tail>(?:快|都|已经|有|从小就?有?|遗传|[\d一二两三四五六七八九十几半])[^，,吗]{0,10})?$",
    re.IGNORECASE,
)
_TABOO = at_start(any_of("chinese_constraints", "taboo"))
_TABOO_SUBJECT = at_start(any_of("chinese_constraints", "taboo_subject"))
_TABOO_VAGUE = regex(any_of("chinese_constraints", "taboo_vague"))
_LANGUAGES = any_of("chinese_constraints", "languages")
_POLITE = any_of("chinese_constraints", "polite")
_LANGUAGE = at_start(
    rf"^{_POLITE}(?:用|使用|说|讲|是|改用|换成|默认|以){{1,2}}(?P<v>{_LANGUAGES})(?:来|"
    rf"跟我|和我|给我|对我|与我|进行|为主)*(?:回答|回复|交流|聊天|说话|沟通|对话|输出|"
    rf"讲话|讲|说|答复|回应|回|答|写|打字)?(?:我的问题|我|问题|吧|就好|就行|哦|即可|好了|所有问题|啦|喔|哈|嘛|呗|呀)*$"
    rf"|^(?:请|以后)?(?P<w>默认{_LANGUAGES}|{_LANGUAGES}(?:回答|回复|交流))(?:吧|就好|就行)?$"
    rf"|.*(?:回复|回答|输出|交流)语言(?:设为|是|用|改为|改成|默认)+(?P<x>{_LANGUAGES})$",
    re.IGNORECASE,
)
_STYLE_WORD = any_of("chinese_constraints", "style_word")
_NEGATIVE_STYLE = any_of("chinese_constraints", "negative_style")
_REPLY_WORD = any_of("chinese_constraints", "reply_word")
_ASK = any_of("chinese_constraints", "ask")
_STYLES = tuple(
    regex(pattern, re.IGNORECASE)
    for pattern in (
        rf"^{_ASK}{_REPLY_WORD}{_ASK}(?P<v>{_STYLE_WORD}(?:[、和且又]{_STYLE_WORD})*)(?:一点儿?|一些|些|点|"
        rf"就好|就行|的?风格|地|就可以|吧|哦|啊|的|嘛|啦|喔|哈|呗|呀)*$",
        rf"^{_ASK}(?P<v>{_STYLE_WORD})(?:一点儿?|一些|些|点)?(?:地|"
        rf"的)?(?:{_REPLY_WORD})(?:我|问题|我的问题|就好|就行|吧)*$",
        rf"^{_ASK}(?:用|以)(?P<v>[^，,]{{1,12}}?)的?(?:语气|口吻|风格|方式|口气|格式|"
        rf"语言风格)(?:来|跟我|和我|对我|与我)*(?:{_REPLY_WORD}|交流|说)?(?:我|问题|吧)*$",
        rf"^{_ASK}(?:{_REPLY_WORD}{_ASK})?(?P<v>(?:不要|别|少|不用)(?:再|老是?|"
        rf"总是?)?(?:太|那么|这么|过于)?(?<!不用){_NEGATIVE_STYLE})(?:了|好吗|哦|啊|啦|嘛|呀)*$",
        rf"^{_ASK}(?:{_REPLY_WORD}{_ASK})?(?P<v>(?:不要|别|少|不用|多|多多)(?:再|老是?|"
        rf"总是?)?(?:用|加|发|带|使用|(?<=不用))(?:表情符号|表情包?|emoji|敬语|markdown|颜文字|"
        rf"感叹号|专业术语|术语|网络用语|英文|列表|表格|例子|比喻|成语|您))(?:了|好吗|哦|"
        rf"啊)*$",
        rf"^{_ASK}(?P<v>(?:直接)?(?:给|说)(?:出)?(?:我)?(?:结论|重点|答案))(?:就好|就行|"
        rf"即可|吧|就可以)*$",
        rf"^{_ASK}{_REPLY_WORD}(?:的时候|时)(?P<v>(?:多|少|别|不要|尽量|要|请|先)[^，,提聊问]{{2,12}})$",
        rf"^{_ASK}(?P<v>(?:多)?(?:分点|分条|列点|举例(?:子)?|分步骤))(?:说明|回答|列出|"
        rf"解释|作答)*$",
    )
)
_ONE_OFF = regex(any_of("chinese_constraints", "one_off"))


_SHORT_ILLNESS = 3


def find_constraints(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    """Yield constraints, and how the user wants to be addressed and answered."""
    wished = list(_wishes(parsed))
    yield from wished or _taboos(parsed)
    if parsed.subject not in {ChineseSubject.USER, ChineseSubject.NONE} or parsed.is_past:
        return
    yield from _allergies(parsed)
    if not parsed.is_temporary:
        yield from _diets(parsed)
        yield from _illnesses(parsed)


def _confidence(parsed: ChineseClause) -> float:
    return LIKELY_CONFIDENCE if parsed.is_subject_implied else CERTAIN_CONFIDENCE


def _as_imperative(parsed: ChineseClause) -> str:
    return parsed.content.removeprefix("我") if parsed.is_subject_implied else parsed.content


def _wishes(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    if _ONE_OFF.search(parsed.whole) or parsed.subject is ChineseSubject.KIN:
        return
    # 用英语说“…” is about one sentence, not about the reply language.
    if parsed.clause.is_followed_by_colon or re.match(
        r"(?:请|帮我)?用[^跟和对]{1,5}[说讲写念]$", parsed.whole
    ):
        return
    language = _LANGUAGE.match(parsed.whole)
    if language:
        value = language["v"] or language["w"] or language["x"]
        value = re.sub(r"^默认|(?:回答|回复|交流)$", "", value)
        yield ExtractedItem("preference.reply_language", value, _as_imperative(parsed))
        return
    for pattern in _STYLES:
        found = pattern.match(parsed.whole)
        if found:
            value = found["v"].rstrip("啊呀哦吧的")
            yield ExtractedItem(style_key(value), value, _as_imperative(parsed))
            return


def _taboos(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    subject = _TABOO_SUBJECT.match(parsed.whole) or _TABOO_SUBJECT.match(parsed.predicate)
    text = (
        parsed.whole.removeprefix("我") if parsed.subject is ChineseSubject.USER else parsed.whole
    )
    found = subject or _TABOO.match(text)
    if not found or _ONE_OFF.search(parsed.whole) or parsed.is_temporary:
        return
    value = clean_value((found["v"] or found["w"]) if subject else found["v"])
    value = re.sub(r"^(?:到|起|我的)|的$", "", value)
    if value and not _TABOO_VAGUE.search(value):
        yield ExtractedItem(f"constraint.taboo.{slug(value)}", value, _as_imperative(parsed))


def _allergies(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    if not re.search(r"过敏|allergic", parsed.whole) or re.search(
        r"不过敏|不会过敏|没有?过敏|不再过敏|没.{0,6}过敏|不是.{0,8}过敏|不对", parsed.whole
    ):
        return
    first = _CAUSE.match(parsed.whole) if not parsed.whole.startswith("我") else None
    found = first or _ALLERGY.match(parsed.predicate) or _CAUSE.match(parsed.whole)
    if not found:
        return
    text = clean_value(next(value for value in found.groupdict().values() if value))
    for item in split_list(text):
        value = re.sub(
            r"^(?:吃|喝|对|所有的?|一切|(?:比较|非常|很)?(?:严重|轻微|重度|轻度|季节性)的?)|类$",
            "",
            item,
        )
        if value and not _NOT_AN_ALLERGEN.search(value):
            yield ExtractedItem(
                f"constraint.allergy.{slug(value)}",
                value,
                parsed.with_item(item, text),
                confidence=_confidence(parsed),
            )


def _diets(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    text = parsed.predicate
    diet = _DIET.match(text)
    if diet:
        yield ExtractedItem(
            f"constraint.diet.{slug(diet['v'])}",
            diet["v"],
            parsed.content,
            confidence=_confidence(parsed),
        )
        return
    intolerant = _INTOLERANT.match(text)
    if intolerant:
        value = intolerant["v"]
        yield ExtractedItem(
            f"constraint.diet.{slug(value)}",
            f"{value}不耐受",
            parsed.content,
            confidence=_confidence(parsed),
        )
        return
    food = _NO_FOOD.match(text)
    if food and (food["a"] or food["b"] or food["x"] or re.match(r"忌口?|戒", text)):
        yield from _forbidden_foods(food["v"] or food["w"] or food["x"], parsed)


def _forbidden_foods(text: str, parsed: ChineseClause) -> Iterator[ExtractedItem]:
    text = clean_value(re.sub(r"(?:因为|但是?|的东西|的食物|的菜|制品).*$", "", text))
    for item in split_list(text):
        value = re.sub(r"^(?:吃|喝|任何|一点|所有|太|有)|(?:的|也|都)$", "", item)
        if value and not _NOT_FOOD.search(value):
            yield ExtractedItem(
                f"constraint.diet.{slug(value)}",
                value,
                parsed.with_item(item, text),
                confidence=_confidence(parsed),
            )


def _illnesses(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    found = _ILLNESS.match(parsed.predicate)
    # 失眠 alone may be anybody's, or last night's.
    told = found and (
        found["has"]
        or found["tail"]
        or not parsed.is_subject_implied
        or len(found["v"]) > _SHORT_ILLNESS
    )
    if found and told:
        yield ExtractedItem(
            f"constraint.health.{slug(found['v'])}",
            found["v"],
            parsed.content,
            confidence=_confidence(parsed),
        )
