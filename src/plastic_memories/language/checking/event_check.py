"""Check a proposed event against the user's words, and date it by the rules."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from typing import Any

from plastic_memories.language.checking.clause_polarity import (
    ClauseSubject,
    clause_subject,
    is_negated,
)
from plastic_memories.language.checking.draft_building import (
    CheckedWindow,
    ProvenItem,
    build_proven_draft,
    first_text_field,
)
from plastic_memories.language.checking.quote_evidence import (
    QuoteEvidence,
    contains_value,
    item_evidence,
)
from plastic_memories.language.checking.reply_parsing import Item
from plastic_memories.language.checking.vocabulary import named_kin
from plastic_memories.language.dates import mentions
from plastic_memories.language.dates.mentions import DatePreference, DateSpan
from plastic_memories.language.reading.clauses import MessageClause
from plastic_memories.language.reading.memory_keys import slug
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.model.memory import Draft, MemoryType

EVENT_TYPES = (
    "birthday",
    "anniversary",
    "achievement",
    "life_event",
    "emotional",
    "plan",
    "memory",
)
EMOTIONS = ("positive", "negative", "neutral", "excited", "sad", "anxious")
RECURRENCES = ("yearly", "monthly", "weekly", "daily")
_YEARLY_TYPES = regex(r"每|every|each|yearly|monthly|weekly|daily|annual", re.IGNORECASE)
_CUE_WORDS = {
    "birthday": regex(r"生日|出生|birthday|born", re.IGNORECASE),
    "anniversary": regex(r"纪念日|周年|anniversary", re.IGNORECASE),
}
_MAX_TITLE_CHARS = 60
_DEFAULT_TYPE = "memory"


def check_event(item: Item, talk: CheckedWindow) -> Draft | str:
    """Return the draft of an event that the quote proves, or the reason for rejecting it."""
    kind = first_text_field(item, "event_type", "type").lower().replace(" ", "_")
    kind = kind if kind in EVENT_TYPES else _DEFAULT_TYPE
    evidence = item_evidence(item, first_text_field(item, "title"), talk.messages)
    if isinstance(evidence, str):
        return evidence
    known = [d for d in talk.rule_drafts_for(evidence, evidence.clauses) if _is_dated(d)]
    return known[0] if known else _new_event(item, kind, talk.message_time(evidence), evidence)


def _new_event(item: Item, kind: str, now: datetime, evidence: QuoteEvidence) -> Draft | str:
    title = first_text_field(item, "title")
    clause = next(
        (c for c in evidence.clauses if contains_value(c.quote, title)), evidence.clauses[0]
    )
    if clause_subject(clause.text) is ClauseSubject.OTHER:
        return "about somebody else"
    if is_negated(clause.text):
        return "denied"
    make = _yearly_event if kind in _CUE_WORDS else _event_draft
    return make(item, kind, now, evidence, clause)


def _is_dated(draft: Draft) -> bool:
    return draft.type is MemoryType.EVENT or draft.key == "basic_info.birthday"


def _yearly_event(
    item: Item, kind: str, now: datetime, evidence: QuoteEvidence, clause: MessageClause
) -> Draft | str:
    """Return a yearly event: a relative's birthday or an anniversary."""
    day = mentions.lunar_date(clause.text) or mentions.calendar_date(clause.text, now.date())
    if day is None or not _CUE_WORDS[kind].search(clause.text):
        return "no date in the quote"
    kin = sorted(named_kin(clause.text))
    if kind == "birthday" and not kin:
        return "about somebody else"
    title = _event_title(item, clause)
    attributes = _event_attributes(item, kind, title) | {"recurrence": "yearly"}
    attributes["date_text" if isinstance(day, str) else "date"] = str(day)
    key = f"birthday.{kin[0]}" if kind == "birthday" else f"anniversary.{slug(title)}"
    point = ProvenItem(MemoryType.EVENT, key, str(day), _event_subject(clause), attributes)
    return build_proven_draft(point, item, evidence, clause)


def _event_draft(
    item: Item, kind: str, now: datetime, evidence: QuoteEvidence, clause: MessageClause
) -> Draft:
    title = _event_title(item, clause)
    span, said = _event_dates(item, kind, now, evidence, clause)
    if span and kind == "plan" and span.end < now.date():
        kind = "memory"
    attributes = _event_attributes(item, kind, title)
    if span:
        attributes |= {"date": span.start.isoformat(), "date_text": said}
        if not span.is_day:
            attributes["end_date"] = span.end.isoformat()
    if (
        often := first_text_field(item, "recurrence").lower()
    ) in RECURRENCES and _YEARLY_TYPES.search(clause.text):
        attributes["recurrence"] = often
    date = str(attributes.get("date", ""))
    key = ".".join(part for part in (kind, date, slug(title)) if part)
    whom = _event_subject(clause) if span else ClauseSubject.UNCLEAR
    point = ProvenItem(MemoryType.EVENT, key, date or title, whom, attributes)
    draft = build_proven_draft(point, item, evidence, clause)
    draft = draft if draft.content else replace(draft, content=title)
    # A later reader must not take "tomorrow" for their own tomorrow.
    return replace(draft, content=f"{draft.content} ({date})") if date else draft


def _event_subject(clause: MessageClause) -> ClauseSubject:
    return (
        ClauseSubject.UNCLEAR
        if clause_subject(clause.text) is ClauseSubject.UNCLEAR
        else ClauseSubject.USER
    )


def _event_dates(
    item: Item, kind: str, now: datetime, evidence: QuoteEvidence, clause: MessageClause
) -> tuple[DateSpan | None, str]:
    """Return the dates in the clause, elsewhere in the quote, or where the model points to.

    The model's own date is never used: models are bad at date arithmetic.
    """
    lean = DatePreference.FUTURE if kind == "plan" else DatePreference.PAST
    pointed = first_text_field(item, "date_text", "date")
    said = [clause.text, *(other.text for other in evidence.clauses)]
    if pointed and contains_value(evidence.message.content, pointed):
        said.append(to_simplified(pointed))
    for text in said:
        mention = mentions.find_date(text, now, lean=lean)
        if mention:
            return mention.span, text[mention.start : mention.end]
    return None, ""


def _event_title(item: Item, clause: MessageClause) -> str:
    """Return the model's title if the user used those words, else the user's clause."""
    title = to_simplified(first_text_field(item, "title"))
    said = clause.display_text or title
    return (title if contains_value(clause.quote, title) else said)[:_MAX_TITLE_CHARS]


def _event_attributes(item: Item, kind: str, title: str) -> dict[str, Any]:
    emotion = first_text_field(item, "emotion").lower()
    return {
        "title": title,
        "event_type": kind,
        "emotion": emotion if emotion in EMOTIONS else "neutral",
    }
