"""One message, read: what the rules find in it, and the drafts they make of that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from plastic_memories.language.dates import mentions
from plastic_memories.language.reading.chinese import chinese_reader
from plastic_memories.language.reading.clauses import CJK, Clause, believable
from plastic_memories.language.reading.english import english_reader
from plastic_memories.language.reading.finding import Found
from plastic_memories.language.reading.injected_text import without_our_lines
from plastic_memories.language.reading.memory_keys import opposite
from plastic_memories.language.reading.realm_detection import realm_of, spoken_by_the_player
from plastic_memories.language.text.chinese_variants import as_written
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.tokens import READ_CHARS
from plastic_memories.model.memory import Draft, MemoryType
from plastic_memories.model.message import Message
from plastic_memories.model.owner import Realm

_CHINESE = regex(f"[{CJK}]")
_LATIN = regex(r"[A-Za-z]")
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


def zone_of(name: str) -> tzinfo:
    """Return a time zone by its name; one nobody knows is UTC."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def drafts_in(message: Message, zone: tzinfo) -> Iterator[Draft]:
    """Yield what one message says of its speaker, as if that were the user."""
    realm = realm_of(message.content, message.realm)
    now = datetime.fromtimestamp(message.ts, zone)
    for clause, found in found_in(message, now, realm):
        yield draft_of(message, clause, found, now, realm)


def found_in(message: Message, now: datetime, realm: Realm) -> Iterator[tuple[Clause, Found]]:
    """Yield what the rules of both languages find, clause by clause."""
    content = without_our_lines(message.content[:READ_CHARS])
    if realm is Realm.OOC:
        content = spoken_by_the_player(content)
    clauses = list(believable(content, in_story=realm is Realm.STORY))
    if _CHINESE.search(content):
        yield from chinese_reader.find(clauses, now)
    if _LATIN.search(content):
        yield from english_reader.find(clauses, now)


def draft_of(message: Message, clause: Clause, found: Found, now: datetime, realm: Realm) -> Draft:
    # An event's sentence carries its date already.
    is_event = found.type is MemoryType.EVENT
    content = found.content if is_event else mentions.settled(found.content, now)
    value = as_written(found.value, clause.quote)
    return Draft(
        type=found.type,
        key=found.key,
        content=as_written(content, clause.quote),
        realm=realm,
        quote=clause.quote,
        **origin_of(message),
        confidence=found.confidence,
        importance=_importance(found.key),
        attributes={"value": value, **found.attributes},
    )


def origin_of(message: Message) -> dict[str, Any]:
    """Return what a draft takes over from the message it was found in."""
    return {
        "source_app": message.source_app,
        "bot_id": message.bot_id,
        "session_id": message.session_id,
        "branch_id": message.branch_id,
        "speaker": message.speaker,
        "source_message_ids": (message.id,) if message.id else (),
        "occurred_at": message.ts,
    }


def _importance(key: str) -> float:
    return next((weight for part, weight in _IMPORTANCE if key.startswith(part)), 0.5)


def latest(drafts: Iterable[Draft]) -> list[Draft]:
    """Of two statements with one key keep the later, and of a like and a dislike as well.

    What is said in a story does not touch what is said of the user.
    """
    kept: dict[tuple[Realm, MemoryType, str], Draft] = {}
    for draft in drafts:
        # Taken out first, so that the later statement also takes the later place.
        kept.pop((draft.realm, draft.type, draft.key), None)
        kept.pop((draft.realm, draft.type, opposite(draft.key) or draft.key), None)
        kept[draft.realm, draft.type, draft.key] = draft
    return list(kept.values())
