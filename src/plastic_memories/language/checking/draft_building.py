"""Build a draft from a proven item, its clause and its message."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from plastic_memories.language.checking.clause_polarity import ClauseSubject
from plastic_memories.language.checking.quote_evidence import QuoteEvidence, letters_and_digits
from plastic_memories.language.reading.clauses import MessageClause
from plastic_memories.language.reading.finding import CERTAIN_CONFIDENCE, LIKELY_CONFIDENCE
from plastic_memories.language.reading.message_reading import draft_origin
from plastic_memories.language.text.chinese_variants import restore_script
from plastic_memories.model.memory import Draft, MemoryType, SourceType
from plastic_memories.model.message import Message

_MAX_IMPORTANCE = 10
# Minimum importance by key, whatever the model proposes.
_IMPORTANCE_FLOORS = (("constraint.", 0.95), ("basic_info.name", 0.9), ("basic_info.address", 0.9))


@dataclass(frozen=True, slots=True)
class CheckedWindow:
    """The messages of a window, and what the rules extracted from each."""

    messages: Sequence[Message]
    rule_drafts: Sequence[Sequence[Draft]]
    zone: tzinfo

    def message_time(self, evidence: QuoteEvidence) -> datetime:
        """Return when the message was sent, in the user's time zone."""
        return datetime.fromtimestamp(evidence.message.ts, self.zone)

    def rule_drafts_for(
        self, evidence: QuoteEvidence, clauses: Sequence[MessageClause]
    ) -> list[Draft]:
        """Return the drafts that the rules extracted from the same clauses."""
        return [
            draft
            for draft in self.rule_drafts[evidence.place]
            if any(texts_overlap(draft.quote, clause.quote) for clause in clauses)
        ]


def texts_overlap(one: str, other: str) -> bool:
    """Return whether one text contains the other, ignoring spelling variants.

    >>> texts_overlap("绿茶", "喝绿茶"), texts_overlap("tea", "coffee"), texts_overlap("", "tea")
    (True, False, False)
    """
    first, second = letters_and_digits(one), letters_and_digits(other)
    return bool(first and second) and (first in second or second in first)


@dataclass(frozen=True, slots=True)
class ProvenItem:
    """Key, value and content of one item that the quote proves."""

    type: MemoryType
    key: str
    value: str
    about: ClauseSubject
    attributes: Mapping[str, Any]


def build_proven_draft(
    point: ProvenItem, item: Mapping[str, Any], evidence: QuoteEvidence, clause: MessageClause
) -> Draft:
    """Return the draft; its content is the user's words, never the model's."""
    message = evidence.message
    return Draft(
        type=point.type,
        key=point.key,
        content=restore_script(clause.display_text, clause.quote),
        realm=message.realm,
        source_type=(
            SourceType.MODEL_INFERRED
            if point.about is ClauseSubject.UNCLEAR
            else SourceType.USER_EXPLICIT
        ),
        quote=clause.quote,
        **draft_origin(message),
        confidence=_confidence(item),
        importance=_importance(item, point.key),
        attributes={"value": restore_script(point.value, clause.quote), **point.attributes},
    )


def _confidence(item: Mapping[str, Any]) -> float:
    given = parse_number(item.get("confidence"))
    return LIKELY_CONFIDENCE if given is None else min(max(given, 0.0), CERTAIN_CONFIDENCE)


def _importance(item: Mapping[str, Any], key: str) -> float:
    given = parse_number(item.get("importance"))
    scaled = 0.5 if given is None else min(max(given / _MAX_IMPORTANCE, 0.0), 1.0)
    floor = next((weight for part, weight in _IMPORTANCE_FLOORS if key.startswith(part)), 0.0)
    return max(scaled, floor)


def parse_number(value: object) -> float | None:
    """Return a value as a number, also from text; None if it is not one.

    >>> parse_number("7"), parse_number(True), parse_number("much"), parse_number(float("nan"))
    (7.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def first_text_field(item: Mapping[str, Any], *names: str) -> str:
    """Return the first of these fields that has text or a number, as text."""
    for name in names:
        value = item.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
    return ""
