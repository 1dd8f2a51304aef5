"""Check a proposed fact about the user against their own words."""

from __future__ import annotations

import re

from plastic_memories.language.checking.clause_polarity import (
    ClauseSubject,
    clause_subject,
    denies_illness,
    is_dislike_denied,
    is_negated,
    is_past,
    is_temporary,
)
from plastic_memories.language.checking.draft_building import (
    CheckedWindow,
    ProvenItem,
    build_proven_draft,
    first_text_field,
    texts_overlap,
)
from plastic_memories.language.checking.quote_evidence import (
    QuoteEvidence,
    contains_value,
    find_quote,
)
from plastic_memories.language.checking.reply_parsing import Item
from plastic_memories.language.checking.vocabulary import key_family, key_for, named_kin, named_pet
from plastic_memories.language.dates import mentions
from plastic_memories.language.reading.clauses import MessageClause
from plastic_memories.language.reading.finding import PLAUSIBLE_AGES
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.model.memory import Draft, MemoryType

_MAX_VALUE_CHARS = 60
_EMPTY_VALUES = frozenset(
    ("user", "the user", "用户", "我", "i", "me", "unknown", "none", "n/a", "null", "无", "未知")
)
# Requests about how to be treated: the user is meant without being named.
_WISHES = ("basic_info.address", "preference.reply_", "constraint.taboo")
# These state what the user dislikes, avoids or forbids: a negation belongs to them.
_NEGATIVE = ("preference.dislike", "preference.reply_", "constraint.diet", "constraint.taboo")
# Wishes, habits and traits: their cue words do not separate them well from passing remarks.
_NEEDS_CONFIRMATION = (*_WISHES, "personality.trait", "personality.habit", "basic_info.job")
# A value that begins or ends like this is a fragment of a sentence.
_CUT_OUT = regex(
    r"^(?:我|你|他|她|是|在|的|了|很|和|与|对|喜欢|这|那)|(?:的|了|吧|吗|呢|啊|呀|哦|我|你|他|她|它|是|在|就好)$|喜欢"
    r"|^(?:i|i'm|my|me|a|an|the|is|am|are|to|of|in|on|at|it|so|very|and|or|not|fine|sorry|back|you|this|that|what|him|her|them)$",
    re.IGNORECASE,
)
_NAMES = ("basic_info.name", "basic_info.surname")
_ONE_LETTER = ("basic_info.surname", "basic_info.gender", "basic_info.zodiac", "constraint.")
_YEAR_DIGITS = 4


def check_profile(item: Item, talk: CheckedWindow) -> Draft | str:
    """Return the draft of a fact that the quote proves, or the reason for rejecting it."""
    family = key_family(
        first_text_field(item, "category", "type"), first_text_field(item, "key", "name")
    )
    if family is None:
        return "unknown key"
    value = to_simplified(first_text_field(item, "value"))
    if not 0 < len(value) <= _MAX_VALUE_CHARS or value.lower() in _EMPTY_VALUES:
        return "no value"
    evidence = find_quote(first_text_field(item, "quote"), talk.messages)
    if isinstance(evidence, str):
        return evidence
    if family == "basic_info.birthday":
        return _birthday_draft(item, talk, evidence)
    clause = next((c for c in evidence.clauses if contains_value(c.quote, value)), None)
    if clause is None:
        return "value not in the quote"
    known = _rule_decision(talk, evidence, clause, family, value)
    return known or _new_fact(item, evidence, clause, family, value)


def _rule_decision(
    talk: CheckedWindow, evidence: QuoteEvidence, clause: MessageClause, family: str, value: str
) -> Draft | str | None:
    """Return what the rules say about the same words: a draft, a veto, or None."""
    facts = [d for d in talk.rule_drafts_for(evidence, [clause]) if d.type is MemoryType.PROFILE]
    # The trait itself is the last part of its key.
    stem = family.removesuffix(".trait")
    for draft in facts:
        same_value = texts_overlap(str(draft.attributes.get("value", "")), value)
        same_family = draft.key == family or draft.key.startswith(f"{stem}.")
        if same_value and same_family:
            return draft
        if same_value or draft.key == family:
            return "the rules read it otherwise"
    return None


def _new_fact(
    item: Item, evidence: QuoteEvidence, clause: MessageClause, family: str, value: str
) -> Draft | str:
    key = key_for(family, value, clause.text)
    if key is None or not _is_value_plausible(family, value):
        return "the quote does not say that"
    whom = _fact_subject(family, clause)
    if whom in (ClauseSubject.OTHER, ClauseSubject.KIN):
        return "about somebody else"
    if is_past(clause.text) or (is_temporary(clause.text) and "constraint." not in family):
        return "not lasting"
    if _is_denied(family, clause.text):
        return "denied"
    if family.startswith(_NEEDS_CONFIRMATION):
        whom = ClauseSubject.UNCLEAR
    point = ProvenItem(MemoryType.PROFILE, key, value, whom, {})
    return build_proven_draft(point, item, evidence, clause)


def _is_denied(family: str, clause: str) -> bool:
    if family.startswith(("constraint.allergy", "constraint.health")):
        # "I can't eat shrimp, I'm allergic" denies nothing.
        return denies_illness(clause)
    if family.startswith(_NEGATIVE):
        return is_dislike_denied(clause)
    return is_negated(clause)


def _is_value_plausible(family: str, value: str) -> bool:
    if family == "basic_info.age":
        return value.isdecimal() and int(value) in PLAUSIBLE_AGES
    if family == "basic_info.birth_year":
        return value.isdecimal() and len(value) == _YEAR_DIGITS
    if len(value) == 1 and not family.startswith(_ONE_LETTER):
        return False
    return _CUT_OUT.search(value) is None


def _fact_subject(family: str, clause: MessageClause) -> ClauseSubject:
    if family.startswith(_WISHES):
        return ClauseSubject.USER
    whom = clause_subject(clause.text)
    if family in _NAMES and (named_pet(clause.text) or named_kin(clause.text)):
        return ClauseSubject.KIN
    if family.startswith("relationship.") and whom is ClauseSubject.KIN:
        return ClauseSubject.USER
    return whom


def _birthday_draft(item: Item, talk: CheckedWindow, evidence: QuoteEvidence) -> Draft | str:
    """Return the birthday as read from the user's words, not from the model."""
    known = [d for d in talk.rule_drafts_for(evidence, evidence.clauses) if "birthday" in d.key]
    if known:
        return known[0]
    today = talk.message_time(evidence).date()
    for clause in evidence.clauses:
        day = mentions.lunar_date(clause.text) or mentions.calendar_date(clause.text, today)
        if day is None or key_for("basic_info.birthday", "", clause.text) is None:
            continue
        whom = clause_subject(clause.text)
        if whom in (ClauseSubject.OTHER, ClauseSubject.KIN) or is_negated(clause.text):
            return "about somebody else"
        attributes = {"event_type": "birthday", "recurrence": "yearly"}
        attributes["date_text" if isinstance(day, str) else "date"] = str(day)
        point = ProvenItem(MemoryType.PROFILE, "basic_info.birthday", str(day), whom, attributes)
        return build_proven_draft(point, item, evidence, clause)
    return "no date in the quote"
