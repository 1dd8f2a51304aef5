"""Whatever a model says, nothing comes of it that the user did not say."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from plastic_memories.language.checking.event_check import EVENT_TYPES
from plastic_memories.language.checking.proposal_check import check_reply
from plastic_memories.language.checking.quote_evidence import find_quote, letters_and_digits
from plastic_memories.language.checking.reply_parsing import parse_reply
from plastic_memories.language.checking.window_split import split_window
from plastic_memories.model.memory import Draft
from talks import talk

LINES = (
    "我叫小明，住在上海，今年28岁",
    "bot: 你好小明，你对海鲜过敏吗？",
    "我下周五要去北京出差。我挺喜欢绿茶，但我不喝咖啡",
    "My sister Ann loves hiking, and I'm allergic to peanuts",
    "如果我住在巴黎就好了，你觉得呢？",
)
SAID = "".join(LINES)
WORDS = st.one_of(
    st.sampled_from([*LINES, "小明", "上海", "28", "绿茶", "hiking", "peanuts", "巴黎", "下周五"]),
    st.builds(
        lambda start, size: SAID[start : start + size],
        st.integers(0, len(SAID)),
        st.integers(0, 20),
    ),
    st.text(max_size=20),
)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    ["name", "place", "age", "like", "dislike", "allergy", "job", "sister", "pet", "birthday", "x"]
)
ITEMS = st.fixed_dictionaries(
    {"quote": WORDS},
    optional={
        "category": st.sampled_from(["basic_info", "preference", "relationship", "constraint"]),
        "key": KEYS | JSON,
        "value": WORDS | JSON,
        "event_type": st.sampled_from(["plan", "birthday", "memory", "life_event"]) | JSON,
        "title": WORDS | JSON,
        "date_text": WORDS,
        "importance": JSON,
        "confidence": JSON,
        "text": WORDS,
        "topics": JSON,
    },
)


@given(st.text())
def test_no_text_makes_reading_fail(text: str) -> None:
    parse_reply(text)


@given(st.lists(ITEMS, max_size=4), st.integers(0, 400))
def test_a_reply_cut_anywhere_gives_no_item_that_the_whole_does_not(
    items: list[dict[str, Any]], cut: int
) -> None:
    text = json.dumps({"profile": items})

    known = [*parse_reply(text).profile, *parse_reply(text).events]
    found = parse_reply(text[:cut])

    # By its text: nan is not equal to itself.
    whole = {json.dumps(item) for item in known}
    assert all(json.dumps(item) in whole for item in (*found.profile, *found.events))


@given(st.lists(ITEMS, max_size=4))
def test_what_is_kept_was_said_by_the_user(items: list[dict[str, Any]]) -> None:
    window = talk(*LINES)
    said = {message.id: message.content for message in window.messages if message.role == "user"}

    found = check_reply(parse_reply(json.dumps(items)), window)

    for draft in found.drafts:
        assert draft.quote in said[draft.source_message_ids[0]]
        assert "巴黎" not in draft.quote
        assert 0 <= (draft.confidence or 0) <= 1
        assert 0 <= (draft.importance or 0) <= 1
        assert is_spoken(draft)


def is_spoken(draft: Draft) -> bool:
    """Say whether the content is the user's words, a date and a left-out "我" aside."""
    if draft.type == "event":
        return draft.attributes["event_type"] in EVENT_TYPES
    return letters_and_digits(draft.content).removeprefix("我") in letters_and_digits(draft.quote)


@given(WORDS)
def test_a_quote_that_is_found_is_in_the_talk(quote: str) -> None:
    found = find_quote(quote, talk(*LINES).messages)

    if not isinstance(found, str):
        assert letters_and_digits(quote) in letters_and_digits(found.message.content)


@given(st.lists(st.text(max_size=900), max_size=8), st.integers(200, 600))
def test_parts_hold_every_message_once_and_in_order(lines: list[str], tokens: int) -> None:
    window = talk(*lines)

    parts = list(split_window(window, tokens))

    ids = [message.id for part in parts for message in part.messages]
    assert ids == [message.id for message in window.messages if message.content.strip()]
    assert all(part.messages for part in parts)
