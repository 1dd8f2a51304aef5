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

_MAX_VALUE_CHARS = 16
_LIKE = regex(
    r"(?:最|最最|更)?(?:不要太)?(?:喜欢上?|喜爱|热爱|钟爱|偏爱|酷爱|挚爱|爱上|爱(?!好|情|"
    r"人|心|国|哭|操心|豆|称|尔)|迷上|迷恋|痴迷于?|沉迷于?|着迷于?|"
    r"钟情于?|偏好|中意|钟意|love|like|好(?=吃)|喜好)(?:了)?(?:的(?:就|还)?是)?(?P<v>.+)$",
    re.IGNORECASE,
)
_DISLIKE = regex(
    r"(?:最|最最|更|特别|非常|真的)?(?:不太喜欢|不怎么喜欢|不是很喜欢|不是特别喜欢|"
    r"不大喜欢|不喜欢|不爱|不太爱|不怎么爱|讨厌|厌恶|反感|受不了|忍受不了|不能忍受|"
    r"无法忍受|看不惯|憎恨|痛恨|恨|hate|不待见|嫌弃|不感冒于|烦透了?|烦死了?|恨透了?|"
    r"讨厌死了?|烦(?!恼|躁|心|你|死))(?:的(?:就|还)?是)?(?P<v>.+)$",
    re.IGNORECASE,
)
_INTEREST = regex(
    r"对(?P<v>[^，,]{1,14}?)(?:都)?(?:很|非常|特别|挺|比较|超|蛮|也|更|最|真的|十分|一直|"
    r"有点|还挺|是)*(?:感兴趣|有兴趣|情有独钟|着迷|上瘾|无法抗拒)$"
)
_NO_INTEREST = regex(
    r"对(?P<v>[^，,]{1,14}?)(?:都)?(?:完全|一点都?|真的|实在|也|一直|从来)*(?:不感兴趣|"
    r"没(?:有)?(?:什么|啥)?兴趣|无感|不感冒|提不起兴趣|很反感|反感)$"
)
_HOBBY = at_start(
    r"的?(?:业余|最大的|主要的?|平时的?)*(?:爱好|兴趣爱好|兴趣|喜好)(?:就|主要|"
    r"一直)?(?:是|有|包括|[:：])(?P<v>.+)$"
)
_OBJECT_FIRST = regex(
    r"(?P<v>[^，,我在说刷都让]{1,8})我(?:真的|也|都|很|最|一直|从来|特别|非常|是)*(?P<not>不(?:太|"
    r"怎么|是很)?)?(?:喜欢|爱)(?:吃|喝|看|听|玩)?(?:的|了)?$"
)
_FAN = at_start(
    r"是(?:个|一个|一名|一位|资深|忠实|铁杆|超级|骨灰级|老|的|妥妥|"
    r"标准){0,6}(?P<v>[^，,的个]{1,10}?)(?:的)?(?:铁杆|忠实|资深|死忠|超级|老|头号|"
    r"狂热){0,3}(?:粉丝|铁粉|迷|控|爱好者|发烧友|党|死忠|粉|狂热者|重度患者)$"
)
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
_BEST_LOVED = regex(
    r"的?最(?:喜欢|爱)(?:吃|喝|看|听|玩|做|去|读)的(?:东西|事情?|事|一件事)?(?:就|"
    r"还)?是(?P<v>.+)$|的最爱(?:就|一直)?是(?P<w>.+)$"
)
_VAGUE = regex(
    r"^(?:你|您|他|她|它|自己|这|那|什么|谁|啥|一个人$|一个(?:女|男)|某|这样|那样|上你|"
    r"过|了|着|的|就好|不|吗|得|死|极了|别人|大家|人家|我|有人|哪|跟你|和你|归|就|也|"
    r"被|这么|那么|东西|一切|让|里面|其中|就是|不起|吧|干嘛|看$|吃$|喝$|玩$|听$|的人|到)|"
    r"你|他们|她们|的时候|的样子|极了$|怎么|什么|一样$|的是$|的话|还是|胜过你|^(?:极|爱|惨|疯|哭|爆|到)+$"
)
# Figures of speech that look like a taste.
_IDIOM = regex(
    r"恨铁|爱咋|爱谁谁|爱答|爱理|爱莫|爱屋|爱信|爱.{1,2}不.|好吃懒做|喜欢.{1,3}喜欢|恨不|爱死|恨死"
)
_VERB_ONLY = regex(r"^(?:吃|喝)(?=.)")
_CUT = regex(
    r"(?:胜过|多过|多于|超过|而不是|而非|因为|但是?|不过|所以|可是|是因为|尤其是|特别是|"
    r"比如|例如|，|,|；).*$|(?:胜于).*$"
)
_REPLY = regex(
    r"(?P<s>.{1,10}?)的?(?:回答|回复|解释|说话方式|语气|沟通方式|交流方式|表达|聊天方式)$"
)
_TRAIT = at_start(
    rf"(?:的)?(?:性格|性子|个性|脾气|为人|人)?(?:上)?(?:是|属于|有|算)?(?:个|一个|"
    rf"那种)?(?:比较|很|非常|挺|蛮|特别|有点儿?|偏|超级?|相当|十分|极度|重度|轻度|"
    rf"典型|天生|资深|严重|稍微|略微|的)*(?P<v>{TRAIT})(?:的人|型|型人格|的性格|患者|"
    rf"体质|晚期|一枚|一个)?(?:的|得很|得要命|得不行)?$"
)
_KIND_OF_PERSON = regex(
    r"(?:是|属于)(?:一个|个|那种|一个比较|个比较|个很)?(?:比较|很|非常|挺|特别|"
    r"超)*(?P<v>[^，,你他她我这那]{2,8}?)的人$"
)
_MBTI = regex(
    r"(?:的)?(?:mbti|人格类型)?(?:测出来)?(?:就)?(?:是)?(?:个|一个|一名|"
    r"典型的?)?(?P<v>[IE][NS][TF][JP](?:-[AT])?)(?:型|人格|型人格|的人)?$",
    re.IGNORECASE,
)
_HABIT = at_start(r"(?:习惯(?:于)?|有)(?P<v>(?!.*叫我)[^，,了你他她这那]{2,12}?)(?:的习惯)?$")
_FEAR = at_start(
    r"(?:最|很|特别|非常|从小)*(?:害怕|惧怕|怕)(?P<v>[^，,]{1,8})$|(?P<w>恐高|怕黑|恐蛇|"
    r"晕血|晕针|密集恐惧症|幽闭恐惧症|深海恐惧症|有密集恐惧症|有幽闭恐惧症|有深海恐惧症)$"
)
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
