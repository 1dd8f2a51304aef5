"""A draft of what a clause was found to say, with everything its message knows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from plastic_memories.language.checking.clause_polarity import About
from plastic_memories.language.checking.quote_evidence import Evidence, bare
from plastic_memories.language.reading.clauses import Clause
from plastic_memories.language.reading.finding import LIKELY, SURE
from plastic_memories.language.reading.message_reading import origin_of
from plastic_memories.language.text.chinese_variants import as_written
from plastic_memories.model.memory import Draft, MemoryType, SourceType
from plastic_memories.model.message import Message

_MOST_IMPORTANT = 10
# Whatever a model thinks of them, these are never left out.
_FLOORS = (("constraint.", 0.95), ("basic_info.name", 0.9), ("basic_info.address", 0.9))


@dataclass(frozen=True, slots=True)
class Talk:
    """The messages of a window, and what the rules read in each of them."""

    messages: Sequence[Message]
    by_rules: Sequence[Sequence[Draft]]
    zone: tzinfo

    def now(self, evidence: Evidence) -> datetime:
        """The moment a message was sent, where its user lives."""
        return datetime.fromtimestamp(evidence.message.ts, self.zone)

    def rules_on(self, evidence: Evidence, clauses: Sequence[Clause]) -> list[Draft]:
        """What the rules found in the same clauses."""
        return [
            draft
            for draft in self.by_rules[evidence.place]
            if any(overlap(draft.quote, clause.quote) for clause in clauses)
        ]


def overlap(one: str, other: str) -> bool:
    """Say whether one text is part of the other, spelling aside.

    >>> overlap("绿茶", "喝绿茶"), overlap("tea", "coffee"), overlap("", "tea")
    (True, False, False)
    """
    first, second = bare(one), bare(other)
    return bool(first and second) and (first in second or second in first)


@dataclass(frozen=True, slots=True)
class Point:
    """What one item says, once it is proven."""

    type: MemoryType
    key: str
    value: str
    about: About
    attributes: Mapping[str, Any]


def draft_of(point: Point, item: Mapping[str, Any], evidence: Evidence, clause: Clause) -> Draft:
    """Build the draft: the user's words are its content, never the model's."""
    message = evidence.message
    return Draft(
        type=point.type,
        key=point.key,
        content=as_written(clause.said, clause.quote),
        realm=message.realm,
        source_type=(
            SourceType.MODEL_INFERRED if point.about is About.UNCLEAR else SourceType.USER_EXPLICIT
        ),
        quote=clause.quote,
        **origin_of(message),
        confidence=_confidence(item),
        importance=_importance(item, point.key),
        attributes={"value": as_written(point.value, clause.quote), **point.attributes},
    )


def _confidence(item: Mapping[str, Any]) -> float:
    given = number(item.get("confidence"))
    return LIKELY if given is None else min(max(given, 0.0), SURE)


def _importance(item: Mapping[str, Any], key: str) -> float:
    given = number(item.get("importance"))
    scaled = 0.5 if given is None else min(max(given / _MOST_IMPORTANT, 0.0), 1.0)
    floor = next((weight for part, weight in _FLOORS if key.startswith(part)), 0.0)
    return max(scaled, floor)


def number(value: object) -> float | None:
    """Read a number, also from text; None for what is none.

    >>> number("7"), number(True), number("much"), number(float("nan"))
    (7.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def text_of(item: Mapping[str, Any], *names: str) -> str:
    """Return the first of these fields that holds text or a number, as text."""
    for name in names:
        value = item.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
    return ""
