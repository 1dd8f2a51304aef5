"""What of a conversation is new: the rules alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner
from plastic_memories.rules.conversation.history_diff import HistoryDiff, HistoryLine, diff_history

OWNER = Owner("t", "u", "p")
MARKS = {"u": Role.USER, "a": Role.ASSISTANT, "s": Role.SYSTEM}


def lines(talk: str) -> list[HistoryLine]:
    """Read `u:hi a:hello` as what user and assistant said."""
    return [HistoryLine(MARKS[mark], text) for mark, _, text in map(parted, talk.split())]


def parted(word: str) -> tuple[str, str, str]:
    return word.partition(":")


def rows(said: Sequence[HistoryLine]) -> list[Message]:
    return [
        Message(owner=OWNER, role=line.role, content=line.text, ts=0.0, id=number)
        for number, line in enumerate(said, start=1)
    ]


def applied(stored: Sequence[Message], found: HistoryDiff) -> list[tuple[str, str]]:
    """Return what is stored after the changes."""
    edits = dict(found.edits)
    kept = [
        (row.role.value, edits.get(row.id, row.content))
        for row in stored
        if row.id not in found.drops
    ]
    return kept + [(line.role.value, line.text) for line in found.appends]


CASES = [
    # stored, sent, reply, what is stored then (in a session with a name)
    ("", "u:hi", "yo", "u:hi a:yo"),
    ("u:hi a:yo", "u:hi a:yo u:茶", "好", "u:hi a:yo u:茶 a:好"),
    ("u:hi a:yo", "u:hi", "hey", "u:hi a:hey"),
    ("u:hi a:yo", "u:hi", "", "u:hi a:yo"),
    ("u:hi", "u:hi", "yo", "u:hi a:yo"),
    ("u:hi a:yo", "u:hi a:yo u:hi", "again", "u:hi a:yo u:hi a:again"),
    ("u:hi a:yo u:hi a:x", "u:hi a:yo u:hi", "y", "u:hi a:yo u:hi a:y"),
    ("u:a a:1 u:b a:2", "u:a a:1 u:c", "3", "u:a a:1 u:c a:3"),
    ("u:a a:1 u:b a:2", "u:a a:1 u:c", "", "u:a a:1 u:c a:2"),
    ("u:a a:1 u:b a:2 a:3", "u:a a:1 u:b", "4", "u:a a:1 u:b a:4"),
    ("u:a a:1 u:b a:2", "u:a a:1 u:b a:2", "3", "u:a a:1 u:b a:2 a:3"),
    ("u:a a:1", "u:a a:9 u:b", "2", "u:a a:9 u:b a:2"),
    ("u:a a:1 u:b a:2 u:c a:3", "u:a a:1 u:d", "4", "u:a a:1 u:b a:2 u:c a:3 u:d a:4"),
    ("u:a a:1", "u:b", "2", "u:a a:1 u:b a:2"),
    ("u:a a:1", "s:x", "2", "u:a a:1"),
    ("a:hello", "a:hello u:hi", "yo", "a:hello u:hi a:yo"),
]


@pytest.mark.parametrize(("stored", "sent", "reply", "then"), CASES)
def test_what_is_stored_then(stored: str, sent: str, reply: str, then: str) -> None:
    before = rows(lines(stored))

    found = diff_history(before, lines(sent), reply, named=True)

    assert applied(before, found) == [(line.role.value, line.text) for line in lines(then)]


words = st.sampled_from(["好", "继续", "tea", "no"])
turns = st.lists(st.tuples(words, words), min_size=1, max_size=6)


@given(turns, st.booleans())
def test_a_client_that_only_goes_on_is_stored_word_for_word(
    talk: list[tuple[str, str]], named: bool
) -> None:
    stored: list[Message] = []
    sent: list[HistoryLine] = []
    for said, reply in talk:
        sent.append(HistoryLine(Role.USER, said))
        found = diff_history(stored, sent, reply, named=named)
        assert not found.edits
        assert not found.drops
        stored = rows([*(HistoryLine(row.role, row.content) for row in stored), *found.appends])
        sent.append(HistoryLine(Role.ASSISTANT, reply))

    assert [(row.role, row.content) for row in stored] == [(one.role, one.text) for one in sent]


@given(turns, words, st.booleans())
def test_trying_again_changes_the_last_reply_only(
    talk: list[tuple[str, str]], other: str, named: bool
) -> None:
    sent = [
        HistoryLine(role, text)
        for turn in talk
        for role, text in zip((Role.USER, Role.ASSISTANT), turn, strict=True)
    ]
    stored = rows(sent)

    found = diff_history(stored, sent[:-1], other, named=named)

    before = [(line.role.value, line.text) for line in sent[:-1]]
    assert applied(stored, found) == [*before, ("assistant", other)]
