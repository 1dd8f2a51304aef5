"""Chinese rules for likes, dislikes, favourites, character and habits of the user."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plastic_memories.language.reading.chinese.clause import (
    ChineseClause,
    ChineseSubject,
    clean_value,
    split_list,
)
from plastic_memories.language.reading.chinese.lexicon import TRAIT
from plastic_memories.language.reading.finding import (
    CERTAIN_CONFIDENCE,
    LIKELY_CONFIDENCE,
    ExtractedItem,
)
from plastic_memories.language.reading.memory_keys import FAVORITES, favorite_key, slug
from plastic_memories.language.text.lazy_regex import at_start, regex
from plastic_memories.language.text.word_lists import any_of

_MAX_VALUE_CHARS = 16
_LIKE = regex(any_of("chinese_tastes", "like"), re.IGNORECASE)
_DISLIKE = regex(any_of("chinese_tastes", "dislike"), re.IGNORECASE)
_INTEREST = regex(any_of("chinese_tastes", "interest"))
_NO_INTEREST = regex(any_of("chinese_tastes", "no_interest"))
_HOBBY = at_start(any_of("chinese_tastes", "hobby"))
_OBJECT_FIRST = regex(any_of("chinese_tastes", "object_first"))
_FAN = at_start(any_of("chinese_tastes", "fan"))
_CATEGORY = "|".join(sorted({*FAVORITES, *FAVORITES.values()}, key=len, reverse=True))
_FAVORITE = regex(
    rf"(?:的)?最?(?:(?:喜欢|爱|喜爱|钟爱|中意|favou?rite)(?:吃|喝|看|听|玩|读)?的|favou?rite ?)"
    rf"(?:一(?:部|首|本|种|个|"
    rf"款|位|道))?(?P<c>[\u4e00-\u9fff]{{0,4}}?(?:{_CATEGORY}))(?:就|还|一直|永远)*(?:是|"
    rf"[:：])(?P<v>.+)$"
)
_IS_FAVORITE = regex(
    rf"(?P<v>[^，,]{{1,16}}?)(?:一直|永远|绝对)?(?:是|就是)我(?:的)?最(?:喜欢|爱|"
    rf"喜爱)(?:吃|喝|看|听|玩|读)?的(?:一(?:部|首|本|种|个|款|位|"
    rf"道))?(?P<c>[\u4e00-\u9fff]{{0,4}}?(?:{_CATEGORY}))?(?:之一)?$"
)
_OTHER_FAVORITE = regex(
    r"(?:的)?最(?:喜欢|爱|喜爱)的[^，,是]{1,8}是(?P<v>.+)$"
    rf"|(?:比较|很|最)?喜欢的(?:{_CATEGORY})(?:有|包括)(?P<w>.+)$"
)
_BEST_LOVED = regex(any_of("chinese_tastes", "best_loved"))
_VAGUE = regex(any_of("chinese_tastes", "vague"))
# Figures of speech that look like a taste.
_IDIOM = regex(
    r"爱奇艺|爱伦坡|爱因斯坦|爱马仕|爱惜|爱尔兰|爱迪生|爱丽丝|恨铁|爱咋|爱谁谁|爱答|爱理|爱莫|爱屋|爱信|爱.{1,2}不.|好吃懒做|喜欢.{1,3}喜欢|恨不|爱死|恨死"
)
_VERB_ONLY = regex(r"^(?:吃|喝)(?=.)")
_CUT = regex(any_of("chinese_tastes", "cut"))
_REPLY = regex(
    r"(?P<s>.{1,10}?)的?(?:回答|回复|解释|说话方式|语气|沟通方式|交流方式|表达|聊天方式)$"
)
_TRAIT = at_start(
    rf"(?:的)?(?:性格|性子|个性|脾气|为人|人)?(?:上)?(?:是|属于|有|算)?(?:个|一个|"
    rf"那种)?(?:比较|很|非常|挺|蛮|特别|有点儿?|偏|超级?|相当|十分|极度|重度|轻度|"
    rf"典型|天生|资深|严重|稍微|略微|的)*(?P<v>{TRAIT})(?:的人|型|型人格|的性格|患者|"
    rf"体质|晚期|一枚|一个)?(?:的|得很|得要命|得不行)?$"
)
_KIND_OF_PERSON = regex(any_of("chinese_tastes", "kind_of_person"))
_MBTI = regex(
    r"(?:的)?(?:mbti|人格类型)?(?:测出来)?(?:就)?(?:是)?(?:个|一个|一名|"
    r"典型的?)?(?P<v>[IE][NS][TF][JP](?:-[AT])?)(?:型|人格|型人格|的人)?$",
    re.IGNORECASE,
)
_HABIT = at_start(r"(?:习惯(?:于)?|有)(?P<v>(?!.*叫我)[^，,了你他她这那]{2,12}?)(?:的习惯)?$")
_FEAR = at_start(any_of("chinese_tastes", "fear"))
_ABSTAIN = regex(r"(?:从来?)?不(?:会)?(?P<v>抽烟|吸烟|熬夜|赌博|化妆|打游戏)(?:的)?$")


def find_tastes(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    """Yield the user's likes, dislikes and traits."""
    if parsed.is_past:
        return
    yield from _is_favorite(parsed)
    if parsed.subject not in {ChineseSubject.USER, ChineseSubject.NONE}:
        return
    named = list(_favorites(parsed))
    yield from named or _tastes(parsed)
    if not parsed.is_temporary:
        yield from _character(parsed)


