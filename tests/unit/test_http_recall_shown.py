"""What is shown of a recall: each thing once, no fact lost, and a reason for what is left out."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from embedding_parts import LocalServer, about, embedded, serving
from harness import Api, StartHub

DAY = 86_400.0
UNLIKE = [
    (["我周一下午三点去看牙医", "我周二下午三点去看牙医"], "什么时候看牙医"),
    (["我弟弟的生日是3月5日", "我妹妹的生日是3月5日", "我弟弟的生日是3月6日"], "生日是哪天"),
    (["小明欠小红100元", "小红欠小明100元"], "谁欠谁钱"),
    (["我喜欢猫", "我不喜欢猫"], "猫"),
    (["我住在杭州", "我住在杭州西湖边"], "我住在哪里"),
    (["Tom is taller than Jerry", "Jerry is taller than Tom"], "who is taller"),
    (["My locker number is 4711", "My locker number is 4712"], "locker number"),
    (["I love cats", "I do not love cats"], "cats"),
    (["周五 flight CA1234 起飞", "周五 flight CA1235 起飞"], "flight 航班"),
]
ALIKE = [
    (["我喜欢喝绿茶", "我很喜欢喝绿茶。", "我 喜欢 喝 绿茶！", "user: 我喜欢喝绿茶"], "绿茶"),
    (["I like green tea", "I really like green tea", "User: I like green tea."], "green tea"),
    (["我喜欢 green tea", "我很喜欢green tea！"], "green tea"),
]


async def _keep(api: Api, *contents: str, **more: Any) -> list[int]:
    return [
        await api.remember(content, "note", f"k{number}", **more)
        for number, content in enumerate(contents)
    ]


def _shown(found: dict[str, Any]) -> list[str]:
    lines = found["injection_block"].splitlines()
    return [line.partition("] ")[2] for line in lines if line.startswith("- [")]


def _left_out(found: dict[str, Any]) -> dict[int, str | None]:
    return {part["memory_id"]: part["left_out"] for part in found["explain"]}


@pytest.mark.parametrize("engine", ["hybrid", "keyword"])
@pytest.mark.parametrize(("contents", "query"), UNLIKE)
async def test_facts_that_look_alike_are_all_shown(
    start_hub: StartHub, engine: str, contents: list[str], query: str
) -> None:
    api: Api = await start_hub(recall=engine)
    await _keep(api, *contents)

    found = await api.recall(query, explain=True)

    rows = {row["content"] for row in found["PERSONA_MEMORY"]}
    assert len(rows) > 1
    assert sorted(_shown(found)) == sorted(rows)
    assert set(_left_out(found).values()) == {None}


async def test_facts_that_mean_nearly_the_same_are_all_shown(start_hub: StartHub) -> None:
    contents = ["我周一去看牙医", "下周二有牙医预约", "dentist on Wednesday"]
    with serving(LocalServer(about([("牙医", "dentist")]))) as server:
        api: Api = await start_hub(embedder="openai:topics", embedder_base_url=server.url)
        await _keep(api, *contents)
        await embedded(api)

        found = await api.recall("牙医 dentist")

    assert sorted(_shown(found)) == sorted(contents)


@pytest.mark.parametrize("engine", ["hybrid", "keyword"])
@pytest.mark.parametrize(("contents", "query"), ALIKE)
async def test_the_same_in_nearly_the_same_words_is_shown_once(
    start_hub: StartHub, engine: str, contents: list[str], query: str
) -> None:
    api: Api = await start_hub(recall=engine)
    await _keep(api, *contents)

    found = await api.recall(query, explain=True)

    best, *others = [row["id"] for row in found["PERSONA_MEMORY"]]
    assert len(_shown(found)) == 1
    assert len(others) == len(contents) - 1
    why = _left_out(found)
    assert why[best] is None
    same = f"not in the prompt: says the same as memory {best}"
    assert [why[other] for other in others] == [same] * len(others)


async def test_what_happened_on_two_days_happened_twice(api: Api) -> None:
    for number in (0, 10, 10):
        at = 1_700_000_000 + number * DAY
        await api.remember("我跑了5公里", "note", f"k{number}{at}", occurred_at=at)
    await api.remember("我跑了5公里", "note", "again", occurred_at=1_700_000_000)

    lines = (await api.recall("跑了多少公里"))["turn_block"]["text"].splitlines()

    assert [line for line in sorted(lines) if "公里" in line] == [
        "- [2023-11-14] 我跑了5公里",
        "- [2023-11-24] 我跑了5公里",
    ]


async def test_what_two_people_say_is_said_twice(api: Api) -> None:
    for name in ("小明", "小红", "小红"):
        await api.remember("我喜欢猫", "note", name, speaker=name)

    shown = _shown(await api.recall("谁喜欢猫"))

    assert sorted(shown) == ["小明: 我喜欢猫", "小红: 我喜欢猫"]


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("我妈住院了", "我妈怎么样了"),
        ("My mother is in hospital", "how is my mother?"),
        ("我妈在 ICU 住院了", "我妈 ICU"),
    ],
)
async def test_what_was_learned_in_two_ways_is_one_line(api: Api, said: str, query: str) -> None:
    await api.learn(said)
    await api.remember(said, "note", "by hand")
    await api.remember(said, "glossary", "gym.locker.where_i_keep_things")

    found = await api.recall(query, explain=True)

    twice = {line: number for line, number in Counter(_shown(found)).items() if number > 1}
    assert twice == {}
    assert _shown(found).count(said) == 1
    rows = [row["id"] for row in found["PERSONA_MEMORY"] if row["content"] == said]
    why = _left_out(found)
    assert len(rows) > 1
    assert Counter(why[row] is None for row in rows)[True] == 1


@pytest.mark.parametrize("allergy", ["我对花生过敏", "I am allergic to peanuts", "我对 nuts 过敏"])
async def test_what_the_stable_block_says_is_not_said_again(api: Api, allergy: str) -> None:
    core = await api.remember(allergy, "profile", "constraint.allergy.peanut")
    twin = await api.remember(f"{allergy}。", "profile", "constraint.allergy.nuts")
    note = await api.remember(f"{allergy}!", "note", "n", occurred_at=1_700_000_000)

    found = await api.recall(allergy, explain=True)

    assert _shown(found) == [allergy]
    assert found["stable_block"]["text"].count(allergy) == 1
    same = f"not in the prompt: says the same as memory {core}"
    assert {row: _left_out(found)[row] for row in (core, twin, note)} == {
        core: None,
        twin: same,
        note: same,
    }


async def test_what_waits_to_be_confirmed_gives_way_to_what_is_certain(api: Api) -> None:
    await api.remember("不能吃花生", "constraints")
    await api.remember("不能吃花生", "profile", "constraint.food.peanut")

    assert _shown(await api.recall("")) == ["不能吃花生"]


async def test_a_shorter_line_is_not_taken_for_the_beginning_of_another(api: Api) -> None:
    await api.remember("我对花生过敏很多年了", "profile", "constraint.allergy.peanut")
    await api.remember("我对花生过敏", "note", "n")

    shown = _shown(await api.recall("花生"))

    assert sorted(shown) == ["我对花生过敏", "我对花生过敏很多年了"]


async def test_a_rule_that_is_found_stands_in_the_stable_block_alone(api: Api) -> None:
    rule = await api.remember("Answer in one sentence.", "rule", "r")

    found = await api.recall("answer in a sentence", explain=True)

    assert found["injection_block"].count("one sentence") == 1
    assert _left_out(found)[rule] is None


async def test_a_line_of_talk_is_quoted_once_and_the_last_ones_stand_as_they_were(api: Api) -> None:
    for number in range(3):
        await api.say("茶壶是在庙会上买的", ts=1_600_000_000 + number)
    for _ in range(2):
        await api.say("继续")

    shown = _shown(await api.recall("茶壶是在哪里买的"))

    assert shown == ["user: 茶壶是在庙会上买的", "user: 继续", "user: 继续"]


async def _sam(api: Api) -> None:
    await api.learn("Call me Sam. I am allergic to peanuts.")
    await api.remember("My bike is a green Trek", "note", "bike")


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (1, ["bike"]),
        (2, ["bike", "allergic"]),
        (3, ["bike", "allergic", "Sam"]),
        (10, ["bike", "allergic", "Sam"]),
    ],
)
async def test_the_best_hit_comes_first_and_a_constraint_before_a_name(
    api: Api, limit: int, expected: list[str]
) -> None:
    await _sam(api)

    found = await api.recall("what colour is my bike?", limit=limit)

    rows = [row["content"] for row in found["PERSONA_MEMORY"]]
    assert len(rows) == len(expected)
    assert all(word in row for word, row in zip(expected, rows, strict=True))
    assert "allergic" in found["stable_block"]["text"]


async def test_where_nothing_is_found_the_constraint_has_the_only_place(api: Api) -> None:
    await api.learn("叫我小山。我对花生过敏。")

    [row] = (await api.recall("", limit=1))["PERSONA_MEMORY"]

    assert "花生" in row["content"]


@pytest.mark.parametrize("engine", ["hybrid", "keyword"])
async def test_a_hit_that_found_no_place_is_explained(start_hub: StartHub, engine: str) -> None:
    api: Api = await start_hub(recall=engine)
    await _sam(api)
    for number in range(4):
        await api.remember(f"bike number {number} is green", "note", f"b{number}")

    found = await api.recall("green bike", limit=4, explain=True)

    assert [row["score"] > 0 for row in found["PERSONA_MEMORY"]] == [True, True, False, False]
    no_place = "below the limit: the last places are for constraints and identity"
    reasons = [part["left_out"] for part in found["explain"]]
    assert reasons[:6] == [None] * 4 + [no_place] * 2


async def test_of_two_equal_notes_one_is_left_out_and_says_why(api: Api) -> None:
    await api.remember("My locker is number 12", "note", "a")
    await api.remember("My locker is number 12", "note", "b")

    found = await api.recall("locker number", explain=True)

    first, second = found["explain"]
    assert first["left_out"] is None
    assert second["left_out"] == f"not in the prompt: says the same as memory {first['memory_id']}"


async def test_what_no_longer_fits_says_so_though_a_longer_line_holds_its_words(api: Api) -> None:
    [long, short] = await _keep(api, "green tea with honey and lemon at noon", "green tea")
    query = "green tea with honey and lemon"
    needed = (await api.recall(query))["tokens"]

    found = await api.recall(query, budget_tokens=needed - 1, explain=True)

    assert _shown(found) == ["green tea with honey and lemon at noon"]
    spent = "not in the prompt: the token budget is spent"
    assert _left_out(found) == {long: None, short: spent}
