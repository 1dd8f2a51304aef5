"""Messages: kept once, for their time, and erased when asked to (contract, section 4)."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Api, StartHub, StillClock, refused

DAY = 86_400


async def contents(api: Api, **params: Any) -> list[str]:
    found = await api.saw("/messages/recent", **{"limit": 200, **params})
    return [message["content"] for message in found["messages"]]


async def test_a_message_comes_back_as_it_was_said(api: Api) -> None:
    message_id = await api.say(
        "你好 world 🍵",
        speaker="小明",
        session_id="s1",
        source_app="cli",
        ts=4_000_000_000.5,
        client_msg_id="c1",
    )

    [row] = (await api.saw("/messages/recent"))["messages"]

    assert row["id"] == message_id
    assert (row["content"], row["speaker"], row["role"]) == ("你好 world 🍵", "小明", "user")
    assert (row["session_id"], row["source_app"]) == ("s1", "cli")
    assert (row["ts"], row["client_msg_id"], row["hidden"]) == (4_000_000_000.5, "c1", False)


@pytest.mark.parametrize("role", ["user", "assistant", "system", "tool"])
async def test_every_role_may_speak(api: Api, role: str) -> None:
    said = await api.did("/messages/append", role=role, content="x")

    assert said["message_ids"] == [said["message_id"]]


async def test_an_unknown_role_is_refused(api: Api) -> None:
    refused(await api.post("/messages/append", role="god", content="x"), 422, "validation_error")


async def test_the_same_client_msg_id_is_stored_once(api: Api) -> None:
    first = await api.say("hello", client_msg_id="c1")

    again = await api.did(
        "/messages/append", role="user", content="hello again", client_msg_id="c1"
    )

    assert (again["message_id"], again["deduped"]) == (first, [first])
    assert await contents(api) == ["hello"]


async def test_a_batch_dedupes_within_itself(api: Api) -> None:
    message = {"role": "user", "content": "x", "client_msg_id": "c1"}

    said = await api.did("/messages/append", messages=[message, message])

    assert len(set(said["message_ids"])) == 1
    assert len(await contents(api)) == 1


async def test_a_batch_of_100_is_kept_in_its_order(api: Api) -> None:
    batch = [{"role": "user", "content": f"第 {n} 句"} for n in range(100)]

    said = await api.did("/messages/append", messages=batch, session_id="s1")

    assert len(said["message_ids"]) == 100
    assert await contents(api, session_id="s1") == [f"第 {n} 句" for n in reversed(range(100))]


@pytest.mark.parametrize("count", [0, 101])
async def test_a_batch_of_another_size_is_refused_whole(api: Api, count: int) -> None:
    batch = [{"role": "user", "content": "x"}] * count

    refused(await api.post("/messages/append", messages=batch), 422, "validation_error")

    assert await contents(api) == []


async def test_one_bad_message_refuses_the_batch(api: Api) -> None:
    batch = [{"role": "user", "content": "x"}, {"role": "user", "content": "y" * 32_001}]

    refused(await api.post("/messages/append", messages=batch), 422, "validation_error")

    assert await contents(api) == []


async def test_recent_messages_are_filtered_and_paged(timed: Api, clock: StillClock) -> None:
    ids = [
        await timed.say(f"m{n}", session_id=f"s{n % 2}", source_app=f"a{n % 3}", ts=clock.at - n)
        for n in range(6)
    ]

    assert await contents(timed, session_id="s1") == ["m5", "m3", "m1"]
    assert await contents(timed, source_app="a0") == ["m3", "m0"]
    assert await contents(timed, before_id=ids[2]) == ["m1", "m0"]
    assert await contents(timed, limit=2) == ["m5", "m4"]


async def test_recent_messages_of_the_last_days(timed: Api, clock: StillClock) -> None:
    await timed.say("old", ts=clock.at - 3 * DAY)
    await timed.say("new", ts=clock.at - DAY)

    assert await contents(timed, days=2) == ["new"]


async def some_talk(api: Api, clock: StillClock) -> None:
    for days, session in [(10, "s1"), (5, "s1"), (5, "s2"), (0, "s2")]:
        await api.say(f"{days} days ago in {session}", session_id=session, ts=clock.at - days * DAY)


@pytest.mark.parametrize(
    ("which", "left"),
    [
        ({"all": True}, 0),
        ({"days": 0}, 0),
        ({"days": 7}, 3),
        ({"days": 1}, 1),
        ({"before_ts": 1_750_000_000.0 - 7 * DAY}, 3),
        ({"all": True, "session_id": "s1"}, 2),
        ({"days": 7, "session_id": "s2"}, 4),
    ],
)
async def test_a_purge_erases_what_it_names(
    timed: Api, clock: StillClock, which: dict[str, Any], left: int
) -> None:
    await some_talk(timed, clock)

    purged = await timed.did("/messages/purge", **which)

    assert purged["deleted"] == 4 - left
    assert len(await contents(timed)) == left
    assert len((await timed.recall("", now=clock.at))["CHAT_SNIPPETS"]) <= left


@pytest.mark.parametrize("which", [{}, {"all": False}, {"days": -1}, {"session_id": "s1"}])
async def test_a_purge_that_names_nothing_is_refused(
    timed: Api, clock: StillClock, which: dict[str, Any]
) -> None:
    await some_talk(timed, clock)

    refused(await timed.post("/messages/purge", **which), 422, "validation_error")

    assert len(await contents(timed)) == 4


async def test_old_messages_go_by_themselves(start_hub: StartHub, clock: StillClock) -> None:
    api = await start_hub(clock, message_retention_days="7")
    await some_talk(api, clock)

    await api.hub.upkeep.run_once()

    assert len(await contents(api)) == 3


async def test_a_crowded_persona_keeps_its_newest(start_hub: StartHub, clock: StillClock) -> None:
    api = await start_hub(clock, message_max_per_persona="2")
    await some_talk(api, clock)
    await some_talk(api.of("p2"), clock)

    await api.hub.upkeep.run_once()

    for persona in (api, api.of("p2")):
        assert await contents(persona) == ["0 days ago in s2", "5 days ago in s2"]


async def test_retention_leaves_the_index_sound(start_hub: StartHub, clock: StillClock) -> None:
    api = await start_hub(clock, message_retention_days="7", message_max_per_persona="1")
    await some_talk(api, clock)

    await api.hub.upkeep.run_once()

    assert await api.hub.storage.read(lambda stores: stores.upkeep.check()) == []
    assert (await api.recall(""))["CHAT_SNIPPETS"][0]["content"] == "0 days ago in s2"
