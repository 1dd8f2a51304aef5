"""What is true of the user whoever they talk to is one row per user, not one per persona."""

from __future__ import annotations

import json

from harness import Api


async def test_a_name_told_to_a_second_persona_replaces_the_first(api: Api) -> None:
    other = api.of("p2")
    await api.learn("我叫小林")
    await other.learn("我叫林晓雨")

    blocks = [(await one.recall("你好"))["stable_block"]["text"] for one in (api, other)]

    assert all("林晓雨" in block for block in blocks)
    assert all("小林" not in block for block in blocks)


async def test_an_allergy_told_twice_is_one_row(api: Api) -> None:
    await api.learn("我对海鲜过敏")
    await api.of("p2").learn("我对海鲜过敏")

    rows = (await api.of("p2").saw("/memory/list"))["items"]

    assert [row["key"] for row in rows] == ["constraint.allergy.seafood"]
    assert rows[0]["scope"] == "global"


async def test_each_persona_may_call_the_user_by_another_name(api: Api) -> None:
    other, third = api.of("p2"), api.of("p3")
    await api.learn("叫我老板")
    await other.learn("叫我小林")

    blocks = [(await one.recall("你好"))["stable_block"]["text"] for one in (api, other, third)]

    assert ["老板" in block for block in blocks] == [True, False, False]
    assert ["小林" in block for block in blocks] == [False, True, True]


async def test_any_persona_can_change_and_forget_what_all_share(api: Api) -> None:
    other = api.of("p2")
    [item] = (await api.learn("我对海鲜过敏"))["items"]

    await other.did("/memory/update", memory_id=item["memory_id"], content="我对虾过敏")
    [row] = (await other.saw("/memory/list"))["items"]
    gone = await other.did("/memory/forget", memory_id=row["id"], never_again=True)
    learned = await api.learn("我对海鲜过敏")

    assert row["content"] == "我对虾过敏"
    assert gone["deleted"] == 2
    assert learned["items"] == []


async def test_a_deleted_persona_takes_what_it_was_told(api: Api) -> None:
    other = api.of("p2")
    await api.learn("我对海鲜过敏")
    await other.learn("我叫小林")

    await api.did("/persona/delete", confirm="p1")

    rows = (await other.saw("/memory/list"))["items"]
    assert [row["key"] for row in rows] == ["basic_info.name"]


async def test_a_bot_has_user_facts_of_its_own(api: Api) -> None:
    await api.learn("我叫小林")

    blocks = (await api.recall("你好", bot_id="b1"))["stable_block"]["text"]

    assert "小林" not in blocks


async def test_an_export_brings_a_user_fact_once(api: Api) -> None:
    await api.of("p2").learn("我喜欢爵士乐")
    await api.learn("我对海鲜过敏")

    lines = [json.loads(line) for line in (await api.export()).decode().splitlines()]

    keys = [line["key"] for line in lines if line["kind"] == "memory"]
    assert keys.count("constraint.allergy.seafood") == 1