def _confidence(parsed: ChineseClause) -> float:
    return LIKELY_CONFIDENCE if parsed.is_subject_implied else CERTAIN_CONFIDENCE


def _is_favorite(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    found = _IS_FAVORITE.match(parsed.whole)
    if not found or "不是" in parsed.whole or parsed.whole.startswith("我"):
        return
    value = clean_value(found["v"])
    if value and not _VAGUE.search(value):
        key = favorite_key(found["c"]) if found["c"] else f"preference.like.{slug(value)}"
        yield ExtractedItem(key, value, parsed.clause.display_text)


def _favorites(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    found = _FAVORITE.match(parsed.predicate)
    if found:
        value = clean_value(_CUT.sub("", found["v"]))
        if value and not _VAGUE.search(value):
            yield ExtractedItem(
                favorite_key(_category_head(found["c"])),
                value,
                parsed.content,
                confidence=_confidence(parsed),
            )
        return
    other = _OTHER_FAVORITE.match(parsed.predicate)
    if other:
        yield from _taste_items("like", other["v"] or other["w"], parsed)
        return
    best = _BEST_LOVED.match(parsed.predicate) or _HOBBY.match(parsed.predicate)
    if best:
        yield from _taste_items("like", best["v"] or best.groupdict()["w"], parsed)


def _category_head(category: str) -> str:
    """Return the known word that a longer one ends with: 科幻电影 is a 电影."""
    if category in FAVORITES:
        return category
    endings = (category[start:] for start in range(len(category)))
    return next((ending for ending in endings if ending in FAVORITES), category)


def _tastes(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    if re.search(r"今天|今晚|这次|刚才|不再|不是不|没有?不|没说|装作", parsed.whole):
        return
    if _IDIOM.search(parsed.whole):
        return
    first = _OBJECT_FIRST.match(parsed.whole)
    if first:
        yield from _taste_items("dislike" if first["not"] else "like", first["v"], parsed)
        return
    text = parsed.predicate
    for taste, patterns in (
        ("dislike", (_DISLIKE, _NO_INTEREST)),
        ("like", (_LIKE, _INTEREST, _FAN)),
    ):
        for pattern in patterns:
            found = pattern.match(text)
            if found:
                yield from _taste_items(taste, found["v"], parsed)
                return


def _taste_items(taste: str, text: str, parsed: ChineseClause) -> Iterator[ExtractedItem]:
    text = clean_value(_CUT.sub("", text))
    if text.startswith(("的", "里面", "其中")):
        return
    reply = _REPLY.match(text)
    if reply:
        if taste == "like" and not re.search(r"你|他|她|这|那", text):
            yield ExtractedItem("preference.reply_style", reply["s"], parsed.content)
        return
    for item in split_list(text):
        value = re.sub(r"^一些|的$", "", _VERB_ONLY.sub("", item))
        if (
            value
            and len(value) <= _MAX_VALUE_CHARS
            and not _VAGUE.search(item)
            and not _VAGUE.match(value)
        ):
            content = parsed.with_item(item, text)
            yield ExtractedItem(
                f"preference.{taste}.{slug(value)}", value, content, confidence=_confidence(parsed)
            )


def _character(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    text = parsed.predicate
    mbti = _MBTI.match(text)
    if mbti:
        yield ExtractedItem(
            "personality.mbti", mbti["v"].upper(), parsed.content, confidence=_confidence(parsed)
        )
        return
    trait = _TRAIT.match(text) or _KIND_OF_PERSON.match(text)
    if trait and "不" not in text[: trait.start("v")]:
        value = clean_value(trait["v"]).removeprefix("有")
        if not re.search(r"好$|坏$|普通|什么|有钱|喜欢|爱|讨厌|怎样|不错|不$|^认真", value):
            yield ExtractedItem(
                f"personality.{slug(value)}", value, parsed.content, confidence=_confidence(parsed)
            )
        return
    yield from _habits(parsed)


def _habits(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    text = parsed.predicate
    fear = _FEAR.match(text)
    if fear and not text.endswith("了"):
        value = clean_value(fear["v"] or fear["w"]).removeprefix("有")
        if (
            value
            and not _VAGUE.search(value)
            and not re.search(
                r"^(?:是|要|会|不|得|自己|没|再|又|太|人家|影响|耽误|打扰|吵)|行了?$|老婆|老公|[明今昨]天|[起赶做考吃睡跟]不|麻烦|忘|来不及|迟到|错|被|输|死你",
                value,
            )
        ):
            yield ExtractedItem(
                f"personality.fear.{slug(value)}",
                value,
                parsed.content,
                confidence=_confidence(parsed),
            )
        return
    abstain = _ABSTAIN.match(text)
    if abstain:
        yield ExtractedItem(
            f"personality.habit.{slug(abstain['v'])}",
            f"不{abstain['v']}",
            parsed.content,
            confidence=_confidence(parsed),
        )
    habit = _HABIT.match(text)
    if habit and (text.startswith("习惯") or text.endswith("的习惯")):
        value = clean_value(habit["v"])
        yield ExtractedItem(
            f"personality.habit.{slug(value)}",
            value,
            parsed.content,
            confidence=_confidence(parsed),
        )
