"""Finished conversations are read back, and follow every forget (contract, section 4)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness import Api, Json, StartHub, StillClock, refused
from plastic_memories.adapters.archive.files import FileArchive
from plastic_memories.errors import Unavailable
from plastic_memories.model.key import KeyLimits

SAID_AT = 1_750_000_000.0


@pytest.fixture
async def api(start_hub: StartHub) -> Api:
    opened: Api = await start_hub(StillClock(), worker="off")
    return opened


async def finished(api: Api, *sentences: str, session_id: str = "s1", **more: Any) -> list[int]:
    """Hold a conversation, end it, and run its jobs."""
    ts = more.pop("ts", SAID_AT)
    ids = [
        await api.say(words, session_id=session_id, ts=ts + number, **more)
        for number, words in enumerate(sentences)
    ]
    place = {"session_id": session_id, **more}
    await api.did("/sessions/end", **place)
    await run_jobs(api)
    return ids


async def run_jobs(api: Api) -> None:
    assert api.hub is not None
    await api.hub.job_runner.run_all_due("test")


async def listed(api: Api, **wanted: Any) -> list[str]:
    return [row["session_id"] for row in (await api.saw("/archive/list", **wanted))["items"]]


async def texts(api: Api, session_id: str = "s1", **place: Any) -> list[str]:
    talk = await api.saw("/archive/get", session_id=session_id, **place)
    return [message["content"] for message in talk["messages"]]


def without_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no file be written or removed from now on."""

    async def fail(*_: Any) -> Any:
        raise Unavailable("The archive is away.")

    for name in ("put", "remove", "remove_under"):
        monkeypatch.setattr(FileArchive, name, fail)


async def test_a_finished_conversation_is_listed_and_read_back(api: Api) -> None:
    ids = await finished(api, "我海鲜过敏", "今天很累", source_app="ide")

    [row] = (await api.saw("/archive/list"))["items"]
    talk: Json = await api.saw("/archive/get", session_id="s1")

    assert (row["session_id"], row["source_app"], row["message_count"]) == ("s1", "ide", 2)
    assert row["start_time"] == "2025-06-15T15:06:40Z"
    assert [message["msg_id"] for message in talk["messages"]] == ids
    assert [fact["content"] for fact in talk["extracted_profiles"]] == ["我海鲜过敏"]
    assert talk.items() >= row.items()


async def test_a_conversation_that_goes_on_is_not_archived(api: Api) -> None:
    await api.say("我海鲜过敏", session_id="s1")

    assert await listed(api) == []
    refused(await api.get("/archive/get", session_id="s1"), 404, "not_found")


async def test_pages_and_times_choose_conversations(api: Api) -> None:
    for number in range(5):
        await finished(api, f"note {number}", session_id=f"s{number}", ts=SAID_AT + number * 100)

    first = await api.saw("/archive/list", limit=2)
    rest = await listed(api, cursor=first["next_cursor"])

    assert [row["session_id"] for row in first["items"]] == ["s4", "s3"]
    assert rest == ["s2", "s1", "s0"]
    assert await listed(api, since=SAID_AT + 300) == ["s4", "s3"]
    assert await listed(api, until=SAID_AT + 100) == ["s0"]
    assert await listed(api, since=SAID_AT + 50, until=SAID_AT + 101) == ["s1"]


@pytest.mark.parametrize("include_messages", [False, True])
async def test_a_forget_is_followed_before_the_file_is_rewritten(
    api: Api, monkeypatch: pytest.MonkeyPatch, include_messages: bool
) -> None:
    await finished(api, "我海鲜过敏", "今天很累")
    without_archive(monkeypatch)

    await api.did(
        "/memory/forget",
        type="profile",
        key="constraint.allergy.seafood",
        include_messages=include_messages,
    )

    talk = await api.saw("/archive/get", session_id="s1")
    assert "海鲜" not in json.dumps(talk, ensure_ascii=False)
    assert "海鲜" not in json.dumps(await api.saw("/archive/list"), ensure_ascii=False)
    assert await texts(api) == ["今天很累"]


async def test_an_edited_and_a_deleted_message_are_followed_at_once(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = await finished(api, "first words", "second words")
    without_archive(monkeypatch)

    await api.did("/messages/edit", message_id=first, content="other words")
    await api.did("/messages/delete", message_id=second)

    assert await texts(api) == ["other words"]


async def test_a_conversation_of_which_nothing_is_left_is_gone(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await finished(api, "first words")
    await finished(api, "other words", session_id="s2")
    without_archive(monkeypatch)

    await api.did("/messages/purge", all=True, session_id="s1")

    assert await listed(api) == ["s2"]
    refused(await api.get("/archive/get", session_id="s1"), 404, "not_found")


async def test_a_persona_that_is_deleted_takes_its_conversations_with_it(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await finished(api, "first words")
    without_archive(monkeypatch)

    await api.did("/persona/delete", confirm="p1")

    assert await listed(api) == []


@pytest.mark.parametrize(
    ("key", "user"), [("devkey2", None), ("appkey", "x"), ("acmekey", "userA")]
)
async def test_conversations_of_a_stranger_do_not_exist(
    api: Api, key: str, user: str | None
) -> None:
    await finished(api, "first words")

    for stranger in (api.as_(key, user), api.of("p2")):
        assert await listed(stranger, bots="all") == []
        answer = await stranger.get("/archive/get", session_id="s1", bots="all")
        refused(answer, 404, "not_found")


async def test_a_key_of_one_app_sees_no_other_apps_conversations(api: Api) -> None:
    assert api.hub is not None
    await finished(api, "said in the editor", source_app="ide")
    await finished(api, "said on the web", session_id="s2", source_app="web")
    text, _ = await api.hub.keys.create("default", "userA", "web", KeyLimits(source_app="web"))
    bound = api.as_(text)

    assert await listed(bound, bots="all") == ["s2"]
    refused(await bound.get("/archive/get", session_id="s1"), 404, "not_found")
    refused(await bound.get("/archive/list", source_app="ide"), 403, "forbidden")


async def test_bots_do_not_read_each_others_conversations(api: Api) -> None:
    await finished(api, "said to one", bot_id="one")
    await finished(api, "said to two", bot_id="two")

    assert await listed(api) == []
    assert await texts(api, bot_id="two") == ["said to two"]
    assert await listed(api, bots="all") == ["s1", "s1"]


async def test_what_retention_removed_is_read_until_it_is_forgotten(
    start_hub: StartHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = StillClock()
    api: Api = await start_hub(clock, worker="off", message_retention_days="7")
    assert api.hub is not None
    await finished(api, "我海鲜过敏", "今天很累")
    clock.at += 30 * 86_400
    await api.hub.upkeep.run_once()
    assert (await api.saw("/messages/recent"))["messages"] == []
    assert await texts(api) == ["我海鲜过敏", "今天很累"]
    without_archive(monkeypatch)

    await api.did("/memory/forget", type="profile", key="constraint.allergy.seafood")

    assert await texts(api) == ["今天很累"]
