"""Run the Chinese rules on every clause of a message, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from plastic_memories.language.reading.chinese import (
    constraints,
    events,
    identity,
    medication,
    people,
    reactions,
    speaking,
    tastes,
    together,
    work,
)
from plastic_memories.language.reading.chinese.clause import (
    ChineseClause,
    ChineseSubject,
    parse_chinese_clause,
)
from plastic_memories.language.reading.clauses import MessageClause
from plastic_memories.language.reading.finding import ExtractedItem
from plastic_memories.language.reading.relation_words import CHINESE_KIN_WORD, CHINESE_PET_WORD
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.word_lists import any_of

_FINDERS = (
    identity.find_identity,
    work.find_work,
    tastes.find_tastes,
    constraints.find_constraints,
    reactions.find_reactions,
    medication.find_medication,
    people.find_people,
    together.find_together,
    events.find_events,
)
_WISHES = ("preference.reply_", "constraint.", "relationship.with_persona.", "basic_info.")
_NOT_BUT = regex(r"^(?P<head>.*?)(?:并)?不(?P<verb>是|叫|在|住在|姓|对)(?P<old>[^，,]{1,15})$")
_BUT = regex(r"^(?:而|其实|应该|准确地说)*(?:是|叫|姓|在|住在)(?P<new>.{1,20})$")
# 我叫小红不是小明: the text after "not" is a correction.
_BUT_NOT = regex(r"^(?P<head>.*(?:是|叫|在|住|喜欢|讨厌|对|来自).{0,11}?[^的])(?:而)?不是.{1,12}$")
_NO_NOUN = regex(any_of("chinese_chinese_reader", "no_noun"))
# 我改名了，现在叫林一: the next clause has the new value.
_CHANGED = regex(r"(?:改名|改行|转行|跳槽|换工作)了?$")
# 我妈给我改了名，叫林一: the name that follows is the user's.
_RENAMED = regex(r"给我(?:又|重新)?(?:改|起|取)")
# 我最喜欢的颜色不是红色: no value is stated yet.
_HEAD_ONLY = regex(r"(?:喜欢|爱)的[^的是]{1,5}$")
_SOMEBODY = regex(f"{CHINESE_KIN_WORD}|{CHINESE_PET_WORD}")
# 我生日快到了，就是下周一: the day comes in a clause of its own.
_BIRTHDAY_OPEN = regex(r"^(?:其实|不对)?我(?:的|不是.{1,4})?生日(?!.*(?:不|礼物|蛋糕|愿望|派对))")
_DAY_ONLY = regex(any_of("chinese_chinese_reader", "day_only"))
_NOT_BUT_INSIDE = regex(r"^(?P<head>.{0,8}?)不是(?P<old>[^是]{1,10}?)(?:而)?是(?P<new>.{1,15})$")


def read_chinese_clauses(
    clauses: Sequence[MessageClause], now: datetime, *, about_others: bool = False
) -> Iterator[tuple[MessageClause, ExtractedItem]]:
    """Yield the items of the clauses of one message; a subject carries over to the next clause.

    `about_others`: the talk is about somebody else, so that an omitted subject is not the user.
    """
    omitted = ChineseSubject.OTHER if about_others else ChineseSubject.NONE
    subject, topic, is_named = omitted, "", False
    for clause in _apply_corrections(clauses):
        if clause.opens_sentence and not is_named:
            subject = omitted if subject is ChineseSubject.OTHER else subject
        parsed = parse_chinese_clause(clause, now, subject, topic)
        items = [item for finder in _FINDERS for item in finder(parsed)]
        if not any(item.key.startswith(_WISHES) for item in items):
            items += speaking.find_speaking(parsed)
        for item in items:
            yield clause, item
        is_named = not parsed.is_subject_implied
        subject, topic = _carried_subject(parsed, bool(items)), _carried_topic(parsed, items)


def _carried_subject(parsed: ChineseClause, understood: bool) -> ChineseSubject:
    """Return the subject of the next clause if it has none."""
    if _RENAMED.search(parsed.whole):
        return ChineseSubject.USER
    if not parsed.is_subject_implied:
        return _subject_after_named(parsed, understood)
    if understood or not parsed.predicate or _NO_NOUN.match(parsed.predicate):
        return parsed.subject
    # A clause that begins with its own noun is about that noun.
    is_about_user = parsed.subject is ChineseSubject.USER or "我" in parsed.whole
    return parsed.subject if is_about_user else ChineseSubject.OTHER


def _subject_after_named(parsed: ChineseClause, understood: bool) -> ChineseSubject:
    if parsed.subject is ChineseSubject.KIN:
        return ChineseSubject.OTHER
    if understood:
        return parsed.subject
    if parsed.whole.startswith("我的"):
        return ChineseSubject.OTHER
    is_user = parsed.subject is ChineseSubject.USER
    is_lost = is_user and not _CHANGED.match(parsed.predicate)
    return ChineseSubject.NONE if is_lost else parsed.subject


def _carried_topic(parsed: ChineseClause, items: Sequence[ExtractedItem]) -> str:
    """Return the relative or pet of a clause, as the topic of the next one."""
    if _RENAMED.search(parsed.whole):
        return ""
    if parsed.kin:
        return parsed.kin
    if not any(item.key.startswith("relationship.") for item in items):
        return ""
    named = _SOMEBODY.findall(parsed.whole)
    return str(named[-1]) if named else ""


def _apply_corrections(clauses: Sequence[MessageClause]) -> list[MessageClause]:
    """Return clauses with "not A, but B" joined: 我的生日不是3号，是4号 → 我的生日是4号."""
    corrected: list[MessageClause] = []
    for clause in clauses:
        continues = bool(corrected) and not clause.opens_sentence
        joined = _join_correction(corrected[-1], clause) if continues else None
        if joined:
            corrected[-1] = joined
        else:
            corrected.append(_apply_inner_correction(clause))
    return corrected


def _join_correction(first: MessageClause, clause: MessageClause) -> MessageClause | None:
    """Return two clauses joined into one, if the second completes the first."""
    if medication.is_medicine(first.text) and medication.is_dose(clause.text):
        return _with_text(first, clause, f"{first.text} {clause.text}")
    if _BIRTHDAY_OPEN.search(first.text) and _DAY_ONLY.match(clause.text):
        return _with_text(first, clause, f"我的生日是{_DAY_ONLY.sub('', clause.text)}")
    before, but = _NOT_BUT.match(first.text), _BUT.match(clause.text)
    if not before or not but:
        return None
    verb = "是" if before["verb"] in {"是", "在", "对"} else before["verb"]
    return _with_text(first, clause, f"{before['head']}{verb}{but['new']}")


def _apply_inner_correction(clause: MessageClause) -> MessageClause:
    inside, but_not = _NOT_BUT_INSIDE.match(clause.text), _BUT_NOT.match(clause.text)
    if inside:
        return _with_text(clause, clause, f"{inside['head']}是{inside['new']}")
    if but_not and not _HEAD_ONLY.search(but_not["head"]):
        return _with_text(clause, clause, but_not["head"])
    return clause


def _with_text(first: MessageClause, last: MessageClause, text: str) -> MessageClause:
    return replace(
        last,
        text=text,
        display_text=text,
        opens_sentence=first.opens_sentence,
        joined_from=first.start,
    )
