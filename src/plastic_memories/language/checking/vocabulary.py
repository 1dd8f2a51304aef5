"""Profile keys that a model may fill, and the cue words that each requires in the clause."""

from __future__ import annotations

import re

from plastic_memories.language.reading.memory_keys import favorite_key, slug, style_key
from plastic_memories.language.reading.relation_words import (
    CHINESE_KIN,
    CHINESE_PETS,
    ENGLISH_KIN,
    ENGLISH_PETS,
)
from plastic_memories.language.text.lazy_regex import regex

PROFILE_TYPES = ("basic_info", "preference", "personality", "relationship", "constraint")

# Each line: a key, then a pattern that the clause must match to prove that key.
_CUES = r"""
basic_info.name 叫(?!他|她|它|你|我|做)|名字|姓名|本名|真名|\bname\b
basic_info.nickname 昵称|小名|绰号|外号|nickname
basic_info.english_name 英文名|english name
basic_info.address 叫我|称呼我|喊我|管我叫|call me|address me
basic_info.surname 姓|surname|last name|family name
basic_info.age 岁|years? old|\bage\b|\bi'?m \d|\bi am \d|turned \d
basic_info.birthday 生日|出生|生于|born|birthday
basic_info.birth_year 年生|年出生|生于|born
basic_info.gender 男|女|\b(?:male|female|man|woman|girl|boy|guy)\b
basic_info.zodiac 属|year of the
basic_info.star_sign 座|star sign|\b(?:aries|taurus|gemini|cancer|leo|virgo|libra|scorpio|sagittarius|capricorn|aquarius|pisces)\b
basic_info.job 做|当|职业|任职|以.{1,8}为生|工作是|work as|\bjob\b|employed as|profession|for a living
basic_info.workplace 公司|单位|上班|工作|任职|work (?:at|for|in)|employ|company
basic_info.place 住(?!院|口)|定居|搬|安家|live in|living in|based in|reside|moved to|home is
basic_info.hometown 老家|家乡|来自|出生|长大|\bfrom\b|hometown|grew up|born
basic_info.school 大学|学院|中学|学校|读书|念书|上学|university|college|school
basic_info.major 专业|主修|读的是|学的是|major|studying|degree
basic_info.grade 年级|大[一二三四]|高[一二三]|初[一二三]|研[一二三]|博[一二三]|grade|freshman|sophomore
basic_info.goal 目标|梦想|理想|愿望|\bgoal\b|\bdream\b|ambition
preference.like 喜欢|爱|迷|钟意|中意|兴趣|\blikes?\b|love|enjoy|fan of|\binto\b|adore|prefer|hobby|hobbies|favou?rite
preference.dislike 不喜欢|讨厌|不爱|反感|恨|烦|受不了|嫌|hate|dislike|n'?t like|not like|stand|not a fan|n'?t enjoy|detest|despise
preference.favorite 最(?![近后初])|favou?rite|best|most
preference.reply_language (?:说|讲|用|回).{0,6}(?:语|文)|(?:speak|answer|reply|respond|chat|talk|write).{0,12}\bin\b
preference.reply_style 回答|回复|说话|语气|风格|answers?\b|repl(?:y|ies)|respon[ds]|\btone\b|\bstyle\b|emoji
personality.trait 性格|个性|脾气|这个?人|的人|personality|\btend\b|kind of person|by nature
personality.mbti [ei][ns][tf][jp]|mbti
personality.fear 怕|恐|afraid|scared|fear|terrified|phobia
personality.habit 习惯|每天|每晚|每周|经常|总|从不|熬夜|usually|every|always|never|often|habit
relationship.status 单身|婚|恋|对象|离异|single|married|divorced|engaged|dating|relationship|widow
constraint.allergy 过敏|allerg|intoleran|不耐受
constraint.diet 不吃|不能吃|不喝|不能喝|忌口|吃素|素食|清真|戒|n'?t eat|not eat|n'?t drink|not drink|vegetarian|vegan|halal|kosher|diet|avoid
constraint.health 病|症|炎|血压|哮喘|手术|癌|疼|痛|disease|diabet|asthma|disorder|syndrome|suffer|diagnos|condition|pain|blood pressure|depress|adhd|anxiety|disabled
constraint.medication 药|片|胶囊|胰岛素|服|吃|打针|\b(?:pills?|meds?|medication|medicine|tablets?|insulin|take|taking|dose|mg)\b
constraint.taboo 忌讳|别提|不要提|不许提|别再提|不想提|别聊|don'?t (?:mention|bring up|talk about)|never (?:mention|bring up|talk about)
"""  # noqa: E501
_CUE = {
    line.split(" ", 1)[0]: regex(line.split(" ", 1)[1], re.IGNORECASE)
    for line in _CUES.strip().splitlines()
}
# Keys with several values; the value is part of the key.
_MULTI_VALUE_FAMILIES = frozenset(
    {
        "preference.like",
        "preference.dislike",
        "personality.trait",
        "personality.fear",
        "personality.habit",
        "constraint.allergy",
        "constraint.diet",
        "constraint.health",
        "constraint.taboo",
        "constraint.medication",
        "relationship.with_persona.promise",
        "relationship.with_persona.joke",
    }
)
_FAMILY_ALIASES = """
name 名字|姓名|名称|full_name|first_name|real_name|user_name
nickname 昵称|小名|绰号
english_name 英文名
address 称呼|form_of_address|preferred_name
surname 姓|姓氏|last_name
age 年龄|岁数
birthday 生日|出生日期|birth_date|date_of_birth
birth_year 出生年份|year_of_birth
gender 性别|sex
job 职业|工作|岗位|occupation|profession|work|role|job_title|title
workplace 公司|工作单位|单位|company|employer
place 居住地|住址|城市|所在地|现居地|location|city|residence|home|lives_in
hometown 家乡|老家|籍贯|origin|from|birthplace
school 学校|大学|university|college
major 专业|field_of_study
grade 年级|year
goal 目标|梦想|dream
like 喜欢|爱好|兴趣|喜好|likes|hobby|hobbies|interest|interests|loves
dislike 不喜欢|讨厌|dislikes|hates
reply_language 语言|回复语言|回答语言|language
reply_style 回答风格|回复风格|风格|style|answer_style
trait 性格|特点|个性|traits|character
fear 害怕|恐惧|fears|phobia
habit 习惯|habits|routine
status 感情状态|婚姻状况|恋爱状态|婚恋状态|marital_status|relationship_status
allergy 过敏|过敏原|过敏源|allergies|allergic
diet 饮食|忌口|饮食禁忌|dietary|diets|food_restriction
health 健康|疾病|病史|illness|disease|condition|medical
taboo 禁忌|忌讳|taboos|boundary
medication 用药|药物|吃药|服药|medicine|medications|meds
"""
_CANONICAL = {
    word: line.split(" ", 1)[0]
    for line in _FAMILY_ALIASES.strip().splitlines()
    for word in line.split(" ", 1)[1].split("|")
}


