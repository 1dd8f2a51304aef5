"""What was said competes with the memories, and only where it may be told again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from harness import Api, Json, StartHub, StillClock
from plastic_memories.adapters.recall import hybrid
from plastic_memories.model.owner import Owner

DAY = 86_400.0
MINE = Owner("default", "userA", "p1")
SECRET = "我怀孕了 先别告诉别人"


@pytest.fixture
async def api(start_hub: StartHub, clock: StillClock) -> Api:
    """A hub without a worker: nothing is known but what was said."""
    opened: Api = await start_hub(clock, worker="off")
    return opened


def _said(found: Json) -> list[str]:
    return [row["content"] for row in found["CHAT_SNIPPETS"]]


async def _asked(api: Api, query: str, **more: Any) -> list[str]:
    found = await api.recall(query, **more)
    assert found["degraded"] == []
    return _said(found)


async def test_a_quote_stands_under_its_own_heading_with_date_and_speaker(
    api: Api, clock: StillClock
) -> None:
    await api.say("我把护照放在书房抽屉里", ts=clock.at - 60 * DAY, speaker="小雨", session_id="a")

    found = await api.recall("护照在哪里")

    block = found["turn_block"]["text"]
    assert "## 说过的话\n- [2025-04-16] 小雨: 我把护照放在书房抽屉里" in block


async def test_snippets_are_counted_together(api: Api, clock: StillClock) -> None:
    for number in range(40):
        await api.say(f"护照的第{number}页", ts=clock.at - 60 * DAY + number, session_id="a")
    for number in range(30):
        await api.say(f"闲聊第{number}句", ts=clock.at - 100 + number, session_id="b")

    found = await api.recall("护照")

    assert len(found["CHAT_SNIPPETS"]) == 20
    assert any("闲聊" in content for content in _said(found))


async def test_the_type_message_searches_talk_alone(api: Api, clock: StillClock) -> None:
    await api.remember("护照快过期了", "note", "n1")
    await api.say("护照在抽屉里", ts=clock.at - 60 * DAY)

    found = await api.recall("护照", types=["message"])

    assert found["PERSONA_MEMORY"] == []
    assert _said(found) == ["护照在抽屉里"]


async def test_memories_score_the_same_whatever_was_said(api: Api, clock: StillClock) -> None:
    for number, text in enumerate(["我喜欢乌龙茶", "I bought tea in Berlin", "茶杯碎了"]):
        await api.remember(text, "note", f"n{number}")
    before = (await api.recall("tea 茶"))["PERSONA_MEMORY"]
    for number in range(60):
        await api.say(f"tea 茶 {number}", ts=clock.at - 60 * DAY + number, session_id="a")

    after = (await api.recall("tea 茶"))["PERSONA_MEMORY"]

    assert [(row["id"], row["score"]) for row in after] == [
        (row["id"], row["score"]) for row in before
    ]


async def test_the_assistant_and_questions_weigh_less(api: Api, clock: StillClock) -> None:
    at = clock.at - 60 * DAY
    told = [
        ("user", "护照放在书房的抽屉里面了", "a"),
        ("assistant", "护照放在书房的柜子里面了", "b"),
        ("user", "护照放在书房的哪里来着？", "c"),
    ]
    for role, content, session in told:
        await api.did("/messages/append", role=role, content=content, ts=at, session_id=session)

    found = await api.recall("护照放在书房", explain=True)

    contents = {row["id"]: row["content"] for row in found["CHAT_SNIPPETS"]}
    ranked = [contents[row["message_id"]] for row in found["explain"] if "message_id" in row]
    assert ranked[0] == "护照放在书房的抽屉里面了"


async def test_the_question_before_and_the_answer_after_come_along(
    api: Api, clock: StillClock
) -> None:
    at = clock.at - 60 * DAY
    for number, (role, content) in enumerate(
        [("assistant", "你的猫叫什么名字？"), ("user", "糯米"), ("user", "今天好累啊不想动")]
    ):
        await api.did(
            "/messages/append", role=role, content=content, ts=at + number, session_id="a"
        )

    said = await _asked(api, "我的猫叫什么")

    assert {"你的猫叫什么名字？", "糯米"} <= set(said)


async def test_a_memory_and_the_utterance_it_came_from_take_one_place(
    start_hub: StartHub, clock: StillClock
) -> None:
    api: Api = await start_hub(clock)
    at = clock.at - 60 * DAY
    await api.say("我对海鲜过敏", ts=at, session_id="a")
    await api.did("/sessions/end", session_id="a")
    await api.did("/jobs/run", wait=True)

    found = await api.recall("海鲜")

    assert "我对海鲜过敏" in found["stable_block"]["text"]
    assert found["CHAT_SNIPPETS"] == []


async def test_what_is_told_in_private_is_not_quoted_in_a_group(
    api: Api, clock: StillClock
) -> None:
    at = clock.at - 2 * DAY
    await api.say(SECRET, ts=at, session_id="dm", message_type="private", speaker="安娜")
    await api.say("大家晚上好", ts=at + 60, session_id="g1", message_type="group", speaker="本")

    in_group = await _asked(api, "谁怀孕了", session_id="g1")
    in_private = await _asked(api, "谁怀孕了", session_id="dm")

    assert SECRET not in in_group
    assert SECRET in in_private


async def test_what_one_member_tells_in_private_is_not_told_to_another(
    api: Api, clock: StillClock
) -> None:
    at = clock.at - 2 * DAY
    await api.say(SECRET, ts=at, session_id="dm1", message_type="private", speaker="安娜")
    await api.say("在吗", ts=at + 60, session_id="dm2", message_type="private", speaker="本")
    await api.say("我回来了", ts=at + 90, session_id="dm3", message_type="private", speaker="安娜")

    to_another = await _asked(api, "谁怀孕了", session_id="dm2")
    to_herself = await _asked(api, "谁怀孕了", session_id="dm3")

    assert SECRET not in to_another
    assert SECRET in to_herself


@pytest.mark.parametrize("way", ["delete", "edit", "replace", "purge"])
async def test_what_is_gone_leaves_the_index_at_once(api: Api, clock: StillClock, way: str) -> None:
    message_id = await api.say("护照在抽屉里", ts=clock.at - 60 * DAY, session_id="a")
    assert await _asked(api, "护照") == ["护照在抽屉里"]

    if way == "purge":
        await api.did("/messages/purge", all=True)
    else:
        more = {} if way == "delete" else {"content": "什么也没有"}
        await api.did(f"/messages/{way}", message_id=message_id, **more)

    assert await _asked(api, "护照") == []


async def test_older_messages_are_indexed_in_the_background(api: Api, clock: StillClock) -> None:
    assert api.hub is not None
    last = 0
    for number in range(5):
        last = await api.say(f"护照的第{number}页", ts=clock.at - 60 * DAY + number)

    def forget_index(stores: Any) -> None:
        stores.connection.execute("DELETE FROM talk_entries")
        stores.connection.execute(
            "INSERT INTO meta VALUES ('talk_unindexed_upto', ?)", (str(last),)
        )

    await api.hub.storage.write(forget_index)
    waiting = (await api.saw("/health"))["message_index_backlog"]
    await api.hub.storage.write(lambda stores: stores.messages.index_older(2))
    newest_first = (await api.saw("/health"))["message_index_backlog"]
    await api.hub.upkeep.run_once()

    assert (waiting, newest_first) == (5, 3)
    assert (await api.saw("/health"))["message_index_backlog"] == 0
    entries = await api.hub.storage.read(lambda stores: stores.talk_entries.changes_since(MINE))
    assert len(entries.entries) == 5


async def test_a_large_index_is_read_in_the_background(
    api: Api, clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hybrid, "_MAX_READ_AT_ONCE", 5)
    for number in range(8):
        await api.say(f"护照的第{number}页", ts=clock.at - 60 * DAY + number)

    first = await api.recall("护照")
    async with asyncio.timeout(20):
        while (later := await api.recall("护照"))["degraded"]:
            pass

    assert first["degraded"] == ["talk"]
    assert len(_said(first)) == 8
    assert len(_said(later)) == 8


async def test_the_kind_of_a_question_adds_rows(api: Api, clock: StillClock) -> None:
    await api.remember("用户在二中读书", "profile", "education.school")
    await api.remember(
        "搬家到南京", "event", "e1", importance=0.9, attributes={"date": "2025-06-18"}
    )
    await api.remember("换了手机壳", "event", "e2", importance=0.1)

    assert "用户在二中读书" in await api.recalled("你了解我吗")
    assert await api.recalled("我有什么重要的事情吗") == ["搬家到南京"]
    assert "搬家到南京" in await api.recalled("这礼拜还有啥事")
    assert "搬家到南京" in await api.recalled("你还记得那件事吗")
