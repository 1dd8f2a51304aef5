"""A session that is deleted as a whole takes what was learned in it with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness import Api, Json, StartHub, StillClock, refused

MOVED = 1_750_000_000.0


@pytest.fixture
async def clock() -> StillClock:
    return StillClock()


@pytest.fixture
async def api(start_hub: StartHub, clock: StillClock) -> Api:
    """A hub without a worker: what is digested is digested when the test says so."""
    opened: Api = await start_hub(clock, worker="off")
    return opened


async def said(api: Api, content: str, *, ts: float = 0, **more: Any) -> int:
    """Say something in a session and have it digested."""
    place = {"session_id": "s1", **more}
    message_id = await api.say(content, ts=MOVED + ts, **place)
    await digested(api, session_id=place["session_id"])
    return message_id


async def digested(api: Api, session_id: str = "s1") -> None:
    await api.did("/jobs/run", session_id=session_id, wait=True)


async def delete(api: Api, session_id: str = "s1", **more: Any) -> Json:
    done: Json = await api.did("/messages/delete", session_id=session_id, all=True, **more)
    return done


async def facts(api: Api, **more: Any) -> list[str]:
    return sorted(await api.listed("active", type="profile", **more))


async def texts(api: Api, **more: Any) -> list[str]:
    found = await api.saw("/messages/recent", bots="all", **more)
    return [one["content"] for one in reversed(found["messages"])]


@pytest.mark.parametrize(
    "talk", [("我对海鲜过敏", "我叫小明"), ("I am allergic to peanuts", "My name is Tom")]
)
async def test_what_was_learned_in_the_session_goes_with_it(
    api: Api, talk: tuple[str, str]
) -> None:
    for number, words in enumerate(talk):
        await said(api, words, ts=number)
    known = (await api.saw("/memory/list", limit=100))["items"]
    assert len(await facts(api)) == 2

    done = await delete(api)

    assert done["deleted"] == 2
    assert sorted(done["retracted"]) == sorted(row["id"] for row in known)
    assert await api.listed() == []
    assert await texts(api) == []
    assert talk[0] not in (await api.recall(talk[0]))["injection_block"]
    assert api.hub is not None
    assert await api.hub.storage.read(lambda stores: stores.upkeep.check()) == []


async def test_what_another_session_says_too_stays(api: Api) -> None:
    await said(api, "我对海鲜过敏")
    await said(api, "My name is Tom", ts=1)
    other = await said(api, "我对海鲜过敏", ts=5, session_id="s2")

    await delete(api)

    [row] = (await api.saw("/memory/list", type="profile"))["items"]
    assert (row["content"], row["source_message_ids"]) == ("我对海鲜过敏", [other])
    assert "我对海鲜过敏" in (await api.recall(""))["stable_block"]["text"]


async def test_what_was_known_before_the_session_holds_again(api: Api) -> None:
    await said(api, "我叫小红", session_id="s0")
    await said(api, "我叫小刚", ts=5)
    await said(api, "我叫小明", ts=9)

    done = await delete(api)

    assert len(done["restored"]) == 1
    assert await facts(api) == ["我叫小红"]


async def test_what_a_person_has_written_or_confirmed_stays(api: Api) -> None:
    await api.remember("我海鲜过敏", "profile", "constraint.allergy.seafood")
    message_id = await said(api, "我海鲜过敏")
    candidate = await api.remember(
        "moving soon", "fact", "x", source_type="model_inferred", source_message_ids=[message_id]
    )
    await api.did("/memory/confirm", memory_id=candidate)

    await delete(api)

    assert sorted(await api.listed()) == ["moving soon", "我海鲜过敏"]


async def test_other_sessions_bots_personas_and_users_keep_theirs(api: Api) -> None:
    await said(api, "我对海鲜过敏")
    await said(api, "I like tea", session_id="s2")
    await api.say("by a bot", session_id="s1", bot_id="b1")
    await api.say("另一个角色", session_id="s1", persona_id="other")
    stranger = api.as_("devkey2")
    await stranger.say("theirs", session_id="s1")

    await delete(api)

    assert await texts(api) == ["I like tea", "by a bot"]
    assert await texts(api, persona_id="other") == ["另一个角色"]
    assert await texts(stranger) == ["theirs"]

    assert (await delete(api, bots="all"))["deleted"] == 1


async def test_a_session_is_deleted_once(api: Api) -> None:
    await said(api, "我对海鲜过敏")
    await delete(api)

    again = await delete(api)

    assert (again["deleted"], again["retracted"], again["job_id"]) == (0, [], None)
    assert (await delete(api, "never was"))["deleted"] == 0


async def test_what_was_not_digested_yet_is_never_learned(api: Api) -> None:
    await api.say("我对海鲜过敏", session_id="s1")

    await delete(api)
    await digested(api)

    assert await api.listed("all") == []


@pytest.mark.parametrize(
    "body", [{}, {"all": True}, {"session_id": "s1"}, {"session_id": "s1", "all": False}]
)
async def test_a_session_is_deleted_only_if_that_is_said(api: Api, body: Json) -> None:
    await said(api, "我对海鲜过敏")

    refused(await api.post("/messages/delete", **body), 422, "validation_error")

    assert await texts(api) == ["我对海鲜过敏"]


async def test_who_names_a_message_means_that_one(api: Api) -> None:
    first = await said(api, "我对海鲜过敏")
    await said(api, "My name is Tom", ts=1)

    done = await delete(api, message_id=first)

    assert (done["message_id"], done["deleted"]) == (first, 1)
    assert await texts(api) == ["My name is Tom"]


async def test_the_archive_follows(api: Api, tmp_path: Path) -> None:
    await said(api, "我对海鲜过敏")
    await api.did("/sessions/end", session_id="s1")
    await digested(api)
    assert _in_files(tmp_path, "海鲜")

    await delete(api)
    await digested(api)

    assert not _in_files(tmp_path, "海鲜")


async def test_what_only_the_archive_has_goes_too(
    start_hub: StartHub, clock: StillClock, tmp_path: Path
) -> None:
    api = await start_hub(clock, worker="off", message_retention_days="90")
    await said(api, "我对海鲜过敏")
    await api.did("/sessions/end", session_id="s1")
    await digested(api)
    clock.at += 100 * 86_400
    assert api.hub is not None
    await api.hub.upkeep.run_once()
    assert await texts(api) == []
    assert await facts(api) == ["我对海鲜过敏"]

    await delete(api)
    await digested(api)

    assert await facts(api) == []
    assert not _in_files(tmp_path, "海鲜")


def _in_files(folder: Path, words: str) -> bool:
    return any(words in file.read_text("utf-8") for file in folder.rglob("s1*.json"))


async def forked(api: Api) -> str:
    """A talk that goes on in two ways from its first message; return the name of the second."""
    root = await said(api, "我叫小红")
    await said(api, "我对海鲜过敏", ts=5)
    await said(api, "My name is Tom", ts=6)
    made = await api.did("/messages/branch", session_id="s1", from_message_id=root)
    await said(api, "我对花生过敏", ts=9, branch_id=made["branch_id"])
    return str(made["branch_id"])


async def test_a_branch_goes_alone(api: Api) -> None:
    branch = await forked(api)

    done = await delete(api, keep_branches=[""])

    assert done["deleted"] == 1
    assert await texts(api) == ["我叫小红", "我对海鲜过敏", "My name is Tom"]
    for place in ({"session_id": "s1"}, {"session_id": "s2"}, {}):
        known = (await api.recall("", **place))["stable_block"]["text"]
        assert "海鲜" in known
        assert "Tom" in known
        assert "小红" not in known
        assert "花生" not in known
    assert branch


async def test_a_branch_keeps_its_past_when_what_it_left_is_deleted(api: Api) -> None:
    branch = await forked(api)

    done = await delete(api, keep_branches=[branch])

    assert done["deleted"] == 2
    assert await texts(api) == ["我叫小红", "我对花生过敏"]
    for place in ({"session_id": "s1", "branch_id": branch}, {"session_id": "s2"}):
        known = (await api.recall("", **place))["stable_block"]["text"]
        assert "小红" in known
        assert "花生" in known
        assert "海鲜" not in known
        assert "Tom" not in known

    assert (await delete(api))["deleted"] == 2
    assert await api.listed() == []


async def test_what_is_said_elsewhere_too_is_seen_after_all_branches_are_gone(api: Api) -> None:
    await forked(api)
    await said(api, "我对海鲜过敏", ts=20, session_id="s2")

    await delete(api)

    assert "海鲜" in (await api.recall("", session_id="s3"))["stable_block"]["text"]
    assert await facts(api) == ["我对海鲜过敏"]
