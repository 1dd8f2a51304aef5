"""Extract what the persona states about itself: likes, facts and promises.

They are stored as the persona's memory, under keys of their own and with its name as the speaker,
never in the user's profile. Most of what a model says is assistance, so nearly everything is
skipped: long or formatted texts, disclaimers, samples, statements about the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from plastic_memories.language.dates import mentions
from plastic_memories.language.dates.time_zones import zone_or_utc
from plastic_memories.language.reading.clauses import MessageClause, believable_clauses
from plastic_memories.language.reading.finding import CERTAIN_CONFIDENCE, ExtractedItem
from plastic_memories.language.reading.injected_text import without_injected_lines
from plastic_memories.language.reading.memory_keys import slug
from plastic_memories.language.reading.message_reading import (
    extract_items,
    item_draft,
    latest_by_key,
)
from plastic_memories.language.reading.realm_detection import detect_realm
from plastic_memories.language.text.lazy_regex import at_start, regex
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.language.text.word_lists import any_of
from plastic_memories.model.memory import Draft, MemoryType, SourceType
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Realm

_MAX_CHARS = 400
_I = re.IGNORECASE
# A text written for the user, or a model speaking of itself as a machine.
_WRITTEN = regex(any_of("persona_statements", "written"), _I | re.MULTILINE)
_OWN = regex(any_of("persona_statements", "own"))
_HELPFUL = regex(any_of("persona_statements", "helpful"), _I)
_PROMISES = (
    at_start(
        r"(?:那|好|嗯|放心)*我(?:这就|真的|现在|也)?(?:(?:答应|承诺)(?:过|了)?你|(?:向|跟|对)你"
        r"(?:保证|承诺|发誓|约定)|(?:保证|发誓|承诺)(?=一定|绝对|以后|再也|每|下次|明天|会|不会|不再|永远))"
        r"(?:会|要|一定)?(?P<v>[^，,]{2,30})$"
    ),
    regex(r"(?:那)?我们?(?:就)?(?:说好|约好|约定好?)了?(?P<v>(?!吗|没)[^，,]{3,30})$"),
    regex(
        r"^(?:and |so |but |ok |okay )?i (?:promise|swear|vow)(?: to)?(?: you)?(?: that)? "
        r"(?:i(?:'ll| will) |i won't |to |never to |not to )(?P<v>.{3,80})$",
        _I,
    ),
)
# A date and a "will": 我明天会陪你去, "I'll bake you a cake tomorrow".
_WILL = regex(
    r"^(?:那|好|嗯)*(?:[^我]{0,8})我.{0,8}?(?:一定会?|会|就)(?:陪|给|带|来|去|等|为|送|做|和|跟)"
    r"|^i(?:'ll| will) ",
    _I,
)
_NO_PROMISE = regex(r"吗|呢$|不会|可能|如果|要是|尽量|\b(?:try|maybe|if|explain|show|help)\b", _I)


def persona_drafts(
    talk: Sequence[Message], time_zone: str = "UTC", persona_name: str = ""
) -> list[Draft]:
    """Return drafts of what the persona stated about itself or promised, in message order.

    >>> from plastic_memories.model.owner import Owner
    >>> said = Message(owner=Owner("t", "ann", "miku"), role=Role.ASSISTANT,
    ...                content="我最喜欢草莓蛋糕。", ts=0.0)
    >>> [(draft.key, draft.speaker) for draft in persona_drafts([said])]
    [('persona.like.草莓蛋糕', 'miku')]
    """
    zone = zone_or_utc(time_zone)
    replies = (message for message in talk if message.role is Role.ASSISTANT)
    return latest_by_key(
        replace(draft, speaker=message.speaker or persona_name or message.owner.persona_id)
        for message in replies
        if len(message.content) <= _MAX_CHARS
        and not _WRITTEN.search(to_simplified(message.content))
        for draft in _reply_drafts(message, zone)
    )


def _reply_drafts(message: Message, zone: tzinfo) -> Iterator[Draft]:
    now = datetime.fromtimestamp(message.ts, zone)
    realm = detect_realm(message.content, message.realm)
    for clause, found in extract_items(message, now, realm):
        if _is_about_persona(found):
            own = replace(found, key=_persona_key(found.key), type=MemoryType.FACT)
            yield _persona_draft(message, clause, own, now, realm)
    for clause in believable_clauses(without_injected_lines(message.content)):
        promise = _find_promise(clause, now)
        if promise:
            yield _persona_draft(message, clause, promise, now, realm)


def _persona_draft(
    message: Message, clause: MessageClause, found: ExtractedItem, now: datetime, realm: Realm
) -> Draft:
    # A program's statement, stored verbatim: neither the user's nor inferred about them.
    return replace(
        item_draft(message, clause, found, now, realm), source_type=SourceType.TOOL, importance=0.5
    )


def _is_about_persona(found: ExtractedItem) -> bool:
    sure = found.type is MemoryType.PROFILE and found.confidence >= CERTAIN_CONFIDENCE
    return sure and bool(_OWN.match(found.key)) and not _HELPFUL.search(found.value)


def _persona_key(key: str) -> str:
    return f"persona.{key.split('.', 1)[1]}"


def _find_promise(clause: MessageClause, now: datetime) -> ExtractedItem | None:
    found = next((match for rule in _PROMISES if (match := rule.match(clause.text))), None)
    mention = mentions.find_date(clause.text, now)
    if mention and mention.span.end < now.date():
        mention = None
    will = _WILL.match(clause.text) if mention and mention.span.start > now.date() else None
    if not (found or will) or _NO_PROMISE.search(clause.text):
        return None
    title = found["v"].strip() if found else clause.text
    if mention is None:
        return ExtractedItem(
            f"persona.promise.{slug(title)}", title, clause.display_text, MemoryType.NOTE
        )
    return _promise_item(clause, title, mention)


def _promise_item(
    clause: MessageClause, title: str, mention: mentions.DateMention
) -> ExtractedItem:
    words, day = clause.text[mention.start : mention.end].strip(), mention.span.start.isoformat()
    attributes = {"title": title, "event_type": "plan", "date": day, "date_text": words}
    written = mention.span.to_text("至" if "我" in clause.text else " and ")
    return ExtractedItem(
        f"persona.promise.{day}.{slug(title)}",
        day,
        mentions.insert_date(clause.display_text, words, written),
        MemoryType.EVENT,
        attributes,
    )
