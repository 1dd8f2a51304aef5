"""What the hub injected is known again: quoted, cut, wrapped anew, or without its fence."""

from __future__ import annotations

import pytest

from plastic_memories.language.reading.injected_text import (
    echo_share,
    echo_spans,
    fingerprint,
    fingerprints,
    without_echoes,
    without_injected_lines,
)

INJECTED = """<plastic_memories kind="turn">
## 相关记忆
- [2024-05-01] 我对海鲜过敏，所以聚餐的时候要提前说
- [2024-05-02] I work as a nurse in a small hospital near Lyon
- [2024-05-03] 我喜欢茶
</plastic_memories>"""
KNOWN = fingerprint(INJECTED)


@pytest.mark.parametrize(
    "text",
    [
        "我对海鲜过敏，所以聚餐的时候要提前说",
        "海鲜过敏，所以聚餐的时",
        "「我对海鲜过敏，所以聚餐的时候要提前说」",
        "> 我对海鲜过敏，\n> 所以聚餐的\n> 时候要提前说",
        "我 对 海 鲜 过 敏 所以聚餐的时候要提前说",
        "I WORK AS A NURSE in a small\nhospital",
        "nurse in a small hospital",
        "我喜欢茶",
    ],
)
def test_an_echo_is_known_again(text: str) -> None:
    assert echo_share(text, KNOWN) == 1.0
    assert not any(char.isalnum() for char in without_echoes(text, KNOWN))


@pytest.mark.parametrize(
    "text",
    ["你之前说过我喜欢茶", "so you said I work as a nurse in a small hospital", "我喜欢茶呀"],
)
def test_a_quote_with_nothing_new_around_it_says_nothing(text: str) -> None:
    assert not any(char.isalnum() for char in without_echoes(text, KNOWN))


@pytest.mark.parametrize(
    "text",
    [
        "我喜欢茶和咖啡",
        "我不喜欢茶",
        "我对花生过敏",
        "我对海鲜过敏好了很多",
        "I work as a nurse in Paris now",
        "我叫小明，住在上海",
        "今天天气不错",
        "",
    ],
)
def test_news_stays_whole(text: str) -> None:
    assert without_echoes(text, KNOWN) == text


def test_only_the_echo_goes() -> None:
    text = "你说过「我喜欢茶」，其实我更喜欢咖啡"

    kept = without_echoes(text, KNOWN)

    assert len(kept) == len(text)
    assert kept.endswith("，其实我更喜欢咖啡")
    assert "茶" not in kept


def test_the_spans_point_at_the_echoes() -> None:
    text = "嗯，我喜欢茶，你呢"

    assert [text[start:end] for start, end in echo_spans(text, KNOWN)] == ["我喜欢茶"]


def test_with_no_prints_nothing_is_an_echo() -> None:
    assert echo_share("我喜欢茶", frozenset()) == 0.0
    assert without_echoes("我喜欢茶", frozenset()) == "我喜欢茶"


def test_prints_of_several_texts_are_put_together() -> None:
    assert fingerprints(["我喜欢茶", "我喜欢咖啡"]) == fingerprint("我喜欢茶\n我喜欢咖啡")
    assert fingerprints([]) == frozenset()


def test_lines_of_our_shape_go_even_if_nobody_remembers_them() -> None:
    text = "看这个：\n- [2024-05-01] 我叫小红\n> - [2024-05-02] bob: I live in Rome\n我喜欢猫"

    kept = without_injected_lines(text)

    assert len(kept) == len(text)
    assert kept.split() == ["看这个：", "我喜欢猫"]
