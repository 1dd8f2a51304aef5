"""From arrays to an order: what each part of a score does, and how near-duplicates stand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plastic_memories.adapters.recall.ordering import Ranking, rank_positions
from plastic_memories.adapters.recall.owner_index import OwnerIndex
from plastic_memories.adapters.recall.scoring import (
    EntryScores,
    ScoringQuery,
    matched_searches,
    score_entries,
)
from plastic_memories.language.questions.question import parse_question
from plastic_memories.model.entry import IndexEntry
from plastic_memories.rules.ranking.hybrid_weights import LEARNED_WEIGHTS
from plastic_memories.rules.ranking.vector_codec import normalise_rows
from plastic_memories.testing.samples import DAY, NOW
from recall_parts import entry, everything, index_of, vector


def _scores(index: OwnerIndex, text: str, **more: object) -> EntryScores:
    asked = ScoringQuery(text=text, question=parse_question(text), now=NOW)
    return score_entries(index, everything(index), replace(asked, **more), LEARNED_WEIGHTS)


def _ranked(entries: list[IndexEntry], text: str, wanted: int = 50, **more: object) -> Ranking:
    index = index_of(*entries)
    return rank_positions(index, _scores(index, text, **more), LEARNED_WEIGHTS, wanted)


def _order(entries: list[IndexEntry], text: str, **more: object) -> list[int]:
    index = index_of(*entries)
    ranked = rank_positions(index, _scores(index, text, **more), LEARNED_WEIGHTS, 50)
    return index["memory_id"][list(ranked.order)].tolist()


def test_the_score_is_the_sum_of_its_parts() -> None:
    index = index_of(
        entry(1, "green tea", session_id="s", speaker="user", vector=vector(1, 0)),
        entry(2, "I like it", session_id="s", vector=vector(1, 1)),
        entry(3, "coffee", vector=vector(0, 1)),
    )
    question = np.array([1, 0], np.float32)

    scores = _scores(index, "my green tea", vectors=[question], spans=[(NOW, NOW + 1.5)])

    assert set(scores.parts) == {
        "text", "vectors", "linked", "share", "neighbour", "speaker", "time", "session",
        "recency", "importance", "repeat",
    }  # fmt: skip
    assert sum(scores.parts.values()).tolist() == pytest.approx(scores.total.tolist())


def test_the_best_by_words_has_a_text_score_of_one() -> None:
    scores = _scores(
        index_of(entry(1, "green tea"), entry(2, "tea"), entry(3, "coffee")), "green tea"
    )

    assert scores.parts["text"].tolist()[0] == 1
    assert scores.parts["text"].tolist()[2] == 0
    assert matched_searches(scores.parts_at([0])[0]) == ("text",)


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("我喜欢喝乌龙茶", "乌龙茶产自哪座山，多少钱一斤？"),
        ("I like oolong", "Which mountain does oolong grow on, and at what price per pound?"),
        ("我喜欢 oolong", "oolong 产自哪座山，多少钱一斤？"),
    ],
)
def test_words_are_relied_on_less_the_less_of_the_question_they_cover(
    said: str, question: str
) -> None:
    index = index_of(entry(1, said), entry(2, "coffee"))

    part = _scores(index, question).parts["text"].tolist()
    in_a_dialogue = _scores(index, f"好 fine\n{question}").parts["text"].tolist()

    assert 0 < part[0] < 1
    assert part[1] == 0
    assert in_a_dialogue[0] == 1


def test_words_that_stand_together_count_again() -> None:
    apart = entry(1, "the bake was fine and so was the sale")
    together = entry(2, "the charity and a bake sale was fine too")
    filler = [entry(number, f"remark {number}") for number in range(3, 9)]

    assert _order([apart, together, *filler], "bake sale")[0] == 2


def test_meaning_finds_what_has_no_word_in_common() -> None:
    near = entry(1, "我对海鲜过敏", vector=vector(1, 0.1))
    far = [entry(number, f"闲谈 {number}", vector=vector(0.1, 1)) for number in range(2, 8)]

    [first] = _order([near, *far], "what should I cook", vectors=[np.array([1, 0], np.float32)])

    assert first == 1


_ORDINARY = normalise_rows(np.array([[0.1, 1], [0, 1], [-0.1, 1], [0.2, 1]] * 4))


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_first_few_memories_are_found_by_meaning(number: int) -> None:
    near = entry(1, "我养了一只小猫", vector=vector(1, 1.2))
    far = [entry(other, f"闲谈 {other}", vector=vector(0.1, 1)) for other in range(2, number + 1)]
    asked = {"vectors": [np.array([1, 0], np.float32)], "background_vectors": _ORDINARY}

    assert _order([near, *far], "what pet do I have?", **asked) == [1]
    assert _order(far, "what pet do I have?", **asked) == []


def test_words_stay_the_reason_while_most_have_no_vector_yet() -> None:
    said = [entry(number, f"remark {number}", vector=vector(1, number)) for number in range(1, 9)]
    waiting = [entry(number, f"note {number}") for number in range(9, 500)]
    key = entry(500, "备用钥匙 hangs behind the blue shutter")
    asked = {"vectors": [np.array([1, 0], np.float32)], "background_vectors": _ORDINARY}

    assert _order([*said, *waiting, key], "where is the 备用钥匙?", **asked)[0] == 500


def test_a_named_time_tells_more_than_chance_among_what_is_alike() -> None:
    films = [
        entry(number, f"看了电影{title}", happened_at=NOW - 10 * DAY * number, vector=near)
        for number, (title, near) in enumerate(
            [("甲", vector(1, 0.20)), ("乙", vector(1, 0.25)), ("丙", vector(1, 0.22))], start=1
        )
    ]
    asked = {
        "vectors": [np.array([1, 0.2], np.float32)],
        "background_vectors": _ORDINARY,
        "spans": [(NOW - 21 * DAY, NOW - 19 * DAY)],
    }

    assert _order(films, "那几天看了什么电影", **asked)[0] == 2


def test_what_the_best_match_names_is_found_too() -> None:
    role = entry(1, "李明是我的下属")
    birthday = entry(2, "李明的生日是3月6日")
    others = [entry(number, f"王芳第{number}次去了图书馆") for number in range(3, 12)]

    ranked = _ranked([role, birthday, *others], "我的下属几月过的生日")

    assert set(ranked.order[:2]) == {0, 1}
    assert "linked" in matched_searches(ranked.scores.parts_at([1])[0])


def test_the_neighbours_of_a_hit_come_along() -> None:
    talk = [
        entry(1, "where did you buy the kettle", session_id="s"),
        entry(2, "at the market, for twenty", session_id="s"),
        entry(3, "at the harbour, for thirty", session_id="other"),
    ]

    assert _order(talk, "kettle") == [1, 2]


@pytest.mark.parametrize(
    ("asked", "answer", "question"),
    [
        ("where did you buy the kettle?", "At the market", "kettle"),
        ("那个水壶在哪儿买的？", "集市上", "水壶"),
        ("那个 kettle 在哪儿买的？", "集市上", "kettle"),
    ],
)
def test_an_answer_follows_its_question_more_closely_than_other_talk(
    asked: str, answer: str, question: str
) -> None:
    def heard(said: str, by: str) -> float:
        talk = [
            entry(1, said, session_id="s", speaker="Anna"),
            entry(2, answer, session_id="s", speaker=by),
        ]
        return float(_scores(index_of(*talk), question).parts["neighbour"][1])

    told = heard(f"{asked[:-1]}。", "Ben")
    assert heard(asked, "Ben") > told > 0
    assert heard(asked, "Anna") == pytest.approx(told, abs=0.01)


def test_the_turn_but_one_comes_along_too() -> None:
    talk = [
        entry(1, "水壶坏了", session_id="s"),
        entry(2, "嗯", session_id="s"),
        entry(3, "明天去集市再买吧", session_id="s"),
        entry(4, "下雨了", session_id="s"),
    ]

    assert _order(talk, "水壶") == [1, 2, 3]


def test_the_questions_of_one_message_share_the_first_places() -> None:
    about_tea = [entry(number, f"green tea shop number {number}") for number in range(1, 15)]
    sister = entry(20, "我妹妹在上海当老师，每天坐地铁")
    wanted = "Where is the green tea shop? Also, 我妹妹几岁？"

    ranked = _ranked([*about_tea, sister], wanted)

    assert 14 in ranked.order[:2]
    assert ranked.scores.parts_at([14])[0]["share"] > 0


def test_the_words_of_whoever_is_named_count_more() -> None:
    said = [
        entry(1, "I will bring the cake", speaker="Anna"),
        entry(2, "I will bring the cake tomorrow", speaker="Ben"),
        entry(3, "I will bring cake", speaker="Cara"),
    ]

    assert _order(said, "Did Anna bring cake?")[0] == 1


@pytest.mark.parametrize(
    ("speaker", "question"),
    [
        ("Priya", "What did PRIYA say?"),
        ("Priya Sharma", "Tell me about Priya"),
        ("张曼婷", "张曼婷说了什么？"),
        ("张曼婷", "曼婷最近怎么样"),
        ("欧阳娜娜", "娜娜 is coming?"),
        ("Anna-Lena", "anna-lena吃什么"),
    ],
)
def test_a_name_alone_finds_the_words_of_its_owner(speaker: str, question: str) -> None:
    said = [
        entry(1, "I am a vegan now", speaker=speaker),
        entry(2, "I eat everything", speaker="Ben"),
        entry(3, "出差好累", speaker=speaker),
    ]

    ranked = _ranked(said, question)

    assert set(ranked.order) == {0, 2}
    assert matched_searches(ranked.scores.parts_at([0])[0]) == ("speaker",)


@pytest.mark.parametrize(
    ("speaker", "told", "question"),
    [
        ("Priya", "Everybody calls Priya Pri", "What does Pri eat?"),
        ("陈静", "大家都叫陈静小咕", "小咕吃什么？"),
        ("Priya Sharma", "Priya 的外号是阿皮", "阿皮 eats what?"),
    ],
)
def test_another_name_of_somebody_finds_their_words(speaker: str, told: str, question: str) -> None:
    said = [
        entry(1, told, speaker="user"),
        entry(2, "I am a vegan now", speaker=speaker),
        entry(3, "Bread again", speaker="Ben"),
    ]

    assert set(_order(said, question)) == {1, 2}


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("I must call Priya about the plumber", "When should the plumber come?"),
        ("记得叫陈静明天下午带上家里那台水泵", "水泵坏了吗？"),
    ],
)
def test_who_is_merely_called_is_not_asked_for(told: str, question: str) -> None:
    said = [
        entry(1, told, speaker="user"),
        entry(2, "The soup was salty", speaker="Priya"),
        entry(3, "汤太咸了", speaker="陈静"),
    ]

    assert _order(said, question) == [1]


def test_the_same_in_other_words_takes_no_places_from_the_question() -> None:
    entries = [entry(number, f"green tea shop number {number}") for number in range(1, 6)]
    entries += [entry(number, f"remark {number} about a kettle") for number in range(6, 12)]
    asked = parse_question("green tea shop", also=["a kettle, perhaps"])
    index = index_of(*entries)

    scores = score_entries(
        index,
        everything(index),
        ScoringQuery(text="green tea shop", question=asked, now=NOW),
        LEARNED_WEIGHTS,
    )

    assert not scores.parts["share"].any()


def test_whoever_is_named_is_not_taken_for_another() -> None:
    said = [
        entry(1, "Anna calls Priya Pri", speaker="user"),
        entry(2, "I am a vegan now", speaker="Priya"),
        entry(3, "Bread again", speaker="Anna"),
    ]

    assert 2 not in _order(said, "What does Anna eat?")


def test_a_speaker_is_not_named_by_a_part_of_a_word() -> None:
    scores = _scores(
        index_of(entry(1, "tea", speaker="Ann"), entry(2, "tea", speaker="Li")),
        "annual tea, like it",
    )

    assert scores.parts["speaker"].tolist() == [0, 0]


def test_a_question_about_oneself_prefers_ones_own_words_unless_it_asks_back() -> None:
    index = index_of(entry(1, "tea", speaker="user"), entry(2, "tea", speaker="assistant"))

    asks = _scores(index, "我喜欢什么茶？").parts["speaker"].tolist()
    asks_back = _scores(index, "你之前给我推荐了什么茶？").parts["speaker"].tolist()

    assert asks[0] > asks[1] == 0
    assert asks_back == [0, 0]


def test_the_time_that_is_named_counts() -> None:
    entries = [
        entry(number, "went to the lake", happened_at=NOW - 10 * number * DAY)
        for number in range(1, 8)
    ]
    span = (NOW - 31 * DAY, NOW - 29 * DAY)

    assert _order(entries, "the lake", spans=[span])[0] == 3


def test_of_several_questions_each_finds_its_own() -> None:
    entries = [entry(1, "我妹妹叫小雨"), entry(2, "我住在杭州"), entry(3, "咖啡很苦")]

    assert set(_order(entries, "我妹妹叫什么？另外，我住在哪个城市？")) == {1, 2}


def test_what_nothing_speaks_for_is_not_found() -> None:
    entries = [entry(1, "green tea"), entry(2, "coffee", importance=1.0)]

    assert _order(entries, "tea") == [1]
    assert _order(entries, "elephant") == []


@pytest.mark.parametrize(
    ("said", "also", "text"),
    [
        ("我每天早上喝乌龙茶", "爸爸不在早上喝乌龙茶，只在晚上喝", "早上喝乌龙茶"),
        ("I drink oolong each morning", "her morning began with oolong", "oolong in the morning"),
        ("我每天早上喝 oolong", "爸爸不在早上喝 oolong，只在晚上喝", "早上喝 oolong"),
    ],
)
def test_a_repeated_statement_stands_behind_what_says_more(said: str, also: str, text: str) -> None:
    others = [entry(number, f"闲谈 chat {number}") for number in range(4, 9)]

    ranked = _ranked([entry(1, said), entry(2, f"{said}."), entry(3, also), *others], text)

    assert ranked.order[-1] == 0
    assert ranked.near_duplicates == {0: 1}
    assert ranked.scores.parts["repeat"][0] < 0


def test_a_repeated_statement_stands_before_what_hardly_bears_on_the_question() -> None:
    entries = [
        entry(1, "taking a taxi from the airport to my hotel would cost sixty"),
        entry(2, "a taxi from the airport to my hotel would cost sixty, I was told"),
        entry(3, "the hotel had a very good breakfast with fresh bread and plums"),
    ]

    ranked = _ranked(entries, "what does a taxi from the airport to the hotel cost")

    assert len(ranked.near_duplicates) == 1
    assert set(ranked.order[:2]) == {0, 1}


def test_what_means_the_same_stands_behind_its_first() -> None:
    entries = [
        entry(1, "我对海鲜过敏，一吃就痒", vector=vector(1, 0.01)),
        entry(2, "海鲜：seafood allergy", vector=vector(1, 0)),
        entry(3, "海鲜市场在港口旁边", vector=vector(0, 1)),
    ]

    ranked = _ranked(entries, "海鲜")

    assert len(ranked.near_duplicates) == 1
    assert ranked.order[-1] in ranked.near_duplicates


def test_what_has_no_words_repeats_nothing() -> None:
    entries = [entry(1, "tea", session_id="s"), entry(2, "？！", session_id="s")]
    entries += [entry(3, "tea", session_id="t"), entry(4, "……", session_id="t")]

    assert not {1, 3} & _ranked(entries, "tea").near_duplicates.keys()


lines = st.lists(st.sampled_from(["tea", "green", "乌龙茶", "早上", "kettle"]), max_size=4).map(
    " ".join
)


@given(
    st.lists(st.tuples(lines, st.sampled_from(["", "a", "b"])), min_size=1, max_size=40),
    lines,
    st.integers(1, 30),
)
def test_scores_never_rise_down_the_list(
    said: list[tuple[str, str]], text: str, wanted: int
) -> None:
    entries = [
        entry(number, line, session_id=where) for number, (line, where) in enumerate(said, 1)
    ]

    ranked = _ranked(entries, text, wanted)

    totals = [ranked.scores.total[position] for position in ranked.order]
    assert totals == sorted(totals, reverse=True)
    assert len(set(ranked.order)) == len(ranked.order)
    assert all(
        list(ranked.order).index(one) > list(ranked.order).index(first)
        for one, first in ranked.near_duplicates.items()
    )