# What the user and the persona are to each other.
_WITH_PERSONA = {
    word: part
    for part, words in {
        "how_we_met": "how_we_met|how_they_met|first_meeting|相识|怎么认识的|认识",
        "nickname": "nickname|nickname_for_ai|nickname_for_persona|ai_nickname|对ai的称呼",
        "promise": "promise|promises|约定|承诺",
        "joke": "joke|shared_joke|inside_joke|梗",
    }.items()
    for word in words.split("|")
}
OTHER_FAMILY = "other"


def _word_patterns(words: dict[str, str]) -> dict[str, re.Pattern[str]]:
    return {key: regex(rf"\b(?:{word})\b", re.IGNORECASE) for key, word in words.items()}


_KIN_ENGLISH = _word_patterns(ENGLISH_KIN)
_PETS_ENGLISH = _word_patterns(ENGLISH_PETS)


def key_family(category: str, key: str) -> str:
    """Return the key family that a model means; `other.*` for one that is unknown.

    >>> key_family("basic_info", "姓名"), key_family("", "preference.favorite_color")
    ('basic_info.name', 'preference.favorite_color')
    >>> key_family("relationship", "妈妈"), key_family("basic_info", "shoe size")
    ('relationship.mother', 'other.shoe_size')
    >>> key_family("relationship", "nickname_for_ai")
    'relationship.with_persona.nickname'
    """
    kind, name = _split_key(category, key)
    if kind == "preference" and name.startswith("favo"):
        return favorite_key(re.sub(r"^favou?rites?_?", "", name).replace("_", " ") or "other")
    if kind == "relationship":
        return _relationship_family(name) or _other_family(name)
    head = _name_head(name)
    for full in (f"{kind}.{_CANONICAL.get(name, name)}", f"{kind}.{head}"):
        if full in _CUE:
            return full
    return "personality.trait" if kind == "personality" else _other_family(name)


