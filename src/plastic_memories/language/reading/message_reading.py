"""Extract the drafts of one message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from functools import lru_cache
from typing import Any

from plastic_memories.language.dates import mentions
from plastic_memories.language.reading.chinese import chinese_reader
from plastic_memories.language.reading.clauses import MessageClause, believable_clauses
from plastic_memories.language.reading.english import english_reader
from plastic_memories.language.reading.finding import ExtractedItem
from plastic_memories.language.reading.injected_text import without_injected_lines
from plastic_memories.language.reading.memory_keys import opposite_key
from plastic_memories.language.reading.realm_detection import detect_realm, without_ooc_marks
from plastic_memories.language.reading.typed.clause_breaks import CJK
from plastic_memories.language.reading.typed.turn_before import answer_as_statement, is_about_others
from plastic_memories.language.text.chinese_variants import restore_script
from plastic_memories.language.text.lazy_regex import at_start, regex
from plastic_memories.language.text.tokens import READ_CHARS
from plastic_memories.model.memory import Draft, MemoryType
from plastic_memories.model.message import Message
from plastic_memories.model.owner import Realm

_CHINESE = regex(f"[{CJK}]")
_ENGLISH_WORDS = at_start(rf"(?=[^A-Za-z]*+[A-Za-z][\w'-]*+ \W*+[A-Za-z])[^{CJK}]+")
_LATIN = regex(r"[A-Za-z]")
# A message is read for what the rules know, for what they do not, at once, and in the digest.
_LAST_READ = 128
_Reading = tuple[Realm, Sequence[MessageClause], Sequence[tuple[MessageClause, ExtractedItem]]]
_IMPORTANCE_BY_PREFIX = (
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


@dataclass(frozen=True, slots=True)
class ReadClause:
    """A clause in which a user states something, and what the rules read in it.

    `text` is literally `message.content[start:end]`. No findings: no rule can read it.
    """

    message: Message
    text: str
    start: int
    end: int
    realm: Realm
    findings: tuple[Draft, ...] = ()


def read_clauses(message: Message, zone: tzinfo, before: str = "") -> list[ReadClause]:
    """Return the clauses of one message that state something, as if its speaker were the user.

    `before` is what the other side said just before.
    """
    now = datetime.fromtimestamp(message.ts, zone)
    realm, clauses, items = _read_content(message.content, message.realm, message.ts, zone, before)
    found = [
        (_read_from(clause), clause.end, item_draft(message, clause, item, now, realm))
        for clause, item in items
    ]
    return [
        ReadClause(
            message,
            clause.quote,
            clause.start,
            clause.end,
            realm,
            # Clauses that a correction joined share what was read in them.
            tuple(
                draft for start, end, draft in found if start < clause.end and clause.start < end
            ),
        )
        for clause in clauses
    ]


def _read_from(clause: MessageClause) -> int:
    return clause.start if clause.joined_from is None else clause.joined_from


def message_drafts(message: Message, zone: tzinfo, before: str = "") -> Iterator[Draft]:
    """Yield the drafts of one message, as if its speaker were the user."""
    now = datetime.fromtimestamp(message.ts, zone)
    realm, _, items = _read_content(message.content, message.realm, message.ts, zone, before)
    for clause, item in items:
        yield item_draft(message, clause, item, now, realm)


@lru_cache(maxsize=_LAST_READ)
def _read_content(content: str, said_in: Realm, ts: float, zone: tzinfo, before: str) -> _Reading:
    """Return the realm of a message, what it states, and what the rules of both languages find."""
    # Not a parameter: the same moment in two zones is equal, but may be another day.
    now = datetime.fromtimestamp(ts, zone)
    realm = detect_realm(content, said_in)
    clauses = stated_clauses(content, realm)
    return realm, clauses, _read_items(clauses, content, now, before)


def extract_items(
    message: Message, now: datetime, realm: Realm, before: str = ""
) -> Iterable[tuple[MessageClause, ExtractedItem]]:
    """Yield the items that the rules of both languages find, clause by clause."""
    return _read_items(stated_clauses(message.content, realm), message.content, now, before)


def stated_clauses(content: str, realm: Realm) -> Sequence[MessageClause]:
    """Return the clauses of a message that state something; positions are those of its content."""
    read = without_injected_lines(content[:READ_CHARS])
    if realm is Realm.OOC:
        read = without_ooc_marks(read)
    return tuple(believable_clauses(read, in_story=realm is Realm.STORY))


def _read_items(
    clauses: Sequence[MessageClause], content: str, now: datetime, before: str
) -> list[tuple[MessageClause, ExtractedItem]]:
    found = list(_read_both(clauses, content, now, before))
    if clauses and not any(clause.start == clauses[0].start for clause, _ in found):
        answer = answer_as_statement(before, clauses[0].text)
        if answer:
            stated = replace(clauses[0], text=answer, display_text=answer)
            return list(_read_both([stated, *clauses[1:]], answer + content, now, ""))
    return found


def _read_both(
    clauses: Sequence[MessageClause], content: str, now: datetime, before: str
) -> Iterator[tuple[MessageClause, ExtractedItem]]:
    if _CHINESE.search(content):
        # English clauses among Chinese ones are no Chinese without a subject.
        own = [clause for clause in clauses if not _ENGLISH_WORDS.fullmatch(clause.text)]
        about_others = is_about_others(before, content)
        yield from chinese_reader.read_chinese_clauses(own, now, about_others=about_others)
    if _LATIN.search(content):
        yield from english_reader.read_english_clauses(clauses, now)


def item_draft(
    message: Message, clause: MessageClause, item: ExtractedItem, now: datetime, realm: Realm
) -> Draft:
    # The sentence of an event already contains its date.
    is_event = item.type is MemoryType.EVENT
    content = item.content if is_event else mentions.resolve_relative_dates(item.content, now)
    value = restore_script(item.value, clause.quote)
    return Draft(
        type=item.type,
        key=item.key,
        content=restore_script(content, clause.quote),
        realm=realm,
        quote=clause.quote,
        **draft_origin(message),
        confidence=item.confidence,
        importance=_importance(item.key),
        attributes={"value": value, **item.attributes},
    )


def draft_origin(message: Message) -> dict[str, Any]:
    """Return the fields that a draft takes from its message."""
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
    return next((weight for part, weight in _IMPORTANCE_BY_PREFIX if key.startswith(part)), 0.5)


def latest_by_key(drafts: Iterable[Draft]) -> list[Draft]:
    """Return the drafts with only the latest of each key, and of each like and dislike.

    Statements in a story do not replace statements about the user.
    """
    latest: dict[tuple[Realm, MemoryType, str], Draft] = {}
    for draft in drafts:
        # Removed first, so that the later statement also takes the later position.
        latest.pop((draft.realm, draft.type, draft.key), None)
        latest.pop((draft.realm, draft.type, opposite_key(draft.key) or draft.key), None)
        latest[draft.realm, draft.type, draft.key] = draft
    return list(latest.values())
