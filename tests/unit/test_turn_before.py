"""What was asked just before decides what a short answer says, and of whom."""

from __future__ import annotations

import pytest

from plastic_memories.language.reading.extraction import extract_drafts
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner
from talk_table import NOON, ZONE

OWNER = Owner("default", "ann", "miku")


def learned(asked: str, answer: str) -> dict[str, str]:
    talk = [
        Message(owner=OWNER, role=role, content=content, ts=NOON)
        for role, content in ((Role.ASSISTANT, asked), (Role.USER, answer))
    ]
    return {draft.key: draft.attributes["value"] for draft in extract_drafts(talk, ZONE)}


@pytest.mark.parametrize(
    ("asked", "answer", "key", "value"),
    [
        ("Nice to meet you! What's your name?", "rosalind", "basic_info.name", "Rosalind"),
        ("你叫什么名字呀？", "江晚", "basic_info.name", "江晚"),
        ("你今年多大啦", "27", "basic_info.age", "27"),
        ("你住在哪个城市？", "长沙", "basic_info.place", "长沙"),
        ("你对什么过敏？", "芝麻", "constraint.allergy.sesame", "芝麻"),
        ("when is your birthday?", "march 9", "basic_info.birthday", "03-09"),
    ],
)
def test_a_short_answer_says_what_was_asked(asked: str, answer: str, key: str, value: str) -> None:
    found = learned(asked, answer)

    assert found == {key: value}


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("阿泽是谁？", "是游戏主播"),
        ("你知道她是哪年出生的吗", "1990年6月18日出生"),
        ("这首歌谁唱的", "是四川人"),
        ("What's your name?", "guess"),
        ("你叫什么名字", "不告诉你"),
    ],
)
def test_what_answers_a_question_about_somebody_else_is_not_the_user(
    asked: str, answer: str
) -> None:
    found = learned(asked, answer)

    assert found == {}


def test_a_greeting_may_be_signed() -> None:
    found = learned("", "hey you, rosalind here")

    assert found == {"basic_info.name": "Rosalind"}
