"""A model's reply is read as far as it can be read, and no further."""

from __future__ import annotations

import json

import pytest

from plastic_memories.language.checking.reply_parsing import MAX_ITEMS, MAX_REPLY_CHARS, parse_reply

TOM = {"category": "basic_info", "key": "name", "value": "Tom", "quote": "I am Tom"}
TEA = {"category": "preference", "key": "like", "value": "tea", "quote": "I like tea"}
TRIP = {"event_type": "plan", "title": "trip", "quote": "I go on a trip"}
SUMMARY = {"text": "Tom likes tea.", "topics": ["tea"], "emotion": "neutral"}
WHOLE = json.dumps({"profile": [TOM, TEA], "events": [TRIP], "summary": SUMMARY})


def values(text: str) -> list[str]:
    return [item["value"] for item in parse_reply(text).profile]


def test_a_clean_reply_is_read_whole() -> None:
    found = parse_reply(WHOLE)

    assert found.profile == (TOM, TEA)
    assert found.events == (TRIP,)
    assert found.summary == SUMMARY
    assert found.dropped == ()


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{WHOLE}\n```",
        f"Sure! Here is what I found:\n\n{WHOLE}\n\nAnything else?",
        f"<think>maybe {{not json}} ...</think>{WHOLE}",
        WHOLE.replace("}]", "},]"),
        json.dumps([TOM, TEA, TRIP, SUMMARY]),
        "\n".join(json.dumps(each) for each in (TOM, TEA, TRIP, SUMMARY)),
        repr({"profile": [TOM, TEA], "events": [TRIP], "summary": SUMMARY}),
        json.dumps({"answer": {"memories": {"profile": [TOM, TEA]}}, "events": TRIP, "s": SUMMARY}),
    ],
    ids=["fence", "prose", "thoughts", "commas", "list", "lines", "python", "nested"],
)
def test_what_is_around_the_items_does_not_matter(text: str) -> None:
    found = parse_reply(text)

    assert found.profile == (TOM, TEA)
    assert found.events == (TRIP,)
    assert found.summary == SUMMARY


def test_a_single_item_instead_of_a_list_is_read() -> None:
    text = json.dumps({"profile": TOM, "events": TRIP})

    assert values(text) == ["Tom"]
    assert len(parse_reply(text).events) == 1


def test_of_a_reply_that_was_cut_off_the_complete_items_are_kept() -> None:
    cut = WHOLE[: WHOLE.index("I like tea") + 4]

    assert values(cut) == ["Tom"]


def test_a_broken_item_does_not_take_the_others_with_it() -> None:
    broken = json.dumps(TEA).replace('"tea"', 'tea"')
    text = f'{{"profile": [{json.dumps(TOM)}, {broken}, {json.dumps(TEA)}]}}'

    assert values(text) == ["Tom", "tea"]


def test_an_object_that_is_no_item_is_dropped_with_a_reason() -> None:
    found = parse_reply('{"profile": [{"name": "Tom"}]}')

    assert found.profile == ()
    assert found.dropped == ("not an item",)


@pytest.mark.parametrize("text", ["", "I cannot help with that.", "null", "[1, 2", "}{", '"{"'])
def test_garbage_gives_nothing(text: str) -> None:
    found = parse_reply(text)

    assert (found.profile, found.events, found.summary) == ((), (), None)


def test_an_empty_reply_needs_no_reason() -> None:
    assert parse_reply('{"profile": [], "events": [], "summary": null}').dropped == ()


def test_a_model_that_cannot_stop_is_cut_off() -> None:
    found = parse_reply(json.dumps({"profile": [TOM] * 1_000}))

    assert len(found.profile) == MAX_ITEMS
    assert found.dropped == ("too many items",)


@pytest.mark.parametrize("piece", ["{", "[{", '{"a":', '{"a":[', "{'", '{"value":"x",'])
def test_a_deep_or_endless_reply_is_survived(piece: str) -> None:
    found = parse_reply(piece * MAX_REPLY_CHARS)

    assert found.summary is None
