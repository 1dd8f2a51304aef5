"""Chinese rules for intolerances, reactions and binding conditions such as pregnancy."""

from __future__ import annotations

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
from plastic_memories.language.reading.memory_keys import slug
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.word_lists import any_of

_PLACE = any_of("chinese_reactions", "place")
_SWELLS = any_of("chinese_reactions", "swells")
_UPSETS = r"(?:拉肚子|腹泻|闹肚子|肚子[疼痛]|胃[疼痛]|(?:想|要|呕)?吐|反酸|恶心|不舒服|难受)"
_REACTION = regex(
    r"(?:一|只要|每次)?(?:吃|喝|碰|闻|摸|接触)(?:到|完|了)?(?P<v>[^，,我就会不没要太多]{1,8}?)(?:的话)?"
    rf"{_PLACE}(?:就会?|会|都会?){_PLACE}(?:(?P<swells>{_SWELLS})|(?P<upsets>{_UPSETS}))"
    r"(?:起来)?(?:的|了|啊|呢|[得很]厉害)*$"
)
_NOT_A_THING = regex(
    r"^(?:嘴|脸|皮肤|喉咙|眼睛|饭|东西|药|什么|这|那|它|他|她|你|饱|撑|多)|猫薄荷$"
)
_EXPECTING = regex(any_of("chinese_reactions", "expecting"))
_PHOBIA = regex(
    r"(?:有|患有)(?:点|轻微的?|严重的?|很严重的?)?(?P<v>恐高|幽闭恐惧|深海恐惧|飞行恐惧)症$"
)
_SICKENS = regex(
    r"(?:坐[车船]|坐飞机)?(?:会|就)?(?P<v>晕[车船机])"
    r"(?:得?(?:特别|非常|很|挺|超级?)?(?:厉害|严重)的?)$"
)


def find_reactions(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    """Yield what the user's body does not tolerate."""
    if (
        parsed.subject not in {ChineseSubject.USER, ChineseSubject.NONE}
        or parsed.is_past
        or parsed.is_temporary
    ):
        return
    yield from _reactions(parsed)
    yield from _states(parsed)


def _reactions(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    found = _REACTION.match(parsed.predicate) or _REACTION.match(parsed.whole)
    if not found:
        return
    kind = "allergy" if found["swells"] else "diet"
    text = clean_value(found["v"])
    for item in split_list(text):
        if item and not _NOT_A_THING.search(item):
            yield ExtractedItem(
                f"constraint.{kind}.{slug(item)}",
                item,
                parsed.with_item(item, text),
                confidence=_confidence(parsed),
            )


def _states(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    if parsed.subject is ChineseSubject.USER and _EXPECTING.match(parsed.predicate):
        yield ExtractedItem("constraint.health.pregnancy", "怀孕", parsed.content)
    for pattern, kind in ((_PHOBIA, "personality.fear"), (_SICKENS, "constraint.health")):
        found = pattern.match(parsed.predicate)
        if found:
            key = f"{kind}.{slug(found['v'])}"
            yield ExtractedItem(key, found["v"], parsed.content, confidence=_confidence(parsed))


def _confidence(parsed: ChineseClause) -> float:
    return LIKELY_CONFIDENCE if parsed.is_subject_implied else CERTAIN_CONFIDENCE
