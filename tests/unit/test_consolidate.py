"""Memories are put in order while nobody talks; nothing is lost, and all of it can be undone."""

from __future__ import annotations

import pytest

from harness import Api, Json, StartHub, StillClock, refused
from plastic_memories.hub.formation.learn import store_learned_draft
from plastic_memories.hub.transactions.audit_events import hub_caller
from plastic_memories.model.memory import Draft, MemoryType
from plastic_memories.model.owner import Owner
from plastic_memories.worker.loop import Worker

DAY = 86_400.0


@pytest.fixture
async def api(start_hub: StartHub, clock: StillClock) -> Api:
    opened: Api = await start_hub(clock, worker="off")
    return opened


async def put_in_order(api: Api, clock: StillClock, days: float = 1) -> int:
    """Let time pass, and let the hub have a whole round."""
    clock.at += days * DAY
    assert api.hub is not None
    return await api.hub.consolidate.run_full_round()


async def changes(api: Api, event: str) -> list[Json]:
    return [line for line in (await api.saw("/audit"))["items"] if line["event"] == event]


async def test_what_says_the_same_becomes_one(api: Api, clock: StillClock) -> None:
    first = await api.remember("我喜欢喝绿茶", "note", "n1")
    await api.remember("我很喜欢喝绿茶！", "note", "n2", importance=0.8)

    await put_in_order(api, clock)

    assert await api.listed() == ["我喜欢喝绿茶"]
    assert await api.listed("revoked") == ["我很喜欢喝绿茶！"]
    kept = await api.saw("/memory/get", memory_id=first)
    assert kept["importance"] == 0.8


async def test_what_says_the_same_in_both_scripts_becomes_one(api: Api, clock: StillClock) -> None:
    tea = {"attributes": {"value": "烏龍茶"}}
    await api.remember("我很喜歡喝烏龍茶", "fact", "likes.烏龍茶", **tea)
    await api.remember("我喜欢喝乌龙茶", "fact", "likes.乌龙茶", attributes={"value": "乌龙茶"})

    await put_in_order(api, clock)

    assert await api.listed() == ["我很喜歡喝烏龍茶"]


async def test_a_merged_row_keeps_its_words_and_names_the_one_that_stays(
    api: Api, clock: StillClock
) -> None:
    one = await api.remember("I like green tea", "note", "a")
    two = await api.remember("I like green tea.", "note", "b")

    await put_in_order(api, clock)

    assert (await api.saw("/memory/get", memory_id=two))["superseded_by"] == one
    history = await api.saw("/memory/history", memory_id=one)
    assert [row["content"] for row in history["items"]] == ["I like green tea", "I like green tea."]
    [line] = await changes(api, "memory.merge")
    assert (line["memory_id"], line["data"]["into"], line["by"]) == (two, one, "(the hub)")
    assert line["data"]["reason"]


async def learned(api: Api, content: str, key: str) -> int:
    """Store a note as a digest does, with the message it was found in; return the message."""
    message_id = await api.say(content, session_id=key)
    owner = Owner("default", "userA", "p1")
    draft = Draft(
        type=MemoryType.NOTE, key=key, content=content, quote=content,
        source_message_ids=(message_id,), session_id=key,
    )  # fmt: skip
    assert api.hub is not None
    now = api.hub.storage.clock.now()
    await api.hub.storage.write(
        lambda s: store_learned_draft(s, hub_caller(owner.user), owner, draft, now)
    )
    return message_id


async def test_a_merged_memory_is_known_from_both_messages(api: Api, clock: StillClock) -> None:
    first = await learned(api, "我喜欢喝绿茶", "a")
    second = await learned(api, "我喜欢喝绿茶。", "b")

    await put_in_order(api, clock)

    [kept] = (await api.saw("/memory/list", type="note"))["items"]
    assert kept["source_message_ids"] == [first, second]
    await api.did("/messages/delete", message_id=first)
    assert await api.listed(type="note") == ["我喜欢喝绿茶"]
    await api.did("/messages/delete", message_id=second)
    assert await api.listed(type="note") == []


async def test_undoing_a_merge_parts_the_sources_again(api: Api, clock: StillClock) -> None:
    first = await learned(api, "我喜欢喝绿茶", "a")
    second = await learned(api, "我喜欢喝绿茶。", "b")
    await put_in_order(api, clock)
    [line] = await changes(api, "memory.merge")

    await api.did("/memory/undo", audit_id=line["id"])

    rows = (await api.saw("/memory/list", type="note"))["items"]
    assert [row["source_message_ids"] for row in rows] == [[second], [first]]


