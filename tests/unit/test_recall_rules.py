"""What a question asks for, which stretches are embedded, which times are named, how parts fuse."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plastic_memories.language.dates.past_references import (
    mentioned_date_spans,
    mentioned_time_spans,
)
from plastic_memories.language.questions.question import parse_question
from plastic_memories.language.text.passages import MAX_PASSAGES, split_passages
from plastic_memories.language.text.tokens import MAX_QUERY_TERMS, term_code
from plastic_memories.rules.ranking import score_parts
from plastic_memories.testing.samples import HOSTILE_TEXTS

SHANGHAI = ZoneInfo("Asia/Shanghai")
NOW = datetime(2024, 5, 15, 9, 0, tzinfo=UTC)
DAY = score_parts.DAY_S


def _parts(text: str) -> list[str]:
    return [probe.text for probe in parse_question(text).probes]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("我妹妹叫什么？另外，她的生日是哪天？", ["我妹妹叫什么？", "她的生日是哪天？"]),
        ("我喜欢喝什么？对了，我的猫叫什么？", ["我喜欢喝什么？", "我的猫叫什么？"]),
        ("我住哪里？還有，我姐姐住哪裡？", ["我住哪里？", "我姐姐住哪裡？"]),
        ("What tea do I like? Also, where do I live?", ["What tea do I like?", "where do I live?"]),
        ("Where do I live? By the way, who is Anna?", ["Where do I live?", "who is Anna?"]),
        (
            "我的 cat 叫什么？另外，what tea do I like?",
            ["我的 cat 叫什么？", "what tea do I like?"],
        ),
    ],
)
def test_several_questions_are_asked_side_by_side(text: str, parts: list[str]) -> None:
    assert _parts(text) == parts
    assert not parse_question(text).is_dialogue


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("你觉得我该去爬山吗？其实我真正想问的是，我的膝盖怎么样了？", "我的膝盖怎么样了？"),
        ("最近好累。真正的问题是：我什么时候去看牙？", "我什么时候去看牙？"),
        (
            "Tell me about hiking. What I really want to know: how is my knee?",
            " how is my knee?",
        ),
        ("Nice day. My real question is: where are my keys?", " where are my keys?"),
    ],
)
def test_a_correction_takes_the_place_of_what_stood_before_it(text: str, asked: str) -> None:
    assert _parts(text) == [asked]


def test_a_correction_with_nothing_behind_it_changes_nothing() -> None:
    text = "我其实想问的是，"

    assert _parts(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "我喜欢喝什么茶？",
        "What tea do I like?",
        "我还有什么要带的吗",
        "I also like tea, and besides that coffee",
        "他其实知道我住哪里",
        "下午三点开会，记得带上 laptop。",
        "tea",
        "?",
    ],
)
def test_ordinary_text_stays_whole(text: str) -> None:
    assert _parts(text) == [text]


def test_more_questions_than_four_are_asked_with_the_last() -> None:
    text = "？另外，".join(["一", "二", "三", "四", "五", "六"])

    parts = _parts(text)

    assert len(parts) == 4
    assert all(number in parts[-1] for number in "四五六")


def test_of_a_dialogue_the_last_line_counts_most() -> None:
    question = parse_question("A: I bought oolong\nB: nice\nA: which kettle fits?\n\n")

    [probe] = question.probes
    assert question.is_dialogue
    assert question.last_line == "A: which kettle fits?"
    assert question.texts == [probe.text, "A: which kettle fits?"]
    assert probe.terms[term_code("kettl")] > probe.terms[term_code("oolong")] > 0


@pytest.mark.parametrize(
    ("lines", "own", "answered"),
    [
        (["我养了一只刺猬", "听说仓鼠也好养", "它冬天要睡觉吗"], "刺猬", "仓鼠"),
        (["I bought a kettle", "A teapot would do", "How long does it boil?"], "kettl", "teapot"),
        (["我买了 kettle", "teapot 也行", "它要烧多久？"], "kettl", "teapot"),
    ],
)
def test_of_a_dialogue_the_lines_of_whoever_asks_count_more_than_the_answers(
    lines: list[str], own: str, answered: str
) -> None:
    [probe] = parse_question("\n".join(lines)).probes

    assert probe.terms[term_code(own)] > probe.terms[term_code(answered)] > 0


@pytest.mark.parametrize(
    ("text", "topic", "talk"),
    [
        ("今天去了动物园\n刺猬觉得冷", "刺猬", "觉得"),
        ("我去了動物園\n刺猬覺得冷", "刺猬", "觉得"),
        ("I was out\nThe hedgehog sounds amazing", "hedgehog", "amaz"),
        ("我出门了\nhedgehog 有点冷, amazing", "hedgehog", "amaz"),
        ("刺猬觉得冷吗？", "刺猬", "觉得"),
    ],
)
def test_small_talk_counts_less_than_what_it_is_about(text: str, topic: str, talk: str) -> None:
    [probe] = parse_question(text).probes

    assert probe.terms[term_code(topic)] > probe.terms[term_code(talk)] > 0


def test_words_of_asking_tell_what_happened_in_a_dialogue() -> None:
    [probe] = parse_question("We made plans\nI visit Kyoto").probes

    assert probe.terms[term_code("visit")] == probe.terms[term_code("kyoto")]


def test_what_was_said_before_counts_a_little() -> None:
    question = parse_question("它多大了？", ["我养了一只猫", "它叫糯米"])

    [probe] = question.probes
    assert not question.is_dialogue
    assert probe.text == "它多大了？"
    assert 0 < probe.terms[term_code("糯米")] < probe.terms[term_code("多大")]


def test_only_the_end_of_what_was_said_before_is_read() -> None:
    question = parse_question("tea", ["elephant", *["filler"] * 4])

    assert term_code("eleph") not in question.probes[0].terms
    assert term_code("filler") in question.probes[0].terms


def test_words_of_asking_count_less_than_what_is_asked_for() -> None:
    [probe] = parse_question("How many days ago did I visit Kyoto?").probes

    assert probe.terms[term_code("day")] < probe.terms[term_code("kyoto")]


@pytest.mark.parametrize("text", HOSTILE_TEXTS, ids=range(len(HOSTILE_TEXTS)))
@pytest.mark.parametrize("recent", [(), ("",), ("\n", "另外，")], ids=str)
def test_no_text_is_too_odd_to_be_understood(text: str, recent: tuple[str, ...]) -> None:
    question = parse_question(text, recent)

    assert question.probes
    assert all(len(probe.terms) <= MAX_QUERY_TERMS for probe in question.probes)


PIECES = [
    "另外，",
    "对了：",
    "其实我想问的是，",
    " Also, ",
    "?",
    "。",
    "tea",
    "海鲜",
    "\u3000",
    "\n",
    " ",
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_whatever_has_words_has_a_last_line(text: str) -> None:
    question = parse_question(text)

    assert 1 <= len(question.probes) <= 4
    if text.strip():
        assert question.last_line.strip()
        assert all(part.strip() for part in question.texts)


@pytest.mark.parametrize("text", ["", "I like tea.", "我对海鲜过敏。", "一。二。三。", "x" * 200])
def test_a_short_text_is_one_passage(text: str) -> None:
    assert split_passages(text) == [text]


@pytest.mark.parametrize(
    "sentence",
    [
        "My sister moved to Hangzhou in the spring of last year. ",
        "我妹妹去年春天搬到杭州去了，现在在一家茶馆上班，周末常常回来看我们。",
        "她说 the tea house 很忙，but she likes it！",
    ],
)
@pytest.mark.parametrize("times", [8, 40, 400])
def test_a_long_text_is_whole_and_in_stretches(sentence: str, times: int) -> None:
    text = (sentence * times)[:32_000]

    whole, *stretches = split_passages(text)

    assert whole == text
    assert 1 < len(stretches) < MAX_PASSAGES
    assert _letters("".join(stretches)) == _letters(text)


@pytest.mark.parametrize("text", ["茶" * 32_000, "tea " * 8_000, "。" * 32_000, "a.b" * 10_000])
def test_a_text_without_sentences_has_few_passages_all_the_same(text: str) -> None:
    found = split_passages(text)

    assert found[0] == text
    assert len(found) <= MAX_PASSAGES


@given(st.text(alphabet="茶海鲜ab.。！？!\n “”", max_size=600))
def test_no_passage_is_empty_and_none_is_made_up(text: str) -> None:
    whole, *stretches = split_passages(text)

    assert whole == text
    assert len(stretches) < MAX_PASSAGES
    assert all(_letters(stretch) in _letters(text) for stretch in stretches)
    assert all(stretch.strip() for stretch in stretches)


def _letters(text: str) -> str:
    return "".join(char for char in text if char not in string.whitespace)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("去年冬天我去了哪里", "2023-12-01", "2024-02-29"),
        ("昨天晚饭吃了什么", "2024-05-14", "2024-05-14"),
        ("上个月我们聊了什么", "2024-04-01", "2024-04-30"),
        ("最近一周我睡得好吗", "2024-05-08", "2024-05-15"),
        ("過去一年", "2023-05-15", "2024-05-15"),
        ("What did I do last March?", "2024-03-01", "2024-03-31"),
        ("Where was I yesterday?", "2024-05-14", "2024-05-14"),
        ("in the past month", "2024-04-14", "2024-05-15"),
        ("Where did I go last winter?", "2023-12-01", "2024-02-29"),
    ],
)
def test_a_time_is_looked_for_in_the_past(text: str, start: str, end: str) -> None:
    [span] = mentioned_date_spans(text, NOW)

    assert (str(span.start), str(span.end)) == (start, end)


@pytest.mark.parametrize("text", ["", "我喜欢什么茶", "what tea?", "茶" * 1000])
def test_where_no_time_is_named_none_is_found(text: str) -> None:
    assert mentioned_date_spans(text, NOW) == []


def test_several_times_are_found_up_to_four() -> None:
    assert len(mentioned_date_spans("昨天和前天", NOW)) == 2
    assert len(mentioned_date_spans("昨天，" * 20, NOW)) == 4


def test_a_day_begins_at_midnight_where_the_user_lives() -> None:
    late = datetime(2024, 5, 14, 17, 0, tzinfo=UTC)  # already the 15th in Shanghai

    [(start, end)] = mentioned_time_spans("昨天", late.timestamp(), SHANGHAI)

    assert datetime.fromtimestamp(start, SHANGHAI).isoformat() == "2024-05-14T00:00:00+08:00"
    assert end - start == DAY


@pytest.mark.parametrize("now", [-1e18, -62_135_596_800.0, 253_402_300_799.0, 1e18])
@pytest.mark.parametrize("text", ["昨天", "a month ago", "最近一年", "9999年12月31日"])
def test_a_clock_beyond_the_calendar_names_no_time(now: float, text: str) -> None:
    assert mentioned_time_spans(text, now, SHANGHAI) == []


def test_the_best_becomes_one() -> None:
    assert score_parts.scaled_to_max(np.array([1.0, 4.0, 2.0])).tolist() == [0.25, 1, 0.5]
    assert score_parts.scaled_to_max(np.zeros(2)).tolist() == [0, 0]
    assert score_parts.scaled_to_max(np.array([])).tolist() == []


@pytest.mark.parametrize(
    ("whole", "power", "best"), [(4.0, 0.5, 0.5), (4.0, 0.0, 1), (0.5, 0.5, 1), (0.0, 0.5, 1)]
)
def test_the_best_has_less_than_one_if_it_falls_short_of_the_whole(
    whole: float, power: float, best: float
) -> None:
    scores = np.array([1.0, 0.5])

    assert score_parts.scaled_by_coverage(scores, whole, power).tolist() == [best, best / 2]
    assert score_parts.scaled_by_coverage(np.zeros(2), whole, power).tolist() == [0, 0]
    assert score_parts.scaled_by_coverage(np.array([]), whole, power).tolist() == []


def test_deviations_are_those_among_what_counts() -> None:
    assert _deviations([1, 3, 90], [True, True, False]) == [-1, 1, 0]
    assert _deviations([2, 2, 90], [True, True, False]) == [0, 0, 0]
    assert _deviations([2], [False]) == [0]


def test_what_has_no_number_neither_counts_nor_earns() -> None:
    assert _deviations([1, math.nan, 3, math.nan], [True] * 4) == [-1, 0, 1, 0]
    assert _deviations([math.nan], [True]) == [0]


def test_a_few_are_measured_by_what_stands_beside_them() -> None:
    [alone] = _deviations([0.4], [True], beside=[0.1, 0.0, 0.1, 0.0, 0.1, 0.0])
    alike = _deviations([0.71, 0.7, 0.69], [True] * 3, beside=[0.1, 0.0] * 4)
    many = [0.1, 0.0, 0.2] * 1000

    assert alone > 1.5
    assert max(alike) - min(alike) < 0.1
    assert _deviations(many, [True] * 3000, beside=[0.1, 0.0] * 4) == pytest.approx(
        _deviations(many, [True] * 3000), abs=0.01
    )


def _deviations(
    values: list[float], among: list[bool], beside: Sequence[float] = ()
) -> list[float]:
    found = score_parts.z_scores(np.array(values, float), np.array(among), np.array(beside), 0.5)
    return [float(value) for value in found]


def test_the_better_neighbour_counts_and_none_takes_off() -> None:
    scores = np.array([0.2, -0.5, 0.9])
    before, after = np.array([-1, 0, 1]), np.array([1, 2, -1])

    assert score_parts.best_neighbour_score(scores, [(before, 1.0), (after, 1.0)]).tolist() == [
        0,
        0.9,
        0,
    ]
    assert score_parts.best_neighbour_score(scores, [(before, np.array([1, 2, 1]))]).tolist() == [
        0,
        0.4,
        0,
    ]
    assert score_parts.second_neighbours(before).tolist() == [-1, -1, 0]


def test_questions_get_equally_many_of_the_first_places() -> None:
    strong, weak = np.array([9.0, 8.0, 1.0, 0.0]), np.array([0.0, 4.0, 2.0, 1.0])

    assert score_parts.equalised_thresholds([strong, weak], 2) == [-3, 3]
    assert score_parts.equalised_thresholds([strong[:2], weak[:2]], 2) == [-2.5, 2.5]
    assert score_parts.equalised_thresholds([np.zeros(0), np.zeros(0)], 2) == [0, 0]


def test_a_session_is_as_good_as_its_best() -> None:
    scores = np.array([0.2, 0.9, 0.4])

    assert score_parts.best_in_session(scores, np.array([0, 0, -1])).tolist() == [0.9, 0.9, 0.4]
    assert score_parts.best_in_session(scores, np.array([-1, -1, -1])).tolist() == [0.2, 0.9, 0.4]
    assert score_parts.best_in_session(np.array([]), np.array([], int)).tolist() == []


def test_what_lies_in_the_time_counts_and_what_lies_beside_it_counts_half() -> None:
    happened = np.array([0.5, 2.0, 9.0, 30.0, 40.0]) * DAY
    weigh = score_parts.span_length_weight(1.0, 0.5, 0.1)

    assert score_parts.time_span_scores(
        happened, happened < np.inf, [(0.0, DAY)], weigh
    ).tolist() == [
        1,
        0.5,
        0,
        0,
        0,
    ]
    assert score_parts.time_span_scores(
        happened, happened < np.inf, [(0.0, 10 * DAY)], weigh
    ).tolist() == [
        0.5,
        0.5,
        0.5,
        0,
        0,
    ]
    assert score_parts.time_span_scores(happened, happened < np.inf, [], weigh).tolist() == [0] * 5


def test_a_time_that_most_lies_in_tells_nothing() -> None:
    happened = np.array([1.0, 2.0, 3.0, 40.0]) * DAY

    found = score_parts.time_span_scores(
        happened, happened < np.inf, [(0.0, 4 * DAY)], score_parts.span_length_weight(1.0, 1.0, 1.0)
    )

    assert found.tolist() == [0] * 4


def test_the_past_fades_by_half_lives_and_what_must_hold_does_not() -> None:
    happened = np.array([0.0, -30.0, -60.0, -60.0, 5.0]) * DAY
    ageless = np.array([False, False, False, True, False])

    assert score_parts.recency_decay(happened, ageless, 0.0, 30).tolist() == [1, 0.5, 0.25, 1, 1]


@given(st.lists(st.integers(0, 20), unique=True))
def test_what_repeats_another_repeats_the_first_of_its_kind(order: list[int]) -> None:
    kinds = np.array([number % 5 for number in order])

    repeated = score_parts.duplicate_rows(kinds[:, None] == kinds)

    first = {kind: kinds.tolist().index(kind) for kind in kinds.tolist()}
    every = range(len(order))
    assert repeated == {row: first[kinds[row]] for row in every if first[kinds[row]] < row}


def test_what_is_near_a_repeat_alone_stays_where_it_is() -> None:
    chain = np.array([[True, True, False], [True, True, True], [False, True, True]])

    assert score_parts.duplicate_rows(chain) == {1: 0}
