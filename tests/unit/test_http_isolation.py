"""What is not yours does not exist for you (contract, section 3): users and tenants."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from harness import Api, refused

SECRET = "只有我知道 zanzibar"


async def a_full_house(api: Api) -> dict[str, int]:
    """Store one of everything; return the ids."""
    message_id = await api.say(SECRET)
    memory_id = await api.remember(SECRET, "fact", "k", source_message_ids=[message_id])
    await api.remember(SECRET, "profile", "constraint.x", scope="global")
    candidate = await api.remember(SECRET, "identity")
    slot = await api.confirmed(SECRET, "values")
    goal_id = (await api.did("/goals/create", title=SECRET))["goal_id"]
    await api.did("/persona/create", display_name=SECRET)
    return {
        "memory_id": memory_id,
        "candidate": candidate,
        "slot": slot,
        "goal_id": goal_id,
        "message_id": message_id,
    }


async def all_lists(api: Api) -> str:
    parts = [
        await api.saw("/memory/list", status="all"),
        await api.saw("/memory/list", status="all", scope="global"),
        await api.saw("/memory/list", status="all", bots="all"),
        await api.saw("/messages/recent", bots="all"),
        await api.saw("/persona/list"),
        await api.saw("/persona/profile", bots="all"),
        await api.did("/persona/slots/get", bots="all"),
        await api.saw("/goals/list"),
        await api.saw("/audit"),
        await api.recall("zanzibar", bots="all", limit=200),
        await api.recall("", explain=True),
        await api.did("/memory/forget", query="知道", dry_run=True),
        (await api.export("jsonl")).decode(),
        (await api.export("markdown")).decode(),
    ]
    seen = json.dumps(parts, ensure_ascii=False).replace('"zanzibar"', "")
    # An export tells when it was made, and is signed with that.
    return re.sub(r'\\"(?:exported_at\\":[0-9.]+|digest\\":\\"[0-9a-f]+)', "", seen)


STRANGERS = [
    ("devkey2", None),
    ("appkey", "userC"),
    ("appkey", "用户"),
    ("acmekey", "userA"),
    ("acmekey", "userB"),
]


@pytest.mark.parametrize(("key", "user"), STRANGERS)
async def test_lists_of_a_stranger_are_empty(api: Api, key: str, user: str | None) -> None:
    await a_full_house(api)

    seen = await all_lists(api.as_(key, user))

    assert "zanzibar" not in seen
    assert '"persona_id"' not in seen.replace('"persona_id": "p1", "profile_markdown"', "")


@pytest.mark.parametrize(("key", "user"), [("devkey2", None), ("acmekey", "userA")])
async def test_objects_of_a_stranger_are_not_found(api: Api, key: str, user: str | None) -> None:
    ids = await a_full_house(api)
    stranger = api.as_(key, user)
    before = await all_lists(api)

    answers = [
        await stranger.get("/memory/get", memory_id=ids["memory_id"]),
        await stranger.get("/memory/history", memory_id=ids["memory_id"]),
        await stranger.post("/memory/confirm", memory_id=ids["candidate"]),
        await stranger.post("/memory/reject", memory_id=ids["candidate"]),
        await stranger.post("/memory/revoke", memory_id=ids["memory_id"]),
        await stranger.post("/memory/update", memory_id=ids["memory_id"], content="x"),
        await stranger.post("/memory/forget", memory_id=ids["memory_id"]),
        await stranger.post("/goals/update_status", goal_id=ids["goal_id"], status="done"),
        await stranger.post("/goals/link", goal_id=ids["goal_id"], note="x"),
        await stranger.post("/persona/delete", confirm="p1"),
        await stranger.post(
            "/memory/write", type="fact", key="k", content="x", supersedes_id=ids["memory_id"]
        ),
    ]

    assert [answer.status_code for answer in answers] == [404] * len(answers)
    assert await all_lists(api) == before


async def test_what_is_not_mine_and_what_is_not_at_all_look_alike(api: Api) -> None:
    ids = await a_full_house(api)
    stranger = api.as_("devkey2")

    theirs = await stranger.get("/memory/get", memory_id=ids["memory_id"])
    nobodys = await stranger.get("/memory/get", memory_id=4711)

    assert theirs.json()["error"]["code"] == nobodys.json()["error"]["code"]
    assert theirs.json()["error"]["message"] == nobodys.json()["error"]["message"].replace(
        "4711", str(ids["memory_id"])
    )


async def test_a_strangers_goal_cannot_hold_my_memory(api: Api) -> None:
    ids = await a_full_house(api)
    stranger = api.as_("devkey2")
    goal_id = (await stranger.did("/goals/create", title="mine"))["goal_id"]

    answer = await stranger.post("/goals/link", goal_id=goal_id, memory_id=ids["memory_id"])

    refused(answer, 404, "not_found")


async def test_a_strangers_purge_and_forget_touch_nothing(api: Api) -> None:
    await a_full_house(api)
    before = await all_lists(api)
    stranger = api.as_("devkey2")

    purged = await stranger.did("/messages/purge", all=True)
    forgotten = await stranger.did("/memory/forget", type="fact", key="k")

    assert (purged["deleted"], forgotten["deleted"]) == (0, 0)
    assert await all_lists(api) == before


async def test_ids_of_another_user_in_sources_hide_nothing_of_theirs(api: Api) -> None:
    ids = await a_full_house(api)
    stranger = api.as_("devkey2")
    memory_id = await stranger.remember("x", source_message_ids=[ids["message_id"]])

    gone = await stranger.did("/memory/forget", memory_id=memory_id, include_messages=True)

    assert gone["receipt"]["erased"]["messages"] == 0
    [message] = (await api.saw("/messages/recent"))["messages"]
    assert (message["content"], message["hidden"]) == (SECRET, False)


async def test_the_same_idempotency_key_of_two_users_does_not_meet(api: Api) -> None:
    mine = await api.remember("mine", idempotency_key="once")

    theirs = await api.as_("devkey2").remember("theirs", idempotency_key="once")

    assert mine != theirs


async def test_the_same_client_msg_id_of_two_users_does_not_meet(api: Api) -> None:
    mine = await api.say("mine", client_msg_id="m1")

    theirs = await api.as_("devkey2").say("theirs", client_msg_id="m1")

    assert mine != theirs


async def test_an_app_key_acts_for_the_users_of_its_tenant(api: Api) -> None:
    await api.remember(SECRET)

    assert await api.as_("appkey", "userA").listed() == [SECRET]
    assert await api.as_("acmekey", "userA").listed() == []


async def test_an_app_key_without_a_user_is_told_the_header(api: Api) -> None:
    answer = await api.as_("appkey").get("/memory/list")

    refused(answer, 400, "bad_request")
    assert "X-User-Id" in answer.json()["error"]["message"]


@pytest.mark.parametrize("user", ["*", "", "a\tb", "x" * 201])
async def test_an_app_key_cannot_be_everybody(api: Api, user: str) -> None:
    refused(await api.as_("appkey", user).get("/memory/list"), 400, "bad_request")


async def test_a_user_key_is_its_user_whatever_it_says(api: Api, tmp_path: Path) -> None:
    liar = api.as_("devkey2", "userA")

    await liar.did("/memory/write", type="fact", key="k", content="mine", user_id="userA")
    await liar.did("/messages/append", role="user", content="mine", user_id="userA")
    profile = await liar.saw("/persona/profile", user_id="userA")

    assert profile["user_id"] == "userB"
    assert await api.listed() == []
    assert await api.as_("devkey2").listed() == ["mine"]
    assert "api.user_id_ignored" in (tmp_path / "logs/plastic_memories.log").read_text()


async def test_a_chinese_user_has_a_name_of_their_own(api: Api) -> None:
    ming = api.as_("appkey", "小明")
    hong = api.as_("appkey", "小红")
    await ming.remember("我叫小明")

    assert (await ming.saw("/persona/profile"))["user_id"] == "小明"
    assert await hong.listed() == []


@pytest.mark.parametrize(
    "header",
    [
        {"X-API-Key": "devkey"},
        {"Authorization": "Bearer devkey"},
        {"Authorization": "Token devkey"},
        {"Authorization": "bearer  devkey "},
    ],
)
async def test_a_key_comes_in_any_of_its_headers(api: Api, header: dict[str, str]) -> None:
    answer = await api.http.get("/persona/list", headers=header)

    assert answer.status_code == 200


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"X-API-Key": "devke"},
        {"X-API-Key": "devkeyy"},
        {"X-API-Key": "*"},
        {"X-API-Key": "密钥".encode()},
        {"Authorization": "Basic devkey"},
        {"Authorization": "devkey"},
    ],
)
async def test_a_wrong_key_is_refused(api: Api, header: dict[str, str | bytes]) -> None:
    refused(await api.http.get("/persona/list", headers=header), 401, "unauthorized")


async def test_metrics_are_those_of_the_callers_tenant(api: Api) -> None:
    await api.as_("acmekey", "alice").remember("x")
    await api.remember("y")
    await api.remember("y2")

    mine = await api.http.get("/metrics", headers={"X-API-Key": "devkey"})
    theirs = await api.http.get("/metrics", headers={"X-API-Key": "acmekey"})

    assert 'memory_writes_total{status="active"} 2.0' in mine.text
    assert 'memory_writes_total{status="active"} 1.0' in theirs.text


async def test_personas_keep_to_themselves(api: Api) -> None:
    await a_full_house(api)

    other = api.of("p2")

    assert await other.listed("all", scope="persona") == []
    assert (await other.saw("/messages/recent"))["messages"] == []
    assert await other.slots() == {}
    refused(await other.get("/memory/get", memory_id=1), 404, "not_found")
