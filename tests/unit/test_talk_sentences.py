"""The rule judge against a table of what people say, in Chinese and English."""

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
TABLE = tomllib.loads(Path(__file__).with_name("talk_sentences.toml").read_text("utf-8"))
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


def wanted(expected: list[str]) -> set[Item]:
    parts = [line.split(" ", 2) for line in expected]
    return {(kind, key, value) for kind, key, value in parts}


def test_the_table_is_large_enough() -> None:
    chinese = [s for s in [*SAYING, *NOTHING] if any("\u4e00" <= char <= "\u9fff" for char in s)]

    assert len(SAYING) + len(NOTHING) >= 300
    assert len(chinese) >= 200
    assert len(NOTHING) >= 120


def test_little_is_missed_and_less_is_invented() -> None:
    found = {sentence: set(items(sentence)) for sentence in [*SAYING, *NOTHING]}
    right = {sentence: wanted(SAYING.get(sentence, [])) for sentence in found}

    hits = sum(len(found[s] & right[s]) for s in found)
    precision = hits / sum(map(len, found.values()))
    recall = hits / sum(map(len, right.values()))
    misses = [
        f"{s}: {right[s] - found[s]} but {found[s] - right[s]}"
        for s in found
        if found[s] != right[s]
    ]

    assert precision >= 0.95, misses
    assert recall >= 0.80, misses


def test_nothing_is_learned_from_what_says_nothing_of_the_user() -> None:
    learned_all_the_same = {
        sentence: found for sentence in NOTHING if (found := [*items(sentence)])
    }

    assert learned_all_the_same == {}


def test_every_quote_is_literally_in_its_sentence() -> None:
    invented = [
        (sentence, draft.quote)
        for sentence in SAYING
        for draft in learned(sentence)
        if not draft.quote or draft.quote not in sentence
    ]

    assert invented == []
