"""Chinese rules for the user's name, form of address, birthday and age."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plastic_memories.language.dates import chinese, mentions
from plastic_memories.language.reading.chinese.clause import (
    ChineseClause,
    ChineseSubject,
    clean_value,
)
from plastic_memories.language.reading.finding import (
    CERTAIN_CONFIDENCE,
    LIKELY_CONFIDENCE,
    PLAUSIBLE_AGES,
    ExtractedItem,
)
from plastic_memories.language.text.lazy_regex import at_start, regex
from plastic_memories.language.text.numerals import zh_number
from plastic_memories.language.text.word_lists import any_of

_NAME = r"(?P<v>[\u4e00-\u9fff·A-Za-z0-9_.\-' ]{1,24}?)"
_NAME_END = any_of("chinese_identity", "name_end")
_NOT_A_NAME = at_start(any_of("chinese_identity", "not_a_name"))
_NAME_WORDS = {
    "名字": "name",
    "姓名": "name",
    "全名": "name",
    "真名": "name",
    "本名": "name",
    "大名": "name",
    "中文名": "name",
    "小名": "nickname",
    "昵称": "nickname",
    "网名": "nickname",
    "外号": "nickname",
    "绰号": "nickname",
    "笔名": "pen_name",
    "英文名": "english_name",
    "乳名": "nickname",
    "艺名": "nickname",
}
_ONLY_PEOPLE = frozenset(
    ["真名", "本名", "全名", "网名", "英文名", "中文名", "小名", "艺名", "笔名"]
)
_CALLED = regex(rf"(?:(?:户口本|身份证|护照)上)?(?:名叫|叫做|叫作|叫)(?!我){_NAME}{_NAME_END}")
_NAMED = regex(
    rf"(?:户口本|身份证|护照)?上?的?(?P<w>{'|'.join(_NAME_WORDS)})字?(?:就)?(?:是|叫做|叫|[:：]){_NAME}{_NAME_END}"
)
_NAMED_PLAINLY = regex(any_of("chinese_identity", "named_plainly"))
_SURNAME = regex(
    r"姓(?![名氏什啥甚]|.的)(?P<v>[\u4e00-\u9fff]{1,2})(?:名(?P<n>[\u4e00-\u9fff]{1,2}))?$"
)
_I_AM_NAME = regex(r"是(?P<v>[小阿][\u4e00-\u9fff]{1,2}|[A-Z][a-z]{2,12})$")
_NO_NAME_SO = regex(r"[小阿](?:学生|孩|偷|白|姐|朋友|男孩|女孩|人|姨|公主|可爱|仙女|镇|众|资|说|Q)")
_ADDRESS = at_start(
    r"(?:我|你|您)?(?>(?:请|以后|今后|可以|就|直接|都|麻烦|希望|想要?|要|喜欢|习惯|更|平时|"
    r"一般|朋友们?|大家|同事们?|同学们?|姐妹们?|兄弟们?|哥们儿?|学生们?|孩子们?|粉丝们?|客户们?|邻居们?|家人们?|家里人|身边的人|他们|网友们?|我?"
    r"希望你|你|们|还是|管|也|能|一直|从现在起|尽量|往后|日后|之后|接下来|平常|私下|那就|"
    r"干脆|不如|别人|先|暂时))*"
    rf"(?:(?:叫|称呼|喊|称|call)[我俺]|管[我俺]叫)(?:为|做|作)?{_NAME}{_NAME_END}"
)
_REFUSED = regex(
    r"(?:别|不要|不许|不准|少|不喜欢|讨厌|不想)(?:再|老|总)?(?:别人|大家|你|他们)?(?:叫|称呼|喊)我"
)

_BIRTH_YEAR = regex(any_of("chinese_identity", "birth_year"))
_BIRTHDAY = regex(any_of("chinese_identity", "birthday"))
_OWN_BIRTHDAY = regex(any_of("chinese_identity", "own_birthday"))
_AGE = at_start(any_of("chinese_identity", "age"))
_ZODIAC = regex(r"(?:是)?属(?P<v>[鼠牛虎兔龙蛇马羊猴鸡狗猪])(?:的)?$")
_STAR = regex(any_of("chinese_identity", "star"))
_GENDER = regex(any_of("chinese_identity", "gender"))


_OTHERS = frozenset({ChineseSubject.KIN, ChineseSubject.OTHER})
_USUAL_NAME, _LONG_NAME = 3, 6  # Chinese characters


def _is_name(name: str) -> bool:
    """Return whether a name may be one: 我叫个鸡翅还要送红包 has none."""
    if not name or _NOT_A_NAME.match(name):
        return False
    han = [char for char in name if "\u4e00" <= char <= "\u9fff"]
    if len(han) != len(name):
        return True
    return len(han) <= _LONG_NAME and (
        len(han) <= _USUAL_NAME or not re.search("[的个每给还要把是有很]", name)
    )


def find_identity(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    """Yield the user's identity facts."""
    yield from _address(parsed)
    if parsed.subject not in {ChineseSubject.USER, ChineseSubject.NONE}:
        return
    yield from _birthday(parsed)
    if parsed.is_past:
        return
    for rule in (_names, _age_and_birth_year, _zodiac_and_gender):
        yield from rule(parsed)


