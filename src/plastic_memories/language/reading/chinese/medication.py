"""Chinese rules for medicines the user takes, and when."""

from __future__ import annotations

from collections.abc import Iterator

from plastic_memories.language.reading.chinese.clause import ChineseClause, ChineseSubject
from plastic_memories.language.reading.finding import (
    CERTAIN_CONFIDENCE,
    LIKELY_CONFIDENCE,
    ExtractedItem,
)
from plastic_memories.language.reading.memory_keys import slug
from plastic_memories.language.reading.relation_words import CHINESE_KIN_WORD
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.word_lists import any_of

_MEDICINE = regex(any_of("medicines", "zh"))
_PLAIN = regex(any_of("medicines", "zh_plain"))
_TAKES = regex(r"吃|服|喝|打|用|喷|抹|涂|搽|滴|注射|贴|换|停|断|带着|离不开|不离身")
_NUMBER = r"(?:\d{1,4}(?:\.\d)?|[一二两三四五六七八九十半几]{1,3})"
_OFTEN = regex(
    rf"每[天日晚早周月]|每个?(?:星期|礼拜)|隔[天日]|[一1][天日]|早晚|早中晚|睡前|[饭餐][前后]|空腹|长期|常年|按时|定时|逢日|"
    rf"{_NUMBER}点|随身"
)
_DOSE = regex(rf"{_NUMBER}(?:粒|片|颗|次|针|顿|包|支|毫升|mg|毫克)|早上|晚上|朝早|夜晚|中午")
_ONCE = regex(r"吃了|喝了|打了|服了|刚吃|吃过|买|开了|拿药|抓药")
_NOT_TAKEN = regex(
    r"吃错药|后悔药|毒药|农药|火药|药店|药房|医药|药丸$|没吃|忘|保证|发誓|答应|以后|不吃药|该吃药|吃药了|过敏|不能用|抓|你|您|他|她|"
    rf"{CHINESE_KIN_WORD}"
)
_ADVICE = regex(r"(?:你|要|记得|该|快|多|别|请|注意|先|可以|赶紧|得)")
_STOPPED = regex(r"停(?:药|了|的)|断药|不吃了|停掉")


def find_medication(parsed: ChineseClause) -> Iterator[ExtractedItem]:
    """Yield the medicines that the user takes or has stopped taking."""
    if parsed.subject not in {ChineseSubject.USER, ChineseSubject.NONE}:
        return
    text = parsed.whole
    if _NOT_TAKEN.search(text) or _ADVICE.match(parsed.clause.text):
        return
    named = _MEDICINE.search(text)
    if named and not _is_taken(text):
        return
    if named is None and not (_PLAIN.search(text) and _TAKES.search(text) and _OFTEN.search(text)):
        return
    value = named[0].strip() if named else "药"
    confidence = LIKELY_CONFIDENCE if parsed.is_subject_implied else CERTAIN_CONFIDENCE
    yield ExtractedItem(
        f"constraint.medication.{slug(value)}",
        f"停{value}" if _STOPPED.search(text) else value,
        parsed.content,
        confidence=confidence,
    )


def _is_taken(text: str) -> bool:
    """Return whether a medicine is taken for longer, not once."""
    if _OFTEN.search(text) or _STOPPED.search(text):
        return True
    return bool(_TAKES.search(text) or _DOSE.search(text)) and not _ONCE.search(text)


def is_medicine(text: str) -> bool:
    return bool(_MEDICINE.search(text) or _PLAIN.search(text)) and not _NOT_TAKEN.search(text)


def is_dose(text: str) -> bool:
    """Return whether a clause tells only how much or how often: 一天两片, 早饭后."""
    return bool(_OFTEN.search(text) or _DOSE.search(text)) and len(text) <= _MAX_DOSE_CHARS


_MAX_DOSE_CHARS = 14
