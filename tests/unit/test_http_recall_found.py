"""What hybrid recall finds, as a caller sees it: words, meaning, names, times, neighbours."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from embedding_parts import LocalServer, about, embedded, serving
from harness import Api, StartHub, StillClock

ALLERGY = "我海鲜过敏"
# Remarks that nothing here asks for.
CHATTER = [
    "今天地铁上人很多",
    "新买的键盘声音有点大",
    "the printer on the third floor is broken again",
    "周末打算整理书架",
    "the neighbours are painting their fence",
    "下午的会议改到线上了",
    "my phone needs a new battery",
    "楼下的面包店换了老板",
]


async def _keep(api: Api, *contents: str, **more: object) -> None:
    items = [{"type": "note", "key": content, "content": content, **more} for content in contents]
    await api.did("/memory/write", items=items)


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("我妹妹在杭州的一家茶馆上班", "我妹妹在哪里上班？"),
        ("My brother works at the harbour office", "Where does my brother work?"),
        ("我用 Rust 写了一个 CLI 工具", "那个 rust 写的工具"),
        ("I booked 知味观 for Friday", "知味观 booking"),
        ("我的車停在地下二層", "車停在哪裡"),
    ],
)
async def test_found_in_either_language_among_other_things(
    api: Api, content: str, query: str
) -> None:
    await _keep(api, *CHATTER, content)

    assert (await api.recalled(query))[0] == content


@pytest.mark.parametrize("query", ["晚饭推荐什么？", "what should I cook tonight", ""])
@pytest.mark.parametrize("persona", ["p1", "p2"])
async def test_what_the_user_cannot_eat_comes_along(api: Api, query: str, persona: str) -> None:
    await api.learn(ALLERGY)
    await _keep(api, *CHATTER)

    found = await api.of(persona).recall(query)

    assert "海鲜" in found["injection_block"]
    assert any("海鲜" in row["content"] for row in found["PERSONA_MEMORY"])


async def test_meaning_finds_what_shares_no_word(start_hub: StartHub) -> None:
    topics = [("晚饭", "cook", "海鲜", "seafood"), ("job", "上班", "office")]
    with serving(LocalServer(about(topics))) as server:
        api: Api = await start_hub(embedder="openai:topics", embedder_base_url=server.url)
        await _keep(api, *CHATTER, ALLERGY, "I moved to another office")
        await embedded(api)

        # Not about time: on a busy machine the first question takes longer than a deadline.
        cook = await api.recall("what should I cook tonight", explain=True, deadline_ms=20_000)
        job = await api.recalled("我上班的地方", deadline_ms=20_000)

    assert cook["degraded"] == []
    assert cook["PERSONA_MEMORY"][0]["content"] == ALLERGY
    assert cook["explain"][0]["found_by"] == ["vectors"]
    assert job[0] == "I moved to another office"


async def test_who_is_named_by_a_role_is_found_by_name(api: Api) -> None:
    await _keep(api, *CHATTER, "李明是我的下属", "李明的生日是3月6日", "王芳的生日是5月2日")

    found = await api.recall("我的下属哪天过生日？", explain=True)

    contents = [row["content"] for row in found["PERSONA_MEMORY"]]
    assert "李明的生日是3月6日" in contents[:2]
    explained = {part["memory_id"]: part for part in found["explain"]}
    row = next(row for row in found["PERSONA_MEMORY"] if "3月6日" in row["content"])
    assert explained[row["id"]]["parts"]["linked"] > 0


async def test_several_questions_in_one_message_are_all_answered(api: Api) -> None:
    wanted = ["我妹妹叫小雨", "我的护照放在书房的抽屉里"]
    await _keep(api, *CHATTER, *wanted)

    found = await api.recalled("我妹妹叫什么？另外，我的护照放在哪里了？", limit=2)

    assert set(found) == set(wanted)


async def test_what_was_asked_by_mistake_is_not_searched(api: Api) -> None:
    await _keep(api, *CHATTER, "我喜欢爬山，尤其是黄山", "我的膝盖去年做了手术")

    found = await api.recalled("爬山好玩吗？其实我真正想问的是，我的膝盖怎么样？")

    assert found == ["我的膝盖去年做了手术"]


async def test_other_words_for_a_question_are_searched_beside_it(api: Api) -> None:
    await _keep(api, *CHATTER, "糯米今年三岁了", "My favourite tea is oolong")

    found = await api.recalled("那个呢？", also=["糯米几岁了", "what tea?"])

    assert {"糯米今年三岁了", "My favourite tea is oolong"} <= set(found[:2])


async def test_recent_messages_say_what_is_meant(api: Api) -> None:
    await _keep(api, *CHATTER, "糯米今年三岁了", "小雨今年三十岁了")
    recent = [{"role": "user", "content": "我想给糯米买个新玩具"}]

    assert (await api.recalled("她今年几岁了？", recent_messages=recent))[0] == "糯米今年三岁了"


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("去年冬天我去了哪里？", "去了哈尔滨看冰灯"),
        ("Where did I go last winter?", "去了哈尔滨看冰灯"),
        ("上个月我去了哪里？", "去了苏州看园林"),
    ],
)
async def test_a_time_that_is_named_chooses(timed: Api, query: str, wanted: str) -> None:
    visits = {
        "去了哈尔滨看冰灯": datetime(2025, 1, 10, tzinfo=UTC),
        "去了苏州看园林": datetime(2025, 5, 12, tzinfo=UTC),
        "去了青岛看海": datetime(2024, 8, 3, tzinfo=UTC),
        "去了成都看熊猫": datetime(2024, 10, 4, tzinfo=UTC),
        "去了西安看兵马俑": datetime(2023, 4, 4, tzinfo=UTC),
    }
    for content, day in visits.items():
        await timed.remember(content, "note", content, occurred_at=day.timestamp())

    found = await timed.recalled(query)

    assert found[0] == wanted


async def test_a_speaker_who_is_named_comes_first(api: Api) -> None:
    for name in ("Anna", "Ben", "Cara"):
        await api.remember("I will bring the cake", "note", name, speaker=name)

    found = await api.recall("What did Ben say about the cake?")

    assert found["PERSONA_MEMORY"][0]["speaker"] == "Ben"


async def test_the_line_beside_a_hit_comes_along(api: Api) -> None:
    await _keep(api, *CHATTER)
    for number, line in enumerate(["那把茶壶是在哪里买的？", "在庙会上，花了二十块"]):
        await api.remember(line, "note", f"line{number}", session_id="s1", occurred_at=1e9 + number)

    found = await api.recall("茶壶", explain=True)

    contents = [row["content"] for row in found["PERSONA_MEMORY"]]
    assert contents[:2] == ["那把茶壶是在哪里买的？", "在庙会上，花了二十块"]
    assert found["explain"][1]["found_by"] == ["neighbour"]


async def test_what_is_said_again_stands_behind_its_first(api: Api) -> None:
    await _keep(api, "我每天早上喝乌龙茶", "我每天早上喝乌龙茶！", "早上喝的乌龙茶是爸爸寄来的")
    await _keep(api, *CHATTER)

    found = await api.recall("我早上喝乌龙茶吗", explain=True)

    contents = [row["content"] for row in found["PERSONA_MEMORY"]]
    assert contents[1] == "早上喝的乌龙茶是爸爸寄来的"
    assert len(contents) == 3
    assert found["explain"][2]["parts"]["repeat"] < 0
    scores = [row["score"] for row in found["PERSONA_MEMORY"]]
    assert scores == sorted(scores, reverse=True)


async def test_every_change_is_seen_by_the_next_recall(api: Api) -> None:
    await _keep(api, *CHATTER)
    assert await api.recalled("乌龙茶") == []

    await api.remember("爱喝乌龙茶", "fact", "tea")
    assert await api.recalled("乌龙茶") == ["爱喝乌龙茶"]
    await api.remember("不再喝乌龙茶了", "fact", "tea")
    assert await api.recalled("乌龙茶") == ["不再喝乌龙茶了"]
    await api.did("/memory/forget", type="fact", key="tea")
    assert await api.recalled("乌龙茶") == []


async def test_a_confirmed_candidate_is_found_and_a_revoked_one_is_not(api: Api) -> None:
    waiting = await api.remember("prefers jasmine tea", "preferences", "k")
    before = await api.recalled("jasmine")

    await api.did("/memory/confirm", memory_id=waiting)
    confirmed = await api.recalled("jasmine")
    await api.did("/memory/revoke", memory_id=waiting)

    assert (before, confirmed) == ([], ["prefers jasmine tea"])
    assert await api.recalled("jasmine") == []


async def test_a_memory_is_found_until_its_time_is_over(timed: Api, clock: StillClock) -> None:
    await timed.remember("parking ticket 42", "note", "k", ttl_seconds=60)
    while_it_lasts = await timed.recalled("parking")

    clock.at += 60

    assert while_it_lasts == ["parking ticket 42"]
    assert await timed.recalled("parking") == []


async def test_what_was_left_out_is_explained(api: Api) -> None:
    await _keep(api, "green tea at noon", "tea with honey", "a box of black tea from home")

    found = await api.recall("tea", limit=1, explain=True)

    kept, *left_out = found["explain"]
    assert kept["memory_id"] == found["PERSONA_MEMORY"][0]["id"]
    assert kept["left_out"] is None
    assert [part["left_out"] for part in left_out] == ["below the limit"] * 2
    assert all(part["score"] <= kept["score"] for part in left_out)
