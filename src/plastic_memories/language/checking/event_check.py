"""A proposed event, checked against the user's words and dated by the rules."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from typing import Any

from plastic_memories.language.checking.clause_polarity import About, about, is_negated
from plastic_memories.language.checking.draft_building import Point, Talk, draft_of, text_of
from plastic_memories.language.checking.quote_evidence import Evidence, find_quote, says
from plastic_memories.language.checking.reply_parsing import Item
from plastic_memories.language.checking.vocabulary import kin_in
from plastic_memories.language.dates import mentions
from plastic_memories.language.dates.mentions import DateSpan, Lean
from plastic_memories.language.reading.clauses import Clause
from plastic_memories.language.reading.memory_keys import slug
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import simplified
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
_REPEATS = regex(r"每|every|each|yearly|monthly|weekly|daily|annual", re.IGNORECASE)
_CUE = {
    "birthday": regex(r"生日|出生|birthday|born", re.IGNORECASE),
    "anniversary": regex(r"纪念日|周年|anniversary", re.IGNORECASE),
}
_LONGEST_TITLE = 60


def check_event(item: Item, talk: Talk) -> Draft | str:
    """Return the draft of an event that the quote proves, or the reason why there is none."""
    kind = text_of(item, "event_type", "type").lower().replace(" ", "_")
    if kind not in EVENT_TYPES:
        return "unknown event type"
    evidence = find_quote(text_of(item, "quote"), talk.messages)
    if isinstance(evidence, str):
        return evidence
    known = [d for d in talk.rules_on(evidence, evidence.clauses) if _is_dated(d)]
    return known[0] if known else _new_event(item, kind, talk.now(evidence), evidence)


def _new_event(item: Item, kind: str, now: datetime, evidence: Evidence) -> Draft | str:
    title = text_of(item, "title")
    clause = next((c for c in evidence.clauses if says(c.quote, title)), evidence.clauses[0])
    if about(clause.text) is About.OTHER:
        return "about somebody else"
    if is_negated(clause.text):
        return "denied"
    make = _yearly if kind in _CUE else _event
    return make(item, kind, now, evidence, clause)


def _is_dated(draft: Draft) -> bool:
    return draft.type is MemoryType.EVENT or draft.key == "basic_info.birthday"


def _yearly(
    item: Item, kind: str, now: datetime, evidence: Evidence, clause: Clause
) -> Draft | str:
    """A birthday of somebody near, or an anniversary: a day of the year."""
    day = mentions.lunar(clause.text) or mentions.calendar_date(clause.text, now.date())
    if day is None or not _CUE[kind].search(clause.text):
        return "no date in the quote"
    kin = sorted(kin_in(clause.text))
    if kind == "birthday" and not kin:
        return "about somebody else"
    title = _title(item, clause)
    attributes = _attributes(item, kind, title) | {"recurrence": "yearly"}
    attributes["date_text" if isinstance(day, str) else "date"] = str(day)
    key = f"birthday.{kin[0]}" if kind == "birthday" else f"anniversary.{slug(title)}"
    point = Point(MemoryType.EVENT, key, str(day), _whom(clause), attributes)
    return draft_of(point, item, evidence, clause)


def _event(item: Item, kind: str, now: datetime, evidence: Evidence, clause: Clause) -> Draft:
    title = _title(item, clause)
    span, said = _when(item, kind, now, evidence, clause)
    if span and kind == "plan" and span.end < now.date():
        kind = "memory"
    attributes = _attributes(item, kind, title)
    if span:
        attributes |= {"date": span.start.isoformat(), "date_text": said}
        if not span.is_day:
            attributes["end_date"] = span.end.isoformat()
    if (often := text_of(item, "recurrence").lower()) in RECURRENCES and _REPEATS.search(
        clause.text
    ):
        attributes["recurrence"] = often
    date = str(attributes.get("date", ""))
    key = ".".join(part for part in (kind, date, slug(title)) if part)
    whom = _whom(clause) if span else About.UNCLEAR
    point = Point(MemoryType.EVENT, key, date or title, whom, attributes)
    draft = draft_of(point, item, evidence, clause)
    # Whoever reads it later must not take "tomorrow" for their own.
    return replace(draft, content=f"{draft.content} ({date})") if date else draft


def _whom(clause: Clause) -> About:
    return About.UNCLEAR if about(clause.text) is About.UNCLEAR else About.USER


def _when(
    item: Item, kind: str, now: datetime, evidence: Evidence, clause: Clause
) -> tuple[DateSpan | None, str]:
    """Find the days in the clause, beside it in the quote, or where the model points to.

    What the model takes for the date itself is never used: models count badly.
    """
    lean = Lean.FUTURE if kind == "plan" else Lean.PAST
    pointed = text_of(item, "date_text", "date")
    said = [clause.text, *(other.text for other in evidence.clauses)]
    if pointed and says(evidence.message.content, pointed):
        said.append(simplified(pointed))
    for text in said:
        mention = mentions.find(text, now, lean=lean)
        if mention:
            return mention.span, text[mention.start : mention.end]
    return None, ""


def _title(item: Item, clause: Clause) -> str:
    """The model's title if the user said it so, else the user's clause."""
    title = simplified(text_of(item, "title"))
    return (title if says(clause.quote, title) else clause.said)[:_LONGEST_TITLE]


def _attributes(item: Item, kind: str, title: str) -> dict[str, Any]:
    emotion = text_of(item, "emotion").lower()
    return {
        "title": title,
        "event_type": kind,
        "emotion": emotion if emotion in EMOTIONS else "neutral",
    }
