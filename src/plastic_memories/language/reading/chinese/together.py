"""Chinese rules for what the user and the persona are to each other: names, promises, reminders."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plastic_memories.language.reading.chinese.clause import (
    ChineseClause,
    ChineseSubject,
    clean_value,
)
from plastic_memories.language.reading.finding import ExtractedItem
from plastic_memories.language.reading.memory_keys import slug
from plastic_memories.language.reading.relation_words import CHINESE_KIN_WORD
from plastic_memories.language.text.lazy_regex import at_start, regex
from plastic_memories.language.text.word_lists import any_of

_PREFIX = "relationship.with_persona"
_WE = r"(?:我们俩?|咱们?俩?|我俩|我[跟和同]你|你[跟和同]我)"
_END = r"(?:了|啦|吧|哦|哈|呀|啊|好不好|好吗|的)*$"
_MET = regex(
    rf"^{_WE}(?:是|就是|都)?[^，,]{{0,16}}?(?:认识|相识|相遇|遇见)(?:的|了?[^，,]{{0,6}})$"
    rf"|(?:我|{_WE})?第一次(?:[跟和找给同]你|{_WE})?(?:说话|聊天|聊|发消息|见面)[^，,]{{0,16}}$"
)
_NAME = r"(?P<v>[\u4e00-\u9fffA-Za-z0-9·]{1,8}?)"
_NAMES_PERSONA = at_start(
    rf"(?:以后|今后|那|从今天起|从现在起|现在|我|就|都|要|想|可以|能|还是|给你取名|改)*(?:叫|喊|称呼|管你叫|给你(?:取|起)(?:个)?名[字叫]*|叫做)"
    rf"(?:你)(?:做|作|为)?{_NAME}{_END}"
    rf"|你(?:以后|现在|今后|从今天起)?(?:就|改)*(?:叫|名字(?:就)?(?:是|"
    rf"叫)){_NAME.replace('<v>', '<w>')}{_END}"
)
_NO_NAME = regex(any_of("chinese_together", "no_name"))
_ROLE = at_start(any_of("chinese_together", "role"))
_ROLES = regex(any_of("chinese_together", "roles"))
_OURS = at_start(
    rf"(?:{_WE})的(?P<k>暗号|暗语|梗|老梗|口头禅|口号|秘密基地|规矩|约定|歌|仪式|秘密|昵称|专属\w{{1,3}})"
    r"(?:就|一直)?(?:是|叫)(?P<v>[^，,]{1,24})$"
)
# 到点喊我吃药, 下周三提醒我交房租, 十点半催我睡觉.
_REMIND = regex(
    r"(?:提醒|记得叫|喊|叫|催|盯着?|监督|督促)我(?P<v>[^，,我]{1,24}?)(?:一定|好不好|好吗|行吗|可以吗|啊|哦|呀|吧|啦|哈|了)*$"
)
_ASKED_TO = regex(any_of("chinese_together", "asked_to"))
_TOLD = regex(
    r"^(?:我(?!要|想)|他|她|有人|闹钟|老师|老板|同事|手机|系统|刚)|过我|了我|我妈|我爸|老公|老婆|室友|没(?:人)?(?:叫|喊|提醒)"
)
_PROMISES = (
    at_start(r"我(?:向|跟|对)?你?(?:答应|保证|发誓|承诺)(?:过|了)?你?(?:，)?(?P<v>[^，,]{2,24})$"),
    at_start(
        r"(?:是)?你(?:之前|上次|昨晚|昨天|以前|都|明明|可是|当时|自己)*(?:答应|保证|承诺|说好)(?:过|了)?(?:我|要|会)*(?P<v>[^，,]{2,24})$"
    ),
    at_start(r"你说过(?:要|会|等我?|以后|一定)(?P<v>[^，,]{2,24})$"),
    at_start(rf"(?:{_WE}|那|咱)?(?:都)?(?:说好|说定|约好|约定好?|讲好)了?(?P<v>[^，,吗]{{3,24}})$"),
    at_start(r"(?:我(?:还)?欠你|你(?:还)?欠我)(?P<v>[^，,]{2,16})$"),
    at_start(r"答应我(?P<v>[^，,]{2,24})$"),
)


# 我答应妈妈下周回家 is a promise to somebody else.
_OTHERS = at_start(rf"(?:过|了|我)*(?:{CHINESE_KIN_WORD}|他|她|自己)")


def find_together(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    """Yield how they met, what the user calls the persona, promises and shared jokes."""
    if parsed.subject is ChineseSubject.KIN:
        return
    text, content = parsed.whole, parsed.clause.display_text
    reminder = _reminder(text)
    if reminder:
        yield ExtractedItem(f"{_PREFIX}.promise.{slug(reminder)}", f"提醒{reminder}", content)
        return
    for rule in _PROMISES:
        found = rule.match(text)
        if found and "你" in text and not _OTHERS.match(found["v"]):
            value = clean_value(found["v"])
            yield ExtractedItem(f"{_PREFIX}.promise.{slug(value)}", value, content)
            return
    yield from _relation(text, content, opens=parsed.clause.opens_sentence)


def _reminder(text: str) -> str:
    found = _REMIND.search(text)
    if found is None or not _ASKED_TO.search(text) or _TOLD.search(text[: found.start() + 3]):
        return ""
    return clean_value(found["v"])


def _relation(text: str, content: str, *, opens: bool) -> Iterator[ExtractedItem]:
    if _MET.search(text) and (opens or "你" in text or re.match("[咱我]俩", text)):
        yield ExtractedItem(f"{_PREFIX}.how_we_met", content, content)
    ours = _OURS.match(text)
    if ours:
        yield ExtractedItem(f"{_PREFIX}.joke.{slug(ours['k'])}", clean_value(ours["v"]), content)
    named = _NAMES_PERSONA.match(text)
    if named and not _NO_NAME.search(named["v"] or named["w"]):
        yield ExtractedItem(f"{_PREFIX}.nickname", named["v"] or named["w"], content)
    role = _ROLE.match(text)
    if role and _ROLES.search(role["v"] or role["w"]):
        yield ExtractedItem(f"{_PREFIX}.role", role["v"] or role["w"], content)
