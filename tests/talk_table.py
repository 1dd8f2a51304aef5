"""The table of what people say, and what the rule judge learns from a sentence."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from plastic_memories.language.reading.extraction import extract_drafts
from plastic_memories.model.memory import Draft, MemoryType
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner, Realm

ZONE = "Asia/Shanghai"
NOON = datetime(2024, 5, 15, 12, tzinfo=ZoneInfo(ZONE)).timestamp()
TABLE = tomllib.loads((Path(__file__).parent / "unit" / "talk_sentences.toml").read_text("utf-8"))
SAYING = {
    sentence: expected
    for part in TABLE.values()
    for sentence, expected in part.items()
    if sentence != "sentences"
}
NOTHING = [sentence for part in TABLE.values() for sentence in part.get("sentences", [])]

Item = tuple[str, str, str]


def learned(sentence: str) -> list[Draft]:
    owner = Owner("default", "ann", "miku")
    return extract_drafts([Message(owner=owner, role=Role.USER, content=sentence, ts=NOON)], ZONE)


def items(sentence: str) -> Iterator[Item]:
    for draft in learned(sentence):
        if draft.realm is not Realm.REAL:
            continue  # a story: it never feeds the user's profile
        is_event = draft.type is MemoryType.EVENT
        key = draft.attributes["event_type"] if is_event else draft.key
        yield draft.type.value, key, draft.attributes["value"]
