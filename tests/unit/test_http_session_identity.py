"""A session is platform, message type and id: group 555555 is not the private chat with 555555."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness import Api, Json
from plastic_memories.rules.conversation.session_key import plain_session_id, session_key

PRIVATE = {"session_id": "555555", "platform": "qq", "message_type": "FriendMessage"}
GROUP = {**PRIVATE, "message_type": "GroupMessage"}
ELSEWHERE = {**PRIVATE, "platform": "telegram"}
UNNAMED = {"session_id": "555555"}
OTHERS = [GROUP, ELSEWHERE, UNNAMED]
SECRET = "我对海鲜过敏"


async def told_in_private(api: Api) -> None:
    await api.say(SECRET, **PRIVATE, client_msg_id="m1")
    await api.did("/jobs/run", **PRIVATE, wait=True)


async def known(api: Api, **place: Any) -> str:
    found: Json = await api.recall("海鲜", only_session=True, **place)
    return str(found["injection_block"])


@pytest.mark.parametrize("other", OTHERS)
async def test_private_words_are_not_in_a_group_of_the_same_number(
    api: Api, other: dict[str, str]
) -> None:
    await told_in_private(api)

    told, listed = await known(api, **other), await api.listed(**other)

    assert "海鲜" not in told
    assert listed == []
    assert "海鲜" in await known(api, **PRIVATE)
    assert len(await api.listed(**PRIVATE)) > 0


@pytest.mark.parametrize("other", OTHERS)
async def test_messages_are_read_and_erased_in_their_own_session_only(
    api: Api, other: dict[str, str]
) -> None:
    await told_in_private(api)

    read = (await api.saw("/messages/recent", **other))["messages"]
    purged = (await api.did("/messages/purge", **other, all=True))["deleted"]

    assert (read, purged) == ([], 0)
    [kept] = (await api.saw("/messages/recent", **PRIVATE))["messages"]
    assert {name: kept[name] for name in PRIVATE} == PRIVATE


async def test_a_digest_reads_one_conversation_only(api: Api) -> None:
    await api.say("我养了一只猫", **GROUP, client_msg_id="g1")

    await told_in_private(api)

    assert "猫" not in str(await api.listed(**PRIVATE))
    assert "猫" not in str(await api.listed(status="all"))


async def test_the_same_message_number_is_another_message_elsewhere(api: Api) -> None:
    for place in (PRIVATE, GROUP):
        await api.say("好", **place, client_msg_id="m1")

    assert len((await api.saw("/messages/recent"))["messages"]) == 2


async def test_the_realm_of_a_group_is_not_that_of_a_private_chat(api: Api) -> None:
    await api.did("/sessions/update", **GROUP, realm="story")

    await told_in_private(api)

    assert "海鲜" in await known(api, **PRIVATE)


async def test_a_program_with_its_own_session_ids_need_not_repeat_the_type(api: Api) -> None:
    await api.say(SECRET, session_id="chat-1", message_type="private", client_msg_id="m1")

    edited = await api.did(
        "/messages/edit", session_id="chat-1", client_msg_id="m1", content="我对芒果过敏"
    )

    assert edited["message_id"]
    assert "芒果" in await known(api, session_id="chat-1")


async def test_a_story_is_marked_without_the_type_of_its_messages(api: Api) -> None:
    await api.did("/sessions/update", session_id="chat-1", realm="story")
    await api.say("我叫龙王", session_id="chat-1", message_type="private")

    await api.did("/jobs/run", wait=True)

    rows = (await api.saw("/memory/list"))["items"]
    assert {row["realm"] for row in rows if "龙王" in row["content"]} == {"story"}


async def test_a_memory_of_a_session_is_seen_there_only(api: Api) -> None:
    await api.remember("绿茶", scope="session", **PRIVATE)

    seen = [(await api.recall("绿茶", **place))["PERSONA_MEMORY"] for place in (PRIVATE, GROUP)]

    assert [len(rows) for rows in seen] == [1, 0]


async def test_an_export_has_every_part_in_its_own_column_and_comes_back(api: Api) -> None:
    await told_in_private(api)
    exported = await api.export()
    other = api.as_("devkey2")

    await other.bring_in(exported, trust=True)

    [row] = [one for one in map(json.loads, exported.decode().splitlines())
             if one.get("kind") == "message"]  # fmt: skip
    assert {name: row[name] for name in PRIVATE} == PRIVATE
    assert "海鲜" in await known(other, **PRIVATE)
    assert "海鲜" not in await known(other, **GROUP)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("7", "a:b", "c"), ("7", "a", "b:c")),
        (("c:7", "a", "b"), ("7", "a", "b:c")),
        (("7" * 200, "qq", "g"), ("7" * 201, "qq", "g")),
        (("7", "q" * 200, "g"), ("7", "q" * 199, "g")),
    ],
)
def test_no_two_sessions_have_one_key(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    keys = session_key(*one), session_key(*other)

    assert keys[0] != keys[1]
    assert max(map(len, keys)) <= 200
    plain = plain_session_id(keys[0], *one[1:])
    assert session_key(plain, *one[1:]) == keys[0]


async def test_a_group_whose_platform_is_left_out_hears_no_private_words(api: Api) -> None:
    await api.say("我在看心理医生", session_id="F", platform="qq", message_type="FriendMessage")
    await api.say("大家好", session_id="G", platform="qq", message_type="GroupMessage")

    found = await api.recall("心理医生", session_id="G")

    assert "心理医生" not in found["turn_block"]["text"]
