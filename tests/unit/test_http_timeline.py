"""What was learned follows the messages: edit, delete, swipe, branch (contract, section 7)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness import Api, Json, StartHub, StillClock, refused
from plastic_memories.model.memory import Status
from plastic_memories.model.owner import Owner
from plastic_memories.ports.stores.memory_store import MemoryFilter


@pytest.fixture
async def api(start_hub: StartHub) -> Api:
    """A hub without a worker: what is digested is digested when the test says so."""
    opened: Api = await start_hub(StillClock(), worker="off")
    return opened


async def said(api: Api, content: str, *, ts: float = 0, **more: Any) -> int:
    """Say something in a session and have it digested."""
    place = {"session_id": "s1", **more}
    message_id = await api.say(content, ts=1_750_000_000.0 + ts, **place)
    await api.did("/jobs/run", session_id=place["session_id"], wait=True)
    return message_id


async def facts(api: Api, status: str = "active") -> list[str]:
    return sorted(await api.listed(status, type="profile"))


async def injected(api: Api, **more: Any) -> str:
    """Return what is always recalled: names and constraints, no snippets."""
    return str((await api.recall("", **more))["stable_block"]["text"])


async def test_an_edited_message_takes_its_memory_with_it(api: Api) -> None:
    message_id = await said(api, "我海鲜过敏")
    [fact] = (await api.saw("/memory/list", type="profile"))["items"]

    done = await api.did("/messages/edit", message_id=message_id, content="哈哈，开玩笑")

    assert fact["id"] in done["retracted"]
    assert (done["restored"], done["rederived"]) == ([], [])
    assert await facts(api) == []
    assert await api.status_of(fact["id"]) == "revoked"
    assert "海鲜" not in (await api.recall("海鲜"))["injection_block"]


async def test_an_edited_message_is_learned_anew(api: Api) -> None:
    message_id = await said(api, "我海鲜过敏")

    done = await api.did("/messages/edit", message_id=message_id, content="我花生过敏")

    assert await facts(api) == ["我花生过敏"]
    assert len(done["rederived"]) == 2  # the fact, and the summary
    [message] = (await api.saw("/messages/recent"))["messages"]
    assert message["content"] == "我花生过敏"


async def test_a_message_that_waits_is_digested_as_it_is_then(api: Api) -> None:
    message_id = await api.say("我海鲜过敏", session_id="s1")

    done = await api.did("/messages/edit", message_id=message_id, content="我花生过敏")
    await api.did("/jobs/run", session_id="s1", wait=True)

    assert done["waiting"] is True
    assert await facts(api, "all") == ["我花生过敏"]


async def test_a_deleted_message_is_gone_with_its_memory(api: Api) -> None:
    message_id = await said(api, "我海鲜过敏")

    done = await api.did("/messages/delete", message_id=message_id)

    assert len(done["retracted"]) == 2  # the fact, and the summary
    assert await facts(api) == []
    assert (await api.saw("/messages/recent"))["messages"] == []


async def test_what_another_message_supports_stays(api: Api) -> None:
    first = await said(api, "我海鲜过敏")
    second = await said(api, "我海鲜过敏", ts=5, session_id="s2")

    await api.did("/messages/delete", message_id=first)

    [row] = (await api.saw("/memory/list", type="profile"))["items"]
    assert (row["content"], row["source_message_ids"]) == ("我海鲜过敏", [second])

    await api.did("/messages/delete", message_id=second)
    assert await facts(api) == []


async def test_what_a_person_has_written_stays(api: Api) -> None:
    await api.remember("我海鲜过敏", "profile", "constraint.allergy.seafood")
    message_id = await said(api, "我海鲜过敏")

    await api.did("/messages/delete", message_id=message_id)

    assert await facts(api) == ["我海鲜过敏"]


async def test_what_a_person_has_confirmed_stays(api: Api) -> None:
    message_id = await api.say("我可能会搬家")
    candidate = await api.remember(
        "搬家", "profile", "x", source_type="model_inferred", source_message_ids=[message_id]
    )
    await api.did("/memory/confirm", memory_id=candidate)

    await api.did("/messages/delete", message_id=message_id)

    assert await facts(api) == ["搬家"]


async def test_what_a_person_has_corrected_stays(api: Api) -> None:
    message_id = await said(api, "我叫小明")
    [row] = (await api.saw("/memory/list", type="profile"))["items"]
    await api.did("/memory/update", memory_id=row["id"], content="我叫晓明")

    await api.did("/messages/delete", message_id=message_id)

    assert await facts(api) == ["我叫晓明"]


async def test_a_client_may_say_which_message_it_learned_from(api: Api) -> None:
    message_id = await api.say("随便说说")
    await api.remember("爱说话", "fact", "x", source_message_ids=[message_id])

    done = await api.did("/messages/delete", message_id=message_id)

    assert len(done["retracted"]) == 1
    assert await api.listed() == []


async def test_an_older_value_comes_back(api: Api) -> None:
    await said(api, "我叫小红")
    newer = await said(api, "我叫小明", ts=5)
    assert await facts(api) == ["我叫小明"]

    done = await api.did("/messages/delete", message_id=newer)

    assert len(done["restored"]) == 1
    assert await facts(api) == ["我叫小红"]


async def test_a_value_whose_message_is_gone_does_not_come_back(api: Api) -> None:
    first = await said(api, "我叫小红")
    second = await said(api, "我叫小刚", ts=5)
    third = await said(api, "我叫小明", ts=9)

    await api.did("/messages/delete", message_id=second)
    assert await facts(api) == ["我叫小明"]
    await api.did("/messages/delete", message_id=third)
    assert await facts(api) == ["我叫小红"]
    await api.did("/messages/delete", message_id=first)
    assert await facts(api) == []


async def test_an_edit_of_the_past_does_not_replace_what_was_said_later(api: Api) -> None:
    first = await said(api, "我叫小红")
    second = await said(api, "我叫小明", ts=5)

    await api.did("/messages/edit", message_id=first, content="我叫小刚")
    assert await facts(api) == ["我叫小明"]

    await api.did("/messages/delete", message_id=second)
    assert await facts(api) == ["我叫小刚"]


async def test_what_was_revoked_by_hand_is_not_brought_back(api: Api) -> None:
    await said(api, "我叫小红")
    newer = await said(api, "我叫小明", ts=5)
    [row] = (await api.saw("/memory/list", type="profile"))["items"]
    await api.did("/memory/revoke", memory_id=row["id"])

    await api.did("/messages/delete", message_id=newer)

    assert await facts(api) == []


async def test_a_swipe_is_an_edit_of_the_reply(api: Api) -> None:
    reply = await api.did(
        "/messages/append", role="assistant", content="一", session_id="s1", client_msg_id="c1"
    )

    done = await api.did("/messages/replace", client_msg_id="c1", content="二")

    assert done["message_id"] == reply["message_id"]
    [message] = (await api.saw("/messages/recent"))["messages"]
    assert message["content"] == "二"


async def test_edited_text_is_masked_and_found_by_its_new_words(api: Api) -> None:
    message_id = await api.say("你好", session_id="s1")

    await api.did("/messages/edit", message_id=message_id, content="我的密码是 hunter2abc")

    [message] = (await api.saw("/messages/recent"))["messages"]
    assert "hunter2abc" not in message["content"]
    assert api.hub is not None
    assert await api.hub.storage.read(lambda stores: stores.upkeep.check()) == []


@pytest.mark.parametrize("route", ["edit", "delete", "replace"])
async def test_another_user_changes_nothing(api: Api, route: str) -> None:
    message_id = await said(api, "我海鲜过敏")
    other = api.as_("devkey2")

    for which in ({"message_id": message_id}, {"client_msg_id": "c1"}):
        refused(await other.post(f"/messages/{route}", content="x", **which), 404, "not_found")

    refused(
        await other.post("/messages/branch", session_id="s1", from_message_id=message_id),
        404,
        "not_found",
    )
    assert await facts(api) == ["我海鲜过敏"]


@pytest.mark.parametrize("route", ["edit", "delete", "replace"])
async def test_which_message_must_be_said(api: Api, route: str) -> None:
    refused(await api.post(f"/messages/{route}", content="x"), 422, "validation_error")


async def test_a_bot_does_not_change_what_another_heard(api: Api) -> None:
    message_id = await api.say("我海鲜过敏", bot_id="b1")

    refused(
        await api.post("/messages/delete", message_id=message_id, bot_id="b2"), 404, "not_found"
    )
    await api.did("/messages/delete", message_id=message_id, bot_id="b1")


async def test_the_archive_follows_an_edit_and_a_delete(api: Api, tmp_path: Path) -> None:
    edited = await said(api, "我海鲜过敏")
    deleted = await said(api, "我花生过敏", ts=5)
    await said(api, "叫我 tcmiku", ts=9)
    await api.did("/sessions/end", session_id="s1")
    await api.did("/jobs/run", session_id="s1", wait=True)

    await api.did("/messages/edit", message_id=edited, content="我对芒果过敏")
    await api.did("/messages/delete", message_id=deleted)
    await api.did("/jobs/run", session_id="s1", wait=True)

    text = "".join(file.read_text("utf-8") for file in tmp_path.rglob("s1.json"))  # noqa: ASYNC240
    assert "芒果" in text
    assert "tcmiku" in text
    assert "海鲜" not in text
    assert "花生" not in text


async def fork(api: Api) -> Json:
    """A talk that goes on in two ways from its first message."""
    root = await said(api, "我叫小红")
    await said(api, "我对海鲜过敏", ts=5)
    await said(api, "我叫小明", ts=6)
    made = await api.did("/messages/branch", session_id="s1", from_message_id=root)
    await said(api, "我对花生过敏", ts=9, branch_id=made["branch_id"])
    return made


async def test_a_branch_knows_its_past_and_not_what_it_left_behind(api: Api) -> None:
    made = await fork(api)

    known = await injected(api, session_id="s1", branch_id=made["branch_id"])

    assert "我对花生过敏" in known
    assert "我叫小红" in known
    assert "海鲜" not in known
    assert "小明" not in known


async def test_the_main_line_does_not_know_the_branch(api: Api) -> None:
    await fork(api)

    known = await injected(api, session_id="s1")

    assert "我对海鲜过敏" in known
    assert "我叫小明" in known
    assert "花生" not in known
    assert "小红" not in known


async def test_an_explanation_names_nothing_of_another_branch(api: Api) -> None:
    made = await fork(api)
    for number in range(4):
        await said(api, f"我喜欢第{number}种茶 tea", ts=20 + number, branch_id=made["branch_id"])
        await said(api, f"我喜欢第{number}种咖啡 coffee", ts=30 + number)
    await said(api, "我喜欢茶 tea", ts=40)
    rows = {
        row["id"]: row["branch_id"]
        for row in (await api.saw("/memory/list", status="active", limit=200))["items"]
    }
    ask = {"limit": 1, "explain": True, "session_id": "s1"}

    on_main = (await api.recall("茶 tea 咖啡 coffee 过敏", **ask))["explain"]
    on_branch = (await api.recall("茶 tea 咖啡 coffee 过敏", **ask, branch_id=made["branch_id"]))[
        "explain"
    ]

    named = [part["memory_id"] for part in on_main if part["memory_id"]]
    assert len(named) > 1
    assert {rows[memory_id] for memory_id in named} == {None}
    assert made["branch_id"] in {rows[part["memory_id"]] for part in on_branch if part["memory_id"]}
    unseen = {str(row) for row, branch in rows.items() if branch}
    told = " ".join(part["left_out"] or "" for part in on_main)
    assert not unseen & set(told.split())


async def test_from_elsewhere_the_branch_that_goes_on_counts(api: Api) -> None:
    await fork(api)

    known = await injected(api, session_id="s2")
    assert "花生" in known
    assert "海鲜" not in known

    assert api.hub is not None
    api.hub.storage.clock.at += 5  # type: ignore[attr-defined]
    await said(api, "回来了", ts=20)
    known = await injected(api, session_id="s2")
    assert "海鲜" in known
    assert "花生" not in known


async def test_what_waits_when_a_branch_is_made_does_not_reach_it_later(api: Api) -> None:
    root = await said(api, "我叫小红")
    await api.say("我叫小明", ts=1_750_000_005.0, session_id="s1")
    made = await api.did("/messages/branch", session_id="s1", from_message_id=root)

    await api.did("/jobs/run", session_id="s1", wait=True)

    known = await injected(api, session_id="s1", branch_id=made["branch_id"])
    assert "小红" in known
    assert "小明" not in known
    assert "小明" in await injected(api, session_id="s1")


async def test_recent_messages_of_a_branch_are_its_own_and_its_past(api: Api) -> None:
    made = await fork(api)

    found = await api.saw("/messages/recent", session_id="s1", branch_id=made["branch_id"])
    snippets = (await api.recall("", session_id="s1", branch_id=made["branch_id"]))["CHAT_SNIPPETS"]

    assert [one["content"] for one in found["messages"]] == ["我对花生过敏", "我叫小红"]
    assert [one["content"] for one in snippets] == ["我叫小红", "我对花生过敏"]


async def test_a_branch_of_a_branch_has_both_pasts(api: Api) -> None:
    made = await fork(api)
    tip = await said(api, "我有一只猫", ts=10, branch_id=made["branch_id"])
    await said(api, "我对牛奶过敏", ts=11, branch_id=made["branch_id"])
    second = await api.did("/messages/branch", session_id="s1", from_message_id=tip)
    await said(api, "我对芒果过敏", ts=12, branch_id=second["branch_id"])

    known = await injected(api, session_id="s1", branch_id=second["branch_id"])

    assert second["parent_id"] == made["branch_id"]
    for word in ("小红", "花生", "芒果"):
        assert word in known
    for word in ("小明", "海鲜", "牛奶"):
        assert word not in known


async def test_a_message_of_another_session_is_no_place_to_branch(api: Api) -> None:
    message_id = await said(api, "我叫小红")

    refused(
        await api.post("/messages/branch", session_id="s2", from_message_id=message_id),
        404,
        "not_found",
    )


async def test_when_every_message_is_deleted_nothing_is_known(api: Api) -> None:
    made = await fork(api)
    await said(api, "我叫小刚", ts=15, branch_id=made["branch_id"])
    for message in (await api.saw("/messages/recent"))["messages"]:
        await api.did("/messages/delete", message_id=message["id"])

    assert api.hub is not None
    live = MemoryFilter(statuses={Status.ACTIVE, Status.CANDIDATE})
    owner = Owner("default", "userA", "p1")
    assert await api.hub.storage.read(lambda stores: stores.memories.find(owner, live)) == []
    assert await api.hub.storage.read(lambda stores: stores.upkeep.check()) == []


async def test_a_branch_may_leave_at_a_message_the_client_has_named(api: Api) -> None:
    await api.say("我住在上海", session_id="s1", client_msg_id="st-1")
    await api.say("我对花生过敏", session_id="s1", client_msg_id="st-2")

    made = await api.did("/messages/branch", session_id="s1", from_client_msg_id="st-1")

    found = await api.saw("/messages/recent", session_id="s1", branch_id=made["branch_id"])
    assert [one["content"] for one in found["messages"]] == ["我住在上海"]


async def test_a_branch_that_the_client_names_is_made_once(api: Api) -> None:
    await api.say("I live in Kyoto", session_id="s1", client_msg_id="st-1")
    ask = {"session_id": "s1", "from_client_msg_id": "st-1", "branch_id": "mine"}

    first = await api.did("/messages/branch", **ask)
    again = await api.did("/messages/branch", **ask)

    assert first["branch_id"] == "mine"
    assert again == first


async def test_a_branch_must_say_where_it_leaves(api: Api) -> None:
    refused(await api.post("/messages/branch", session_id="s1"), 422, "validation_error")
