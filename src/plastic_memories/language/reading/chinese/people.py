"""Chinese rules for family, friends and pets of the user."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from plastic_memories.language.dates import mentions
from plastic_memories.language.reading.chinese.clause import (
    ChineseClause,
    ChineseSubject,
    clean_value,
)
from plastic_memories.language.reading.chinese.lexicon import JOB, PLACE
from plastic_memories.language.reading.finding import ExtractedItem
from plastic_memories.language.reading.memory_keys import slug
from plastic_memories.language.reading.relation_words import (
    CHINESE_KIN,
    CHINESE_KIN_WORD,
    CHINESE_PET_WORD,
    CHINESE_PETS,
    DISTANT_RELATIONS,
)
from plastic_memories.language.text.lazy_regex import at_start, regex
from plastic_memories.language.text.numerals import ZH_NUMBER, zh_number
from plastic_memories.language.text.word_lists import any_of
from plastic_memories.model.memory import MemoryType

_NAME = r"(?P<name>[\u4e00-\u9fff·A-Za-z0-9 ]{1,12}?)"
_COUNT = rf"(?P<count>{ZH_NUMBER}|好?几|[俩仨])?(?:个|只|条|位|对|头|匹|口)?"
_KIND = any_of("chinese_people", "kind")
_HAS = at_start(
    rf"(?:家里?|上面|下面|上头|底下)?(?:还|也|又|都)?(?:有|养了?|养着|收养了?|领养了?|新养了?|"
    rf"捡了?)(?:了)?(?:{ZH_NUMBER}年)?{_COUNT}(?:(?:名?叫|"
    rf"名为)(?P<called>[^，,的]{{1,8}})的)?(?P<kind>{_KIND})(?P<who>{CHINESE_KIN_WORD}|"
    rf"{CHINESE_PET_WORD})(?:(?:名字)?(?:叫做|名叫|叫|取名|名字叫|名为){_NAME}|"
    rf"(?:在|今年|刚|比我|正).{{1,12}})?(?:了|啦|哦|呢)?$"
)
_MORE = regex(
    rf"(?:和|、|还有|以及|跟)(?:{ZH_NUMBER})?(?:个|只|条|位)?(?P<who>{CHINESE_KIN_WORD}|{CHINESE_PET_WORD})"
)
_NAMED = at_start(
    rf"(?:们)?(?:的?名字|的?大名|的?小名)?(?:就|分别)?(?:叫做|名叫|叫|取名叫?|名字是|"
    rf"是叫){_NAME}(?:啊|哦|呀|啦|呢)?$"
)
_WHOSE_BIRTHDAY = regex(rf"是我(?:的)?(?P<kin>{CHINESE_KIN_WORD}|{CHINESE_PET_WORD})的?生日")
_KIN_JOB = at_start(
    rf"(?:也|都|以前)?(?:是|当|做)(?:一|1)?(?:名|个|"
    rf"位)?(?P<v>(?:[^，,]{{1,10}}的)?{JOB})(?:了|啊|哦)?$",
    re.IGNORECASE,
)
_KIN_AGE = at_start(any_of("chinese_people", "kin_age"))
_KIN_BIRTHDAY = regex(r"(?:的)?生日(?:是|在|[:：])?")
_KIN_HOME = at_start(
    rf"(?:现在|目前|一直)?(?:住在?(?=.{{2}})|在(?={PLACE}|.*(?:上学|读书|读大学|生活|留学|住)))"
    r"(?P<v>[^，,的]{2,10}?)(?:工作|上班|上学|读书|念书|读大学|上大学|读[博研]|当兵|打工|出差|做生意|"
    r"发展|生活|留学|住)?(?:呢|了)?$"
)
_STATUS = at_start(any_of("chinese_people", "status"))
_NOT_A_NAME = regex(
    r"我|你|他|她|不|别|什么|去|吃|起床|回|来|声|着|了|过|得|个|醒|外卖|人|妈|爸|做"
)


def find_people(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    """Yield the people and pets of the user."""
    if parsed.is_past:
        return
    whose = _WHOSE_BIRTHDAY.search(parsed.whole)
    if whose and parsed.subject is not ChineseSubject.KIN:
        yield from _kin_birthday(replace(parsed, kin=whose["kin"]), relation_key(whose["kin"]))
        return
    if parsed.subject is ChineseSubject.KIN:
        yield from _relative_facts(parsed)
        return
    if parsed.subject in {ChineseSubject.USER, ChineseSubject.NONE, ChineseSubject.WE}:
        yield from _owned_relations(parsed)
    if parsed.subject is ChineseSubject.USER or parsed.is_subject_implied:
        status = _STATUS.match(parsed.predicate)
        if status:
            yield ExtractedItem(
                "relationship.status", status["v"].removesuffix("狗"), parsed.content
            )


def relation_key(word: str) -> str:
    """Return the key of a relation.

    >>> relation_key("老婆"), relation_key("柯基")
    ('relationship.wife', 'relationship.pet.dog')
    """
    if word in CHINESE_PETS:
        kind = CHINESE_PETS[word]
        return "relationship.pet" if kind == "pet" else f"relationship.pet.{kind}"
    return f"relationship.{CHINESE_KIN[word]}"


def _owned_relations(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    text = parsed.predicate if not parsed.whole.startswith(("家里", "家")) else parsed.whole
    found = _HAS.match(text) or _HAS.match(re.sub(r"^的?家里?", "", text))
    several = _household_members(text) if not found else []
    for word, value in several:
        yield ExtractedItem(relation_key(word), value, parsed.content)
    if not found or re.search(r"没有?|没养|想养|想有|不养|如果", parsed.whole):
        return
    word = found["who"]
    if CHINESE_KIN.get(word) in DISTANT_RELATIONS and not found["name"]:
        return
    name = clean_value(found["name"] or found["called"] or "")
    if name and _NOT_A_NAME.search(name):
        return
    yield ExtractedItem(relation_key(word), name or _relation_description(found), parsed.content)


def _relation_description(found: re.Match[str]) -> str:
    count = found["count"]
    plural = count and (not count[0].isascii() or count.isdigit()) and count not in {"一", "1"}
    unit = "只" if found["who"] in CHINESE_PETS else "个"
    kind = re.sub(r"^.*的", "", found["kind"])
    if count in {"俩", "仨"}:
        return f"{count}{kind}{found['who']}"
    return f"{count}{unit}{kind}{found['who']}" if plural else f"{kind}{found['who']}"


def _household_members(text: str) -> list[tuple[str, str]]:
    """Return all members of a household in one clause: 一只猫和一条狗."""
    start = re.match(
        rf"(?:有|养了?|养着){_COUNT}(?P<who>{CHINESE_KIN_WORD}|{CHINESE_PET_WORD})(?=和|、|还有|以及|跟)",
        text,
    )
    if not start:
        return []
    words = [start["who"], *(more["who"] for more in _MORE.finditer(text, start.end()))]
    return [(word, word) for word in words if CHINESE_KIN.get(word) not in DISTANT_RELATIONS]


def _relative_facts(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    text, key = parsed.predicate, relation_key(parsed.kin)
    named = _NAMED.match(text)
    if named:
        name = clean_value(named["name"])
        if name and not _NOT_A_NAME.search(name):
            yield ExtractedItem(key, name, parsed.content)
        return
    if _KIN_BIRTHDAY.match(text):
        yield from _kin_birthday(parsed, key)
        return
    if CHINESE_KIN.get(parsed.kin) in DISTANT_RELATIONS:
        return
    for part, pattern in (("job", _KIN_JOB), ("age", _KIN_AGE), ("place", _KIN_HOME)):
        found = pattern.match(text)
        if found and not re.search(r"这|那|家$|一起|想|不|看|玩|等|忙|当|做|里头", found["v"]):
            value = (
                str(zh_number(found["v"]))
                if part == "age" and found["unit"] != "个月"
                else found["v"].rsplit("的", 1)[-1]
            )
            yield ExtractedItem(f"{key}.{part}", value, parsed.content)
            return


def _kin_birthday(parsed: ChineseClause, key: str) -> Iterator[ExtractedItem]:
    dated = mentions.yearly_date(parsed.whole, parsed.content, parsed.now)
    day, content = dated or ("", parsed.content)
    lunar = mentions.lunar_date(parsed.whole)
    title = f"{parsed.kin}的生日"
    attributes = {
        "title": title,
        "event_type": "birthday",
        "recurrence": "yearly",
        "emotion": "positive",
    }
    if lunar:
        day, attributes["date_text"] = "", lunar
    if day:
        attributes["date"] = day
    if day or lunar:
        who = slug(key.removeprefix("relationship."))
        yield ExtractedItem(
            f"birthday.{who}", day or lunar or "", content, MemoryType.EVENT, attributes
        )