async def test_what_was_archived_does_not_come_back_without_its_message(
    api: Api, clock: StillClock
) -> None:
    message_id = await learned(api, "路边看到一只蜗牛", "a")
    await put_in_order(api, clock, days=300)
    await put_in_order(api, clock, days=1)
    [line] = await changes(api, "memory.archive")

    await api.did("/messages/delete", message_id=message_id)

    refused(await api.post("/memory/undo", audit_id=line["id"]), 409, "conflict")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("周三和小王一起吃饭", "周三和小李一起吃饭"),
        ("我喜欢猫不喜欢狗", "我喜欢狗不喜欢猫"),
        ("我不喜欢喝咖啡", "我喜欢喝咖啡"),
        ("房租每月 3500 元", "房租每月 35.00 元"),
        ("I work at Google", "I worked at Google"),
        ("I like writing C++", "I like writing C"),
        ("下午三点见小林？", "下午三点见小林"),
    ],
)
async def test_what_says_something_else_stays(
    api: Api, clock: StillClock, one: str, other: str
) -> None:
    await api.remember(one, "note", "a")
    await api.remember(other, "note", "b")

    await put_in_order(api, clock)

    assert await api.listed() == [other, one]


async def test_the_same_value_of_two_keys_is_two_things(api: Api, clock: StillClock) -> None:
    await api.remember("上海市世纪大道一百号", "fact", "address.home")
    await api.remember("上海市世纪大道一百号", "fact", "address.work")

    await put_in_order(api, clock)

    assert len(await api.listed()) == 2


@pytest.mark.parametrize(
    "apart",
    [
        {"bot_id": "b1"},
        {"realm": "story"},
        {"scope": "app", "source_app": "ide"},
        {"speaker": "小王"},
        {"tags": ["work"]},
        {"metadata": {"from": "me"}},
    ],
)
async def test_rows_of_different_places_are_not_merged(
    api: Api, clock: StillClock, apart: Json
) -> None:
    await api.remember("我喜欢喝绿茶", "note", "a")
    await api.remember("我喜欢喝绿茶", "note", "b", **apart)

    await put_in_order(api, clock)

    assert len(await api.listed(bots="all")) == 2


async def test_nobody_elses_rows_are_merged(api: Api, clock: StillClock) -> None:
    callers = (api, api.of("p2"), api.as_("devkey2"), api.as_("acmekey", "userA"))
    for caller in callers:
        await caller.remember("我喜欢喝绿茶", "note", "a")

    assert await put_in_order(api, clock) == 0

    for caller in callers:
        assert await caller.listed() == ["我喜欢喝绿茶"]


async def test_what_was_just_written_is_left_alone(api: Api, clock: StillClock) -> None:
    await api.remember("我喜欢喝绿茶", "note", "a")
    await api.remember("我喜欢喝绿茶", "note", "b")

    assert await put_in_order(api, clock, days=0) == 0


async def test_a_second_round_finds_nothing_to_do(api: Api, clock: StillClock) -> None:
    for key in "abc":
        await api.remember("我喜欢喝绿茶", "note", key)

    assert await put_in_order(api, clock) == 2
    assert await put_in_order(api, clock) == 0


async def test_a_merge_is_undone_and_not_done_again(api: Api, clock: StillClock) -> None:
    one = await api.remember("我喜欢喝绿茶", "note", "a")
    two = await api.remember("我喜欢喝绿茶", "note", "b", importance=0.9)
    await put_in_order(api, clock)
    [line] = await changes(api, "memory.merge")

    undone = await api.did("/memory/undo", audit_id=line["id"])

    assert (undone["memory_id"], undone["memory_status"]) == (two, "active")
    assert (await api.saw("/memory/get", memory_id=one))["importance"] == 0.5
    history = await api.saw("/memory/history", memory_id=two)
    assert [row["id"] for row in history["items"]] == [two]
    assert await put_in_order(api, clock) == 0
    assert set(await api.recalled("绿茶")) == {"我喜欢喝绿茶"}
    refused(await api.post("/memory/undo", audit_id=line["id"]), 409, "conflict")


async def test_only_the_owner_undoes_and_only_what_the_hub_did(api: Api, clock: StillClock) -> None:
    await api.remember("我喜欢喝绿茶", "note", "a")
    await api.remember("我喜欢喝绿茶", "note", "b")
    await put_in_order(api, clock)
    [line] = await changes(api, "memory.merge")
    written = (await changes(api, "memory.write"))[0]

    for other in (api.as_("devkey2"), api.of("p2"), api.as_("acmekey", "userA")):
        refused(await other.post("/memory/undo", audit_id=line["id"]), 404, "not_found")
    refused(await api.post("/memory/undo", audit_id=written["id"]), 409, "conflict")


async def test_forgetting_reaches_what_was_merged(api: Api, clock: StillClock) -> None:
    one = await api.remember("我喜欢喝绿茶", "note", "a")
    two = await api.remember("我喜欢喝绿茶。", "note", "b")
    await put_in_order(api, clock)

    gone = await api.did("/memory/forget", memory_id=one)

    assert gone["memory_ids"] == [one, two]
    assert await api.listed("all") == []


