"""A proposed fact about the user, checked against their own words."""

from __future__ import annotations

import re

from plastic_memories.language.checking.clause_polarity import (
    About,
    about,
    has_no_such_trouble,
    is_negated,
    is_over,
    is_passing,
    is_twice_negated,
)
from plastic_memories.language.checking.draft_building import (
    Point,
    Talk,
    draft_of,
    overlap,
    text_of,
)
from plastic_memories.language.checking.quote_evidence import Evidence, find_quote, says
from plastic_memories.language.checking.reply_parsing import Item
from plastic_memories.language.checking.vocabulary import family_of, key_for, kin_in, pet_in
from plastic_memories.language.dates import mentions
from plastic_memories.language.reading.clauses import Clause
from plastic_memories.language.reading.finding import AGES
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import simplified
from plastic_memories.model.memory import Draft, MemoryType

_LONGEST_VALUE = 60
_SAYS_NOTHING = frozenset(
    ("user", "the user", "用户", "我", "i", "me", "unknown", "none", "n/a", "null", "无", "未知")
)
# Said to somebody, about how to be treated: the user is meant without being named.
_WISHES = ("basic_info.address", "preference.reply_", "constraint.taboo")
# These say what is not liked, eaten or done: a "not" belongs to them.
_NEGATIVE = ("preference.dislike", "preference.reply_", "constraint.diet", "constraint.taboo")
# Wishes, habits and traits: the words that tell them from a passing remark are not sharp enough.
_NEEDS_A_YES = (*_WISHES, "personality.trait", "personality.habit", "basic_info.job")
# No value begins or ends like this: a piece was cut out of a sentence.
_CUT_OUT = regex(
    r"^(?:我|你|他|她|是|在|的|了|很|和|与|对|喜欢|这|那)|(?:的|了|吧|吗|呢|啊|呀|哦|我|你|他|她|它|是|在|就好)$|喜欢"
    r"|^(?:i|i'm|my|me|a|an|the|is|am|are|to|of|in|on|at|it|so|very|and|or|not|fine|sorry|back|you|this|that|what|him|her|them)$",
    re.IGNORECASE,
)
_NAMES = ("basic_info.name", "basic_info.surname")
_ONE_LETTER = ("basic_info.surname", "basic_info.gender", "basic_info.zodiac", "constraint.")
_YEAR_DIGITS = 4


def check_profile(item: Item, talk: Talk) -> Draft | str:
    """Return the draft of a fact that the quote proves, or the reason why there is none."""
    family = family_of(text_of(item, "category", "type"), text_of(item, "key", "name"))
    if family is None:
        return "unknown key"
    value = simplified(text_of(item, "value"))
    if not 0 < len(value) <= _LONGEST_VALUE or value.lower() in _SAYS_NOTHING:
        return "no value"
    evidence = find_quote(text_of(item, "quote"), talk.messages)
    if isinstance(evidence, str):
        return evidence
    if family == "basic_info.birthday":
        return _birthday(item, talk, evidence)
    clause = next((c for c in evidence.clauses if says(c.quote, value)), None)
    if clause is None:
        return "value not in the quote"
    known = _rules_on(talk, evidence, clause, family, value)
    return known or _new_fact(item, evidence, clause, family, value)


def _rules_on(
    talk: Talk, evidence: Evidence, clause: Clause, family: str, value: str
) -> Draft | str | None:
    """Return what the rules read in the same words: their draft, their veto, or nothing."""
    facts = [d for d in talk.rules_on(evidence, [clause]) if d.type is MemoryType.PROFILE]
    # A trait's key is the trait itself.
    stem = family.removesuffix(".trait")
    for draft in facts:
        same_value = overlap(str(draft.attributes.get("value", "")), value)
        same_family = draft.key == family or draft.key.startswith(f"{stem}.")
        if same_value and same_family:
            return draft
        if same_value or draft.key == family:
            return "the rules read it otherwise"
    return None


def _new_fact(
    item: Item, evidence: Evidence, clause: Clause, family: str, value: str
) -> Draft | str:
    key = key_for(family, value, clause.text)
    if key is None or not _fits(family, value):
        return "the quote does not say that"
    whom = _about(family, clause)
    if whom in (About.OTHER, About.KIN):
        return "about somebody else"
    if is_over(clause.text) or (is_passing(clause.text) and "constraint." not in family):
        return "not lasting"
    if _is_denied(family, clause.text):
        return "denied"
    if family.startswith(_NEEDS_A_YES):
        whom = About.UNCLEAR
    point = Point(MemoryType.PROFILE, key, value, whom, {})
    return draft_of(point, item, evidence, clause)


def _is_denied(family: str, clause: str) -> bool:
    if family.startswith(("constraint.allergy", "constraint.health")):
        # "I can't eat shrimp, I'm allergic" denies nothing.
        return has_no_such_trouble(clause)
    if family.startswith(_NEGATIVE):
        return is_twice_negated(clause)
    return is_negated(clause)


def _fits(family: str, value: str) -> bool:
    if family == "basic_info.age":
        return value.isdecimal() and int(value) in AGES
    if family == "basic_info.birth_year":
        return value.isdecimal() and len(value) == _YEAR_DIGITS
    if len(value) == 1 and not family.startswith(_ONE_LETTER):
        return False
    return _CUT_OUT.search(value) is None


def _about(family: str, clause: Clause) -> About:
    if family.startswith(_WISHES):
        return About.USER
    whom = about(clause.text)
    if family in _NAMES and (pet_in(clause.text) or kin_in(clause.text)):
        return About.KIN
    if family.startswith("relationship.") and whom is About.KIN:
        return About.USER
    return whom


def _birthday(item: Item, talk: Talk, evidence: Evidence) -> Draft | str:
    """The day is read from the words, not from the model."""
    known = [d for d in talk.rules_on(evidence, evidence.clauses) if "birthday" in d.key]
    if known:
        return known[0]
    today = talk.now(evidence).date()
    for clause in evidence.clauses:
        day = mentions.lunar(clause.text) or mentions.calendar_date(clause.text, today)
        if day is None or key_for("basic_info.birthday", "", clause.text) is None:
            continue
        whom = about(clause.text)
        if whom in (About.OTHER, About.KIN) or is_negated(clause.text):
            return "about somebody else"
        attributes = {"event_type": "birthday", "recurrence": "yearly"}
        attributes["date_text" if isinstance(day, str) else "date"] = str(day)
        point = Point(MemoryType.PROFILE, "basic_info.birthday", str(day), whom, attributes)
        return draft_of(point, item, evidence, clause)
    return "no date in the quote"
