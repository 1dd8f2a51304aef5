"""Chinese rules for how the user wants to be spoken to, and what is not to be spoken of."""

from __future__ import annotations

from collections.abc import Iterator

from plastic_memories.language.reading.chinese.clause import (
    ChineseClause,
    ChineseSubject,
    clean_value,
)
from plastic_memories.language.reading.finding import ExtractedItem
from plastic_memories.language.reading.memory_keys import slug
from plastic_memories.language.text.lazy_regex import at_start, regex
from plastic_memories.language.text.word_lists import any_of

_WISHING = any_of("chinese_speaking", "wishing")
_NOT = r"(?:不要|别|不许|不准|禁止|勿|不可以|少|不用|甭)"
_AGAIN = r"(?:再|总是?|老是?|随便|轻易|主动|一直|动不动就?|每次都?|天天)*+"
_TO_ME = r"(?:[跟和对向在同给]我?(?:面前|聊天时|的面)?)?"
_END = r"(?:了|啦|好吗|行吗|哦|啊|吧|哈|嘛|呀|谢谢)*$"
_TOPIC_END = r"(?:的?(?:事情?|话题|问题|事儿))?"
# 以后别问我工资的事, 别拿我体重开玩笑, 不准说我胖.
_TABOO = at_start(
    rf"{_WISHING}{_NOT}{_AGAIN}{_TO_ME}{_AGAIN}(?:"
    rf"(?:提起|提到|提及|提|问起|问到|问|聊起|聊到|聊|谈论|谈起|谈到|谈|讨论|念叨|打听|八卦|翻)(?:我|关于|有关)*(?P<v>[^，,]{{2,14}}?){_TOPIC_END}{_END}"
    rf"|(?:拿|用)(?P<joke>[^，,]{{1,10}}?)(?:来)?开(?:我?的?)?玩笑{_END}"
    rf"|(?:往|朝)(?P<drift>[^，,]{{1,8}}?)(?:身上|那边|上)?扯{_END}"
    rf"|说我(?P<looks>胖|肥|丑|矮|笨|老|瘦|黑|土|娘)[^，,]{{0,3}}{_END})"
)
# 流产那件事以后就别提了, 鬼故事不要讲, 离婚的事打住.
_TABOO_AFTER = at_start(
    rf"(?P<v>[^，,]{{1,14}}?)(?P<affair>的事情?|的事儿|那件事|这件事|那次|那年的事|的话题)?"
    rf"(?:永远|以后|今后|就|都|最好|你|请|千万|可以的话|希望|也|真的|咱们?|我们)*"
    rf"(?:(?:打住|免谈|绕开)|(?:不聊|不谈|不提)|{_NOT}{_AGAIN}{_TO_ME}"
    rf"(?:提起?|问|聊|谈|讲|念叨|翻出来|拿出来说|说)(?:我|了|起|到)?(?:怎么来的)?){_END}"
)
_VAGUE = regex(any_of("chinese_speaking", "vague"))
_SPOKEN_OF = regex(r"提|问|聊|谈|念叨")

_WAY = any_of("ways_of_speaking", "zh")
_STYLE = at_start(
    rf"{_WISHING}(?:(?:说话|讲话|回复|回答|回我|聊天|发消息|打字|语气|解释|夸我)(?:的时候|时)?[你请就都要可以]*)?"
    rf"(?:{_NOT}(?!上班)|多(?=[用发点加说夸])|请?用|改用|尽量|控制在?|要?像|可以)[^，,]{{0,6}}?(?:{_WAY})[^，,]{{0,8}}$"
    rf"|(?:你|您|请|以后)*(?:说话|讲话|回复|回答|回我|发消息|打字|语气|夸我|[跟和同]我(?:说话|聊天|讲话))[^，,]{{0,6}}?(?:{_WAY})[^，,]{{0,6}}$"
)
_NOT_CALLED = at_start(
    rf"(?:{_WISHING}{_NOT}{_AGAIN}|我?(?:不喜欢|讨厌|不想)(?:被|别人|你|大家)*)(?:叫|喊|称呼)(?:我|做|成|您)?"
    r"(?P<v>[\u4e00-\u9fffA-Za-z]{1,8}?)(?:了|啦|好吗|吧|哦|啊)*+(?:怪.{1,4})?$"
)
_NO_NAME = regex(
    r"^(?:我|起|去|来|吃|喝|做|帮|给|出|回|加|上|下|买|拿|写|等|走|看|再|别|先|到|过|滚|停|不|这|那|什么|外卖|车|人|醒)"
)
_ONE_OFF = regex(any_of("chinese_speaking", "one_off"))


def find_speaking(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    """Yield topics to leave alone, and ways of speaking that the user asks for."""
    if parsed.subject is ChineseSubject.KIN and not _TABOO_AFTER.match(parsed.whole):
        return
    if _ONE_OFF.search(parsed.whole) or parsed.clause.is_followed_by_colon:
        return
    text = parsed.clause.text
    content = parsed.clause.display_text
    taboo = _taboo(parsed.whole)
    if taboo:
        yield ExtractedItem(f"constraint.taboo.{slug(taboo)}", taboo, content)
        return
    called = _NOT_CALLED.match(parsed.whole)
    if called and not _NO_NAME.match(called["v"]):
        yield ExtractedItem(f"preference.style.not_called_{slug(called['v'])}", text, content)
    elif _STYLE.match(parsed.whole):
        yield ExtractedItem(f"preference.style.{slug(text)}", text, content)


def _taboo(text: str) -> str:
    found = _TABOO.match(text)
    if found:
        value = clean_value(next(part for part in found.groupdict().values() if part))
        return "" if _VAGUE.search(value) else value.removeprefix("我的")
    after = _TABOO_AFTER.match(text)
    if after is None or _VAGUE.search(after["v"]):
        return ""
    value = clean_value(after["v"]).removeprefix("我的")
    is_topic = after["affair"] or (len(value) > 1 and _SPOKEN_OF.search(text, after.end("v")))
    return value if is_topic else ""
