"""The rule judge against a table of what people say, in Chinese and English."""

from __future__ import annotations

from talk_table import NOTHING, SAYING, Item, items, learned


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
