"""The examples every release must pass (contract, section 15)."""

from __future__ import annotations

import json

from harness import Api, refused


async def test_e1_a_slot_write_waits_as_a_candidate(api: Api) -> None:
    written = await api.did(
        "/memory/write", type="identity", key="id1", content="dev", source_type="user_explicit"
    )

    assert written["memory_status"] == "candidate"
    assert written["memory_id"] == 1


async def test_e2_confirm_makes_it_active_and_fills_the_slot(api: Api) -> None:
    await api.remember("dev", "identity", "id1")

    confirmed = await api.did("/memory/confirm", memory_id=1)

    assert (confirmed["updated"], confirmed["memory_status"]) == (True, "active")
    assert await api.slots() == {"identity": "dev"}


async def test_e3_a_second_identity_conflicts_without_supersedes_id(api: Api) -> None:
    await api.confirmed("dev", "identity", "id1")
    await api.remember("student", "identity", "id2")

    detail = refused(
        await api.post("/memory/confirm", memory_id=2), 409, "conflict_requires_supersedes"
    )

    assert detail == {
        "type": "identity",
        "active_memory_id": 1,
        "active_content": "dev",
        "candidate_content": "student",
    }


async def test_e4_confirm_with_supersedes_id_replaces(api: Api) -> None:
    await api.confirmed("dev", "identity", "id1")
    await api.remember("student", "identity", "id2")

    confirmed = await api.did("/memory/confirm", memory_id=2, supersedes_id=1)

    assert confirmed["memory_status"] == "active"
    assert await api.status_of(1) == "revoked"
    assert await api.slots() == {"identity": "student"}


async def test_e5_revoked_is_there_and_in_no_list_or_recall(api: Api) -> None:
    await api.confirmed("dev", "identity", "id1")
    await api.remember("student", "identity", "id2")
    await api.did("/memory/confirm", memory_id=2, supersedes_id=1)

    revoked = await api.did("/memory/revoke", memory_id=2)

    assert revoked["memory_status"] == "revoked"
    assert await api.status_of(2) == "revoked"
    assert await api.listed() == []
    assert await api.recalled("student") == []
    assert await api.slots() == {}


async def test_e5_forgotten_is_gone_everywhere(api: Api) -> None:
    memory_id = await api.confirmed("short answers", "preferences", "pref-x")

    forgotten = await api.did("/memory/forget", type="preferences", key="pref-x")

    assert (forgotten["deleted"], forgotten["memory_ids"]) == (1, [memory_id])
    assert await api.listed("all") == []
    assert await api.recalled("short answers") == []
    assert await api.slots() == {}
    refused(await api.get("/memory/get", memory_id=memory_id), 404, "not_found")


async def test_e5_forgetting_what_is_not_there_forgets_nothing(api: Api) -> None:
    forgotten = await api.did("/memory/forget", type="preferences", key="pref-x")

    assert forgotten["deleted"] == 0


async def test_e6_the_slots_show_the_change(api: Api) -> None:
    await api.confirmed("dev", "identity", "id1")
    await api.remember("student", "identity", "id2")
    await api.did("/memory/confirm", memory_id=2, supersedes_id=1)

    slots = await api.did("/persona/slots/get")

    [slot] = slots["items"]
    assert (slot["slot_name"], slot["value"]) == ("identity", "student")
    assert slot["provenance"]["source"] == "user_explicit"
    assert slot["provenance"]["active_memory_id"] == 2
    assert slot["provenance"]["superseded"] == 1
    assert json.loads(slot["provenance_json"]) == slot["provenance"]
    assert json.loads(slot["value_json"]) == {"text": "student"}


async def test_a_slot_that_replaced_nothing_says_null(api: Api) -> None:
    await api.confirmed("dev", "identity", "id1")

    [slot] = (await api.did("/persona/slots/get"))["items"]

    assert slot["provenance"]["superseded"] is None


async def test_a_slot_of_several_is_a_list_of_texts(api: Api) -> None:
    await api.confirmed("likes tea", "preferences", "p1")
    second = await api.remember("likes rain", "preferences", "p2")
    await api.did("/memory/confirm", memory_id=second, coexist=True)

    [slot] = (await api.did("/persona/slots/get"))["items"]

    assert json.loads(slot["value_json"]) == [{"text": "likes tea"}, {"text": "likes rain"}]
    assert slot["value"] == ["likes tea", "likes rain"]


async def test_e7_goals_from_creation_to_link(api: Api) -> None:
    created = await api.did("/goals/create", title="Learn Rust", details="practice")
    listed = await api.saw("/goals/list")
    updated = await api.did("/goals/update_status", goal_id=1, status="done")
    linked = await api.did("/goals/link", goal_id=1, memory_id=None, note="start")

    assert created["goal_id"] == 1
    assert [(goal["title"], goal["status"]) for goal in listed["items"]] == [
        ("Learn Rust", "active")
    ]
    assert updated["updated"] is True
    assert linked["link_id"] == 1
    [goal] = (await api.saw("/goals/list", status="done"))["items"]
    assert [(link["memory_id"], link["note"]) for link in goal["links"]] == [(None, "start")]


async def test_e8_without_a_key_nothing_is_looked_at(api: Api) -> None:
    answer = await api.http.post("/memory/write", json={})

    refused(answer, 401, "unauthorized")


async def test_e8_with_only_a_persona_the_fields_are_asked_for(api: Api) -> None:
    detail = refused(await api.post("/memory/write"), 422, "validation_error")

    assert {part["loc"][-1] for part in detail} == {"type", "key", "content"}
    assert all(set(part) == {"loc", "msg", "type"} for part in detail)


async def test_the_sdk_sample_is_remembered(api: Api) -> None:
    me = api.of("default")
    await me.say("请用默认中文")
    await me.say("回答工程化")

    await me.learn("叫我 tcmiku")

    block = (await me.recall("请总结我喜欢的回答风格"))["injection_block"]
    assert all(text in block for text in ("tcmiku", "请用默认中文", "回答工程化"))
