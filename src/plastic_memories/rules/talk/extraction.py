"""The messages of a conversation, turned into drafts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from plastic_memories.model.memory import Draft, MemoryType
from plastic_memories.model.message import Message, Role
from plastic_memories.rules.talk import en, zh
from plastic_memories.rules.talk.found import Found
from plastic_memories.rules.talk.keys import opposite
from plastic_memories.rules.talk.sentences import CJK, Clause, believable

_CHINESE = re.compile(f"[{CJK}]")
_LATIN = re.compile(r"[A-Za-z]")
_LONGEST = 4_000
_IMPORTANCE = (
    ("constraint.", 0.95),
    ("basic_info.name", 0.9),
    ("basic_info.address", 0.9),
    ("preference.reply", 0.8),
    ("basic_info.birthday", 0.8),
    ("relationship.", 0.7),
    ("basic_info.", 0.7),
    ("birthday.", 0.8),
    ("anniversary.", 0.8),
    ("life_event.", 0.8),
    ("achievement.", 0.7),
    ("emotional.", 0.7),
    ("plan.", 0.6),
    ("preference.favorite", 0.6),
    ("preference.", 0.5),
    ("personality.", 0.5),
)


def extract(talk: Sequence[Message], time_zone: str = "UTC") -> list[Draft]:
    """Propose drafts from what the user says of themself, in the order of the talk.

    Dates are counted from each message's own time in the user's time zone. Of two
    statements with one key the later holds.
    """
    zone = _zone(time_zone)
    drafts: dict[tuple[MemoryType, str], Draft] = {}
    for message in talk:
        if message.role is not Role.USER:
            continue
        for clause, found in _found(message, zone):
            draft = _draft(message, clause, found)
            # Taken out first, so that the later statement also takes the later place.
            drafts.pop((draft.type, draft.key), None)
            drafts.pop((draft.type, opposite(draft.key) or draft.key), None)
            drafts[draft.type, draft.key] = draft
    return list(drafts.values())


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def _found(message: Message, zone: tzinfo) -> Iterator[tuple[Clause, Found]]:
    content = message.content[:_LONGEST]
    now = datetime.fromtimestamp(message.ts, zone)
    clauses = list(believable(content))
    if _CHINESE.search(content):
        yield from zh.find(clauses, now)
    if _LATIN.search(content):
        yield from en.find(clauses, now)


def _draft(message: Message, clause: Clause, found: Found) -> Draft:
    return Draft(
        type=found.type,
        key=found.key,
        content=found.content,
        realm=message.realm,
        source_app=message.source_app,
        bot_id=message.bot_id,
        session_id=message.session_id,
        branch_id=message.branch_id,
        speaker=message.speaker,
        source_message_ids=(message.id,) if message.id else (),
        quote=clause.quote,
        occurred_at=message.ts,
        confidence=found.confidence,
        importance=next(
            (weight for part, weight in _IMPORTANCE if found.key.startswith(part)), 0.5
        ),
        attributes={"value": found.value, **found.attributes},
    )
