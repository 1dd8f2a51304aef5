"""Check a proposed fact about the user against their own words."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

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
    item_evidence,
)
from plastic_memories.language.checking.reply_parsing import Item
from plastic_memories.language.checking.vocabulary import (
    key_family,
    key_for,
    named_kin,
    named_pet,
    unproven_key,
)
from plastic_memories.language.dates import mentions
from plastic_memories.language.reading.clauses import MessageClause
from plastic_memories.language.reading.finding import PLAUSIBLE_AGES
from plastic_memories.language.reading.memory_keys import slug
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.model.memory import Draft, MemoryType

_MAX_VALUE_CHARS = 120
_EMPTY_VALUES = frozenset(
    ("user", "the user", "用户", "我", "i", "me", "unknown", "none", "n/a", "null", "无", "未知")
)
# Requests about how to be treated: the user is meant without being named.
_WISHES = (
    "basic_info.address",
    "preference.reply_",
    "constraint.taboo",
    "relationship.with_persona.",
)
# These state what the user dislikes, avoids or forbids: a negation belongs to them.
_NEGATIVE = ("preference.dislike", "preference.reply_", "constraint.diet", "constraint.taboo")
# Wishes, habits and traits: their cue words do not separate them well from passing remarks.
_NEEDS_CONFIRMATION = (*_WISHES, "personality.trait", "personality.habit", "basic_info.job")
# Names and numbers are stated, never concluded.
_ONLY_LITERAL = (
    "basic_info.name",
    "basic_info.surname",
    "basic_info.nickname",
    "basic_info.english_name",
    "basic_info.address",
    "basic_info.age",
    "basic_info.birth",
)
# True from the moment it is said, also if that moment is named.
_LASTING_AT_ONCE = ("constraint.", "relationship.with_persona.", "preference.reply_")
# A value that begins or ends like this is a fragment of a sentence.
_CUT_OUT = regex(
    r"^(?:我|你|他|她|是|在|的|了|很|和|与|对|喜欢|这|那)|(?:的|了|吧|吗|呢|啊|呀|哦|我|你|他|她|它|是|在|就好)$|喜欢"
    r"|^(?:i|i'm|my|me|a|an|the|is|am|are|to|of|in|on|at|it|so|very|and|or|not|fine|sorry|back|you|this|that|what|him|her|them)$",
    re.IGNORECASE,
)
_NAMES = ("basic_info.name", "basic_info.surname")
_ONE_LETTER = ("basic_info.surname", "basic_info.gender", "basic_info.zodiac", "constraint.")
_YEAR_DIGITS = 4


@dataclass(frozen=True, slots=True)
class ProposedFact:
    """One item of a model, with the user's words that are its evidence."""

    item: Item
    family: str
    value: str
    evidence: QuoteEvidence
    clause: MessageClause


def check_profile(item: Item, talk: CheckedWindow) -> Draft | str:
    """Return the draft of a fact that the user's words support, or the reason for rejecting it.

    The quote is the proof. What it says literally is the user's own statement; what the model
    concludes from it waits for the user's yes.
    """
    value = to_simplified(first_text_field(item, "value"))
    if not 0 < len(value) <= _MAX_VALUE_CHARS or value.lower() in _EMPTY_VALUES:
        return "no value"
    evidence = item_evidence(item, value, talk.messages)
    if isinstance(evidence, str):
        return evidence
    family = key_family(
        first_text_field(item, "category", "type"), first_text_field(item, "key", "name")
    )
    if family == "basic_info.birthday":
        return _birthday_draft(item, talk, evidence)
    stated = next((c for c in evidence.clauses if contains_value(c.quote, value)), None)
    found = ProposedFact(item, family, value, evidence, stated or evidence.clauses[0])
    known = _rule_decision(talk, found)
    if known is not None:
        return known
    reason = _contradiction(found)
    if reason is not None:
        return reason
    return _stated_fact(found) if stated else _conclusion(found)


def _rule_decision(talk: CheckedWindow, found: ProposedFact) -> Draft | str | None:
    """Return what the rules say about the same words: a draft, a veto, or None."""
    drafts = talk.rule_drafts_for(found.evidence, [found.clause])
    facts = [draft for draft in drafts if draft.type is MemoryType.PROFILE]
    # The trait itself is the last part of its key.
    stem = found.family.removesuffix(".trait")
    for draft in facts:
        same_value = texts_overlap(str(draft.attributes.get("value", "")), found.value)
        same_family = draft.key == found.family or draft.key.startswith(f"{stem}.")
        if same_value and same_family:
            return draft
        if same_value or same_family:
            return "the rules read it otherwise"
    return None


def _contradiction(found: ProposedFact) -> str | None:
    """Return why the clause speaks against the fact, or None."""
    clause, family = found.clause.text, found.family
    if _fact_subject(family, found.clause) is ClauseSubject.OTHER:
        return "about somebody else"
    if is_temporary(clause) and not family.startswith(_LASTING_AT_ONCE):
        return "not lasting"
    return "denied" if _is_denied(family, clause) else None


def _stated_fact(found: ProposedFact) -> Draft | str:
    """Return the draft of a value that stands in the user's own words."""
    family, value, clause = found.family, found.value, found.clause
    whom = _fact_subject(family, clause)
    if whom is ClauseSubject.KIN or is_past(clause.text):
        return _note(found)
    key = key_for(family, value, clause.text)
    if key is None or not _is_value_plausible(family, value):
        return _conclusion(found)
    if family.startswith(_NEEDS_CONFIRMATION):
        whom = ClauseSubject.UNCLEAR
    return _build_draft(found, ProvenItem(MemoryType.PROFILE, key, value, whom, {}))


def _note(found: ProposedFact) -> Draft:
    """Return a literal note: about the user's people, or how things once were."""
    key = f"talk.{slug(found.clause.text)}"
    point = ProvenItem(MemoryType.NOTE, key, found.value, ClauseSubject.USER, {})
    return _build_draft(found, point)


def _conclusion(found: ProposedFact) -> Draft | str:
    """Return the candidate of what the model concludes beyond the user's words."""
    if found.family.startswith(_ONLY_LITERAL) or not _is_value_plausible(found.family, found.value):
        return "the quote does not say that"
    key = unproven_key(found.family, found.value)
    point = ProvenItem(MemoryType.PROFILE, key, found.value, ClauseSubject.UNCLEAR, {})
    draft = _build_draft(found, point)
    if contains_value(draft.content, found.value):
        return draft
    return replace(draft, content=f"{found.value} ({draft.content or found.family})")


def _build_draft(found: ProposedFact, point: ProvenItem) -> Draft:
    return build_proven_draft(point, found.item, found.evidence, found.clause)


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