async def test_a_newer_word_of_the_user_resolves_a_contradiction(
    api: Api, clock: StillClock
) -> None:
    old = await api.remember("拉面", "profile", "preference.favorite_food")
    clock.at += DAY
    await api.remember("火锅", "profile", "preference.Favorite-Food")

    await put_in_order(api, clock)

    assert await api.listed() == ["火锅"]
    [line] = await changes(api, "memory.resolve")
    await api.did("/memory/undo", audit_id=line["id"])
    assert await api.status_of(old) == "active"
    assert await put_in_order(api, clock) == 0


async def test_a_contradiction_nobody_said_waits_in_the_inbox(api: Api, clock: StillClock) -> None:
    old = await api.remember("拉面", "profile", "preference.favorite_food")
    new = await api.remember(
        "火锅", "profile", "preference.favorite-food", source_type="imported", confidence=0.7
    )

    await put_in_order(api, clock)

    [waiting] = (await api.saw("/memory/list", status="candidate"))["items"]
    assert waiting["id"] == new
    assert [row["memory_id"] for row in waiting["replaces"]] == [old]
    await api.did("/memory/confirm", memory_id=new)
    assert await api.listed() == ["火锅"]


async def test_a_candidate_that_says_what_is_known_leaves_the_inbox(
    api: Api, clock: StillClock
) -> None:
    await api.remember("在上海做后端开发", "profile", "basic_info.job")
    guess = await api.remember(
        "在上海做后端开发。", "profile", "basic_info.job", source_type="model_inferred"
    )
    assert await api.status_of(guess) == "candidate"

    await put_in_order(api, clock)

    assert await api.listed("candidate") == []
    assert await api.listed() == ["在上海做后端开发"]


async def test_weight_fades_without_use_and_grows_with_it(api: Api, clock: StillClock) -> None:
    idle = await api.remember("家里有一把旧吉他", "note", "a")
    used = await api.remember("周末常去爬山散心", "note", "b")
    await api.recall("爬山")
    assert api.hub is not None
    clock.at += 1
    await api.recall("爬山")
    await api.hub.upkeep.run_once()

    await put_in_order(api, clock, days=31)

    rows = {row["id"]: row for row in (await api.saw("/memory/list"))["items"]}
    assert rows[idle]["importance"] == pytest.approx(0.45)
    assert rows[used]["importance"] > 0.5
    line = next(one for one in await changes(api, "memory.weigh") if one["memory_id"] == idle)
    await api.did("/memory/undo", audit_id=line["id"])
    assert (await api.saw("/memory/get", memory_id=idle))["importance"] == 0.5


async def test_what_must_not_fade_does_not(api: Api, clock: StillClock) -> None:
    await api.confirmed("不吃花生", "constraints", "nuts")
    await api.remember("对海鲜过敏", "profile", "constraint.allergy.seafood")
    pinned = await api.remember("钥匙在花盆底下", "note", "a", importance=0.1)
    await api.did("/memory/update", memory_id=pinned, pinned=True)

    assert await put_in_order(api, clock, days=1000) == 0


async def test_what_is_worn_out_is_archived_and_comes_back(api: Api, clock: StillClock) -> None:
    worn = await api.remember("路边看到一只蜗牛", "note", "a", importance=0.1)
    birthday = await api.remember(
        "妈妈的生日", "event", "birthday.mother", importance=0.1,
        attributes={"date": "05-03", "event_type": "birthday"},
    )  # fmt: skip

    await put_in_order(api, clock, days=200)

    assert await api.status_of(worn) == "revoked"
    assert await api.status_of(birthday) == "active"
    assert await api.recalled("蜗牛") == []
    [line] = await changes(api, "memory.archive")
    await api.did("/memory/undo", audit_id=line["id"])
    assert await api.recalled("蜗牛") == ["路边看到一只蜗牛"]


async def test_it_can_be_switched_off(start_hub: StartHub, clock: StillClock) -> None:
    api = await start_hub(clock, worker="off", consolidate="off")
    await api.remember("我喜欢喝绿茶", "note", "a")
    await api.remember("我喜欢喝绿茶", "note", "b")

    assert await put_in_order(api, clock) == 0


async def test_a_worker_does_it_when_nothing_else_is_due(
    start_hub: StartHub, clock: StillClock
) -> None:
    api = await start_hub(clock, worker="off")
    await api.remember("我喜欢喝绿茶", "note", "a")
    await api.remember("我喜欢喝绿茶", "note", "b")
    clock.at += DAY

    await Worker(api.hub.job_runner, api.hub.consolidate).run_once()

    assert len(await api.listed()) == 1
    text = (await api.http.get("/metrics", headers=api.all_headers)).text
    assert 'memory_consolidations_total{change="merge"} 1.0' in text