def _other_family(name: str) -> str:
    return f"{OTHER_FAMILY}.{slug(name) or 'fact'}"


def _split_key(category: str, key: str) -> tuple[str, str]:
    whole = key.strip().lower().replace(" ", "_").replace("-", "_")
    first, dot, rest = whole.partition(".")
    if dot and first in PROFILE_TYPES:
        return first, rest
    return category.strip().lower(), whole


def _name_head(name: str) -> str:
    head = name.partition(".")[0]
    return _CANONICAL.get(head, head)


def _relationship_family(name: str) -> str | None:
    word = _CANONICAL.get(name, name)
    if with_persona := _WITH_PERSONA.get(word.removeprefix("with_persona.")):
        return f"relationship.with_persona.{with_persona}"
    if word == "status":
        return "relationship.status"
    if word.startswith("pet") or word in CHINESE_PETS or _matching_english_key(word, _PETS_ENGLISH):
        return "relationship.pet"
    kin = (
        word
        if word in ENGLISH_KIN
        else CHINESE_KIN.get(word) or _matching_english_key(word, _KIN_ENGLISH)
    )
    return f"relationship.{kin}" if kin else None


def _matching_english_key(text: str, words: dict[str, re.Pattern[str]]) -> str | None:
    return next((key for key, pattern in words.items() if pattern.search(text)), None)


def key_for(family: str, value: str, clause: str) -> str | None:
    """Return the key of a value, or None if the clause has no cue word for it.

    >>> key_for("constraint.allergy", "海鲜", "我海鲜过敏"), key_for("relationship.pet", "Rex", "a dog called Rex")
    ('constraint.allergy.seafood', 'relationship.pet.dog')
    >>> key_for("constraint.allergy", "海鲜", "我喜欢海鲜") is None
    True
    """  # noqa: E501
    if family.startswith((f"{OTHER_FAMILY}.", "relationship.with_persona.")):
        return unproven_key(family, value)
    if family.startswith("relationship.") and family != "relationship.status":
        return _relationship_key(family, clause)
    cue = _CUE["preference.favorite" if family.startswith("preference.favorite_") else family]
    return unproven_key(family, value) if cue.search(clause) else None


def unproven_key(family: str, value: str) -> str:
    """Return the key of a value without asking the clause for a cue word.

    >>> unproven_key("preference.like", "绿茶"), unproven_key("other.shoe_size", "42")
    ('preference.like.green_tea', 'other.shoe_size')
    """
    if family == "preference.reply_style":
        return style_key(value)
    if family == "personality.trait":
        return f"personality.{slug(value)}"
    many = family in _MULTI_VALUE_FAMILIES
    return f"{family}.{slug(value)}" if many else family


_NAMING_CUES = regex(r"叫|名|唤作|\bnamed?\b|\bcalled\b|\bnames?\b", re.IGNORECASE)


def _relationship_key(family: str, clause: str) -> str | None:
    # Only a relative's name is the user's to tell; their job or tastes are their own.
    if not _NAMING_CUES.search(clause):
        return None
    if family == "relationship.pet":
        kind = named_pet(clause)
        return f"relationship.pet.{kind}" if kind else None
    return family if family.removeprefix("relationship.") in named_kin(clause) else None


def named_pet(clause: str) -> str | None:
    """Return the kind of animal a clause names."""
    named = max((word for word in CHINESE_PETS if word in clause), key=len, default=None)
    return CHINESE_PETS[named] if named else _matching_english_key(clause, _PETS_ENGLISH)


def named_kin(clause: str) -> set[str]:
    """Return the relatives that a clause names."""
    english = {key for key, pattern in _KIN_ENGLISH.items() if pattern.search(clause)}
    return english | {key for word, key in CHINESE_KIN.items() if word in clause}
