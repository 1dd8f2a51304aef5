"""The newest wins: in memories, in quoted talk and in summaries (contract, section 6)."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Api, Json, StartHub, StillClock

DAY_S = 86_400.0


@pytest.fixture
async def api(start_hub: StartHub) -> Api:
    """A hub without a worker: what is digested is digested when the test says so."""
    opened: Api = await start_hub(StillClock(), worker="off")
    return opened


async def said(api: Api, content: str, *, day: int = 0, **more: Any) -> int:
    """Say something in a session of its day and have it digested."""
    place = {"session_id": f"s{day}", **more}
    message_id = await api.say(content, ts=1_750_000_000.0 + day * DAY_S, **place)
    run = {name: place[name] for name in ("session_id", "bot_id") if name in place}
    await api.did("/jobs/run", wait=True, **run)
    return message_id


async def prompt_lines(api: Api, query: str) -> list[str]:
    found = await api.recall(query)
    text = found["stable_block"]["text"] + "\n" + found["turn_block"]["text"]
    return text.splitlines()


async def corrections(api: Api) -> list[Json]:
    changes = (await api.saw("/audit"))["items"]
    return [change for change in changes if change["event"] == "memory.correct"]


async def test_a_name_that_is_refused_is_no_longer_active(api: Api) -> None:
    await said(api, "hi 你好呀 我叫Kelvin")
    known = await api.listed(key_prefix="basic_info.")

    await said(api, "喂 唔好再叫我Kelvin", day=1)

    assert any("Kelvin" in row for row in known)
    assert not any("Kelvin" in row for row in await api.listed(key_prefix="basic_info."))


async def test_an_event_that_no_rule_can_move_ends_with_its_correction(api: Api) -> None:
    await said(api, "我12月12号考六级")
    assert any("六级" in row for row in await api.listed(type="event"))

    await said(api, "哦六级那个我看错了 是下周那个", day=1)

    assert not any("12-12" in row for row in await api.listed(type="event"))


async def test_an_old_statement_is_quoted_with_its_correction_beside_it(api: Api) -> None:
    await said(api, "portfolio review is dec 3 and i have one drawing")

    await said(api, "so review got pushed to dec 8 thank god", day=1)

    lines = [line for line in await prompt_lines(api, "when is my review") if "dec 3" in line]
    assert lines
    assert all("corrected later" in line and "dec 8" in line for line in lines)


async def test_two_values_of_one_thing_need_no_cue(api: Api) -> None:
    await said(api, "我在上海工作")

    await said(api, "我在深圳上班", day=1)

    lines = [line for line in await prompt_lines(api, "我在哪上班") if "上海" in line]
    assert all("深圳" in line for line in lines)
    assert not any("上海" in row for row in await api.listed())


async def test_two_values_in_one_conversation_are_told_apart(api: Api) -> None:
    await api.say("我在上海工作", session_id="s1")

    await said(api, "我在深圳上班", session_id="s1")

    lines = [line for line in await prompt_lines(api, "我在哪上班") if "上海" in line]
    assert all("深圳" in line for line in lines)


async def test_a_summary_no_longer_holds_what_was_corrected(api: Api) -> None:
    await said(api, "我叫小林。我做后端开发。我对芒果过敏。")
    assert any("后端" in row for row in await api.listed(type="summary"))

    await said(api, "我换工作了 现在带团队", day=1)

    summaries = await api.listed(type="summary")
    assert not any("后端" in row for row in summaries)
    assert any("芒果" in row for row in summaries)


async def test_a_deleted_correction_restores_what_it_ended(api: Api) -> None:
    await said(api, "我12月12号考六级")
    before = await api.listed(type="event")
    correcting = await said(api, "哦六级那个我看错了 是下周那个", day=1)
    assert await api.listed(type="event") != before

    done = await api.did("/messages/delete", message_id=correcting)

    assert await api.listed(type="event") == before
    assert done["restored"]
    assert not any("后来更正" in line for line in await prompt_lines(api, "六级哪天考"))


async def test_an_edited_correction_is_read_again(api: Api) -> None:
    await said(api, "我12月12号考六级")
    before = await api.listed(type="event")
    message_id = await said(api, "六级好难啊", day=1)

    await api.did("/messages/edit", message_id=message_id, content="六级取消了")

    assert before
    assert await api.listed(type="event") == []


async def test_a_correction_is_undone_and_not_made_again(api: Api) -> None:
    await said(api, "我12月12号考六级")
    before = await api.listed(type="event")
    await said(api, "哦六级那个我看错了 是下周那个", day=1)
    [change] = await corrections(api)

    await api.did("/memory/undo", audit_id=change["id"])

    assert await api.listed(type="event") == before
    await said(api, "随便说一句", day=1)
    assert await api.listed(type="event") == before


async def test_what_is_learned_late_is_corrected_as_well(api: Api) -> None:
    await api.say("我12月12号考六级", session_id="s0", ts=1_750_000_000.0)
    await said(api, "哦六级那个我看错了 是下周那个", day=1)

    await api.did("/jobs/run", session_id="s0", wait=True)

    assert await api.listed(type="event") == []


@pytest.mark.parametrize("reply", ["不对啊哥们", "actually i like it", "turns out it was fun"])
async def test_what_only_sounds_like_a_correction_ends_nothing(api: Api, reply: str) -> None:
    await said(api, "我12月12号考六级")
    await said(api, "我对芒果过敏")
    before = await api.listed()

    await said(api, reply, day=1)

    assert set(before) <= set(await api.listed())
    assert await corrections(api) == []


async def test_a_bots_correction_is_not_told_to_another_bot(api: Api) -> None:
    await said(api, "portfolio review is dec 3", bot_id="b1")

    await said(api, "so review got pushed to dec 8", day=1, bot_id="b2")

    found = await api.recall("when is my review", bot_id="b1")
    assert "dec 3" in found["turn_block"]["text"]
    assert "dec 8" not in found["turn_block"]["text"]


async def test_a_correction_that_is_sent_to_be_learned_ends_what_it_corrects(api: Api) -> None:
    await api.learn("我12月12号考六级", "我对芒果过敏")
    assert await api.listed(type="event")

    await api.learn("哦六级那个我看错了 是下周那个")

    assert await api.listed(type="event") == []
    assert await api.listed(type="profile") == ["我对芒果过敏"]


async def test_a_correction_ends_a_written_memory(api: Api) -> None:
    await api.remember("trip to japan in april", "note", "trip")
    kept = await api.remember("my sister lives in york", "note", "sister")

    await said(api, "japan is cancelled, visa didnt come")

    assert await api.listed(type="note") == ["my sister lives in york"]
    assert await api.status_of(kept) == "active"