def _confidence(parsed: ChineseClause) -> float:
    return LIKELY_CONFIDENCE if parsed.is_subject_implied else CERTAIN_CONFIDENCE


def _address(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    found = _ADDRESS.match(parsed.whole)
    # 我朋友想开店，叫我帮忙: somebody else asks for something.
    is_unnamed = parsed.is_subject_implied or parsed.kin not in parsed.whole
    by_other = is_unnamed and parsed.subject in _OTHERS
    if not found or by_other or _REFUSED.search(parsed.whole):
        return
    name = clean_value(found["v"])
    if _is_name(name) and not re.search(r"[何就怎哪啥吗]", name):
        yield ExtractedItem("basic_info.address", name, _as_imperative(parsed))


def _as_imperative(parsed: ChineseClause) -> str:
    """Return the content of a request; it has no subject to add."""
    return parsed.content.removeprefix("我") if parsed.is_subject_implied else parsed.content


def _names(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    text = parsed.predicate
    named = _NAMED.match(text) or _NAMED_PLAINLY.match(text)
    called = (
        _CALLED.match(text)
        if not parsed.is_subject_implied or parsed.subject is ChineseSubject.USER
        else None
    )
    found = named or called
    if found:
        name = clean_value(found["v"])
        if _is_name(name):
            # After "我住的小区不错" the name that follows is not the user's.
            if (
                parsed.is_subject_implied
                and parsed.subject is ChineseSubject.NONE
                and not parsed.clause.opens_sentence
                and not (named and named["w"] in _ONLY_PEOPLE)
            ):
                return
            key = _NAME_WORDS[named["w"]] if named else "name"
            yield ExtractedItem(
                f"basic_info.{key}", name, parsed.content, confidence=_confidence(parsed)
            )
        return
    surname = _SURNAME.match(text)
    if surname and surname["n"]:
        yield ExtractedItem("basic_info.name", surname["v"] + surname["n"], parsed.content)
    elif surname:
        yield ExtractedItem("basic_info.surname", surname["v"], parsed.content)
    plain = _I_AM_NAME.match(text)
    if plain and not parsed.is_subject_implied and not _NO_NAME_SO.match(plain["v"]):
        yield ExtractedItem(
            "basic_info.name", plain["v"], parsed.content, confidence=LIKELY_CONFIDENCE
        )


def _birthday(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    whole = parsed.whole
    if not _BIRTHDAY.search(whole) or re.search(
        r"不是|礼物|蛋糕|派对|聚会|快乐|不过生日|他|她", whole
    ):
        return
    if re.search(r"(?<!出)生日", whole) and not _OWN_BIRTHDAY.search(whole):
        return
    lunar = mentions.lunar_date(whole)
    if lunar:
        yield ExtractedItem(
            "basic_info.birthday", lunar, parsed.content, attributes={"date_text": lunar, **_YEARLY}
        )
        return
    day = mentions.yearly_date(whole, parsed.content, parsed.now)
    if day and _is_exact(whole, parsed):
        yield _birthday_item(parsed, *day)


def _is_exact(whole: str, parsed: ChineseClause) -> bool:
    """Return whether the date is exact: 我是上周三生的 is not, unless it is called a birthday."""
    written = mentions.calendar_date(whole, parsed.now.date())
    return written is not None or bool(re.search(r"(?<!出)生日", whole))


_YEARLY = {"event_type": "birthday", "recurrence": "yearly"}


def _birthday_item(parsed: ChineseClause, day: str, content: str) -> ExtractedItem:
    return ExtractedItem(
        "basic_info.birthday",
        day,
        content,
        attributes={"date": day, **_YEARLY},
        confidence=_confidence(parsed),
    )


def _age_and_birth_year(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    text = parsed.predicate
    age = _AGE.match(text) or _AGE.match(parsed.whole.removeprefix("我"))
    if (
        age
        and parsed.whole.isdigit()
        and not (parsed.is_subject_implied and parsed.subject is ChineseSubject.USER)
    ):
        return
    if age and not re.search(
        r"快|马上|不到|差不多|左右|将近|心理年龄|明年|后年|等我|到我|的时候", parsed.whole
    ):
        number = zh_number(age["n"] or age["m"] or age["k"])
        if number in PLAUSIBLE_AGES:
            yield ExtractedItem(
                "basic_info.age", str(number), parsed.content, confidence=_confidence(parsed)
            )
    born = _BIRTH_YEAR.match(text)
    if born and (not parsed.is_subject_implied or parsed.subject is ChineseSubject.USER):
        year = chinese.full_year(born["y"] or born["y2"], parsed.now.date())
        if parsed.now.year - year in PLAUSIBLE_AGES:
            yield ExtractedItem("basic_info.birth_year", str(year), parsed.content)


def _zodiac_and_gender(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    for key, pattern in (("zodiac", _ZODIAC), ("star_sign", _STAR), ("gender", _GENDER)):
        found = pattern.match(parsed.predicate)
        if found and (key != "gender" or "才" not in parsed.whole):
            value = (
                re.sub(r"(?:的|生|性|孩子|孩)$", "", found["v"]) if key == "gender" else found["v"]
            )
            value = {"妹子": "女", "汉子": "男"}.get(value, value)
            yield ExtractedItem(
                f"basic_info.{key}", value, parsed.content, confidence=_confidence(parsed)
            )
