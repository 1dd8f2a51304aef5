"""Reading before rules: how something is typed does not change what is learned from it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from plastic_memories.language.reading.extraction import read_window
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner
from talk_table import NOON, NOTHING, SAYING, ZONE, items

_PAUSES = re.compile(
    r"[，。；！]+\s*|[.!]+(?=$)|,\s+(?=(?:i|i'm|my|he|she|it|we|they|her|his)\b)", re.IGNORECASE
)
_HAN = re.compile("[\u4e00-\u9fff]")
_AFTER_A_PAUSE = re.compile(r"(?<=[，。；！])|(?<=[,.;!] )")
_APOSTROPHE = re.compile(
    r"(?<=\bi)['’](?=(?:m|ve|ll)\b)|(?<=n)['’](?=t\b)|(?<=\bit)['’](?=s\b)|(?<=\bwe)['’](?=re\b)",
    re.IGNORECASE,
)

TYPED = {
    "an emoji at the end": lambda said: f"{said}😭",
    "emoji after a space": lambda said: f"{said} 🥺🥺",
    "a kaomoji": lambda said: f"{said} (｡･ω･｡)",
    "Chinese laughter after it": lambda said: f"{said} 哈哈哈哈",
    "Chinese laughter before it": lambda said: f"哈哈哈 {said}",
    "English laughter after it": lambda said: f"{said} lol",
    "English laughter before it": lambda said: f"hahaha {said}",
    "a line break in the middle": lambda said: _AFTER_A_PAUSE.sub("\n", said, count=1),
    "a line break at the end": lambda said: f"{said}\n",
    "spaces instead of punctuation": lambda said: _PAUSES.sub(" ", said).strip(),
    "apostrophes left out": lambda said: _APOSTROPHE.sub("", said),
    "chatter in the lines around it": lambda said: f"今天好累啊\n{said}\nok gtg",
    "chatter in one line with it": lambda said: (
        f"今天好累啊 {said} 先不说了" if _HAN.search(said) else f"ok so {said} anyway gtg"
    ),
}


def learned(said: str) -> list[tuple[str, str, str]]:
    return sorted(items(said))


@pytest.mark.parametrize("way", TYPED)
def test_how_it_is_typed_does_not_change_what_is_learned(way: str) -> None:
    typed: Callable[[str], str] = TYPED[way]

    changed = {
        said: (before, after)
        for said in [*SAYING, *NOTHING]
        if (before := learned(said)) != (after := learned(typed(said)))
    }

    assert changed == {}


def test_clauses_stand_literally_in_their_message_with_what_was_read_in_them() -> None:
    content = "哈哈哈 我對海鮮敏感😭 昨天那家店的灯坏了 我叫小明"
    said = Message(owner=Owner("default", "ann", "miku"), role=Role.USER, content=content, ts=NOON)

    clauses = read_window([said], ZONE)

    assert [content[clause.start : clause.end] for clause in clauses] == [
        clause.text for clause in clauses
    ]
    assert [(clause.text, [one.key for one in clause.findings]) for clause in clauses] == [
        ("我對海鮮敏感", ["constraint.allergy.seafood"]),
        ("昨天那家店的灯坏了", []),
        ("我叫小明", ["basic_info.name"]),
    ]


def test_both_clauses_of_a_correction_count_as_read() -> None:
    said = Message(
        owner=Owner("default", "ann", "miku"),
        role=Role.USER,
        content="我的生日不是3月3号，是3月4号",
        ts=NOON,
    )

    clauses = read_window([said], ZONE)

    assert all(clause.findings for clause in clauses)
