"""The routes of mem0's open-source server, with plain requests: shapes as there."""

from __future__ import annotations

import json

import pytest

from harness import Api, StartHub, StillClock
from mem0_caller import Mem0
from plastic_memories.model.owner import Owner
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.rules.lifecycle.transitions import end_memory


@pytest.fixture
def mem0(api: Api) -> Mem0:
    return Mem0.of(api)


async def test_what_is_added_is_answered_in_its_shape(mem0: Mem0) -> None:
    added = await mem0.did(
        "POST",
        "/memories",
        json={"messages": [{"role": "user", "content": "我喜欢绿茶"}], "user_id": "userA"},
    )

    [result] = added["results"]
    assert result == {
        "id": result["id"],
        "memory": "我喜欢绿茶",
        "event": "ADD",
        "actor_id": None,
        "role": "user",
    }
    assert isinstance(result["id"], str)


async def test_a_listed_memory_has_its_shape(mem0: Mem0) -> None:
    memory_id = await mem0.id_of("茶在柜子里", agent_id="miku", run_id="r1", metadata={"n": 1})

    [row] = (await mem0.did("GET", "/memories", params={"user_id": "userA"}))["results"]

    assert row == {
        "id": memory_id,
        "memory": "茶在柜子里",
        "hash": "4786ea3566eb235163094d91f79e5507",
        "metadata": {"n": 1},
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
        "user_id": "userA",
        "agent_id": "miku",
        "run_id": "r1",
        "role": "user",
    }
    assert row["created_at"].endswith("+00:00")


async def test_what_was_not_given_is_not_shown(mem0: Mem0) -> None:
    await mem0.add("茶在柜子里")

    [row] = (await mem0.did("GET", "/memories"))["results"]

    assert row["metadata"] is None
    assert not {"agent_id", "run_id", "actor_id", "expiration_date"} & set(row)


async def test_one_memory_comes_with_an_empty_score(mem0: Mem0) -> None:
    memory_id = await mem0.id_of("tea is in the cupboard")

    row = await mem0.did("GET", f"/memories/{memory_id}")

    assert (row["id"], row["memory"], row["score"]) == (memory_id, "tea is in the cupboard", None)


@pytest.mark.parametrize("memory_id", ["7", "x", "WyJhIl0", "bnVsbA", "%E8%8C%B6", "W10", "e30"])
async def test_what_is_not_there_is_null_once_and_missing_elsewhere(
    mem0: Mem0, memory_id: str
) -> None:
    assert await mem0.did("GET", f"/memories/{memory_id}") is None
    assert await mem0.did("GET", f"/memories/{memory_id}/history") == []
    await mem0.refused(404, "DELETE", f"/memories/{memory_id}")
    await mem0.refused(404, "PUT", f"/memories/{memory_id}", json={"text": "x"})


async def test_an_update_keeps_the_id_and_the_day_it_was_made(
    start_hub: StartHub, clock: StillClock
) -> None:
    mem0 = Mem0.of(await start_hub(clock))
    memory_id = await mem0.id_of("开会在周一", metadata={"a": 1})
    before = await mem0.did("GET", f"/memories/{memory_id}")
    clock.at += 60

    answer = await mem0.did("PUT", f"/memories/{memory_id}", json={"text": "开会在周二"})

    after = await mem0.did("GET", f"/memories/{memory_id}")
    assert answer == {"message": "Memory updated successfully!"}
    assert (after["id"], after["memory"], after["metadata"]) == (memory_id, "开会在周二", {"a": 1})
    assert after["created_at"] == before["created_at"]
    assert after["updated_at"] > before["updated_at"]
    assert await mem0.found("开会") == ["开会在周二"]


async def test_an_update_of_metadata_leaves_the_text(mem0: Mem0) -> None:
    memory_id = await mem0.id_of("开会在周一", metadata={"a": 1})

    await mem0.did("PUT", f"/memories/{memory_id}", json={"metadata": {"b": 2}})

    row = await mem0.did("GET", f"/memories/{memory_id}")
    assert (row["memory"], row["metadata"]) == ("开会在周一", {"b": 2})


async def test_an_update_of_nothing_is_refused(mem0: Mem0) -> None:
    memory_id = await mem0.id_of("开会在周一")

    await mem0.refused(400, "PUT", f"/memories/{memory_id}", json={})
    await mem0.refused(400, "PUT", f"/memories/{memory_id}", json={"text": None})


async def test_a_slot_can_be_updated_here(api: Api, mem0: Mem0) -> None:
    await api.confirmed("dev", "identity")
    [row] = (await mem0.did("GET", "/memories"))["results"]

    await mem0.did("PUT", f"/memories/{row['id']}", json={"text": "developer"})

    assert await api.slots() == {"identity": "developer"}
    assert (await mem0.did("GET", f"/memories/{row['id']}"))["memory"] == "developer"


async def test_a_memory_that_was_merged_into_another_lives_on_there(api: Api, mem0: Mem0) -> None:
    one, other = await mem0.id_of("绿茶"), await mem0.id_of("喜欢绿茶")
    owner = Owner("default", "userA", "default")

    def merge(stores: Stores) -> None:
        newer, older = stores.memories.find(owner, MemoryFilter())
        stores.memories.save(end_memory(older, 1.0, superseded_by=newer.id))

    assert api.hub is not None
    await api.hub.storage.write(merge)

    row = await mem0.did("GET", f"/memories/{one}")
    assert (row["id"], row["memory"]) == (other, "喜欢绿茶")


async def test_history_tells_every_version(mem0: Mem0) -> None:
    memory_id = await mem0.id_of("开会在周一")
    await mem0.did("PUT", f"/memories/{memory_id}", json={"text": "开会在周二"})

    events = await mem0.did("GET", f"/memories/{memory_id}/history")

    assert [(one["event"], one["old_memory"], one["new_memory"]) for one in events] == [
        ("ADD", None, "开会在周一"),
        ("UPDATE", "开会在周一", "开会在周二"),
    ]
    assert {one["memory_id"] for one in events} == {memory_id}
    assert [one["is_deleted"] for one in events] == [False, False]
    assert {"id", "created_at", "updated_at", "actor_id", "role"} <= set(events[0])


async def test_of_what_was_deleted_only_that_is_told(api: Api, mem0: Mem0) -> None:
    memory_id = await mem0.id_of("zanzibar 是秘密")

    answer = await mem0.did("DELETE", f"/memories/{memory_id}")

    assert answer == {"message": "Memory deleted successfully"}
    assert await mem0.did("GET", f"/memories/{memory_id}") is None
    [event] = await mem0.did("GET", f"/memories/{memory_id}/history")
    assert (event["event"], event["is_deleted"], event["old_memory"]) == ("DELETE", True, None)
    assert "zanzibar" not in str(await mem0.did("GET", "/memories"))
    assert await mem0.found("zanzibar") == []


async def test_what_somebody_revoked_is_a_delete_in_its_history(api: Api, mem0: Mem0) -> None:
    memory_id = await mem0.id_of("开会在周一")
    [row] = (await api.of("default").saw("/memory/list"))["items"]
    await api.of("default").did("/memory/revoke", memory_id=row["id"])

    events = await mem0.did("GET", f"/memories/{memory_id}/history")

    assert [one["event"] for one in events] == ["ADD", "DELETE"]


async def test_delete_all_keeps_to_what_is_named(mem0: Mem0) -> None:
    await mem0.add("茶一", agent_id="a", run_id="r1")
    await mem0.add("茶二", agent_id="a", run_id="r2")
    await mem0.add("茶三", agent_id="b", run_id="r1")

    answer = await mem0.did("DELETE", "/memories", params={"agent_id": "a", "run_id": "r1"})

    assert answer == {"message": "All relevant memories deleted"}
    assert sorted(await mem0.listed()) == ["茶三", "茶二"]


async def test_delete_all_of_nobody_in_particular_is_refused(mem0: Mem0) -> None:
    await mem0.add("茶在柜子里")

    await mem0.refused(400, "DELETE", "/memories")

    assert await mem0.listed() == ["茶在柜子里"]


async def test_after_delete_all_nothing_comes_back_from_the_talk(api: Api, mem0: Mem0) -> None:
    await mem0.add("我对海鲜过敏", "今天聊点别的", infer=True)

    await mem0.did("DELETE", "/memories", params={"user_id": "userA"})

    left = await api.of("default").saw("/messages/recent")
    assert left["messages"] == []
    assert await api.of("default").recalled("海鲜") == []


@pytest.mark.parametrize(
    "filters", [{"agent_id": {"ne": "a"}}, {"run_id": {"in": ["r2", "r3"]}}, {"mine": True}]
)
async def test_deleting_by_a_filter_leaves_the_talk_of_others(
    api: Api, mem0: Mem0, filters: dict[str, object]
) -> None:
    await mem0.add("我对海鲜过敏", infer=True, agent_id="a", run_id="r1")
    await mem0.add("我对花生过敏", infer=True, agent_id="b", run_id="r2", metadata={"mine": True})

    await mem0.did("DELETE", "/memories", params={"filters": json.dumps(filters)})

    assert await mem0.listed() == ["我对海鲜过敏"]
    kept = await api.of("a").saw("/messages/recent")
    assert [row["content"] for row in kept["messages"]] == ["我对海鲜过敏"]


async def test_many_are_deleted_in_lots(mem0: Mem0) -> None:
    await mem0.add(*(f"第{number}杯茶" for number in range(250)))

    await mem0.did("DELETE", "/memories", params={"user_id": "userA"})

    assert await mem0.listed() == []


async def test_a_search_answers_best_first_with_scores(mem0: Mem0) -> None:
    await mem0.add("I like green tea", "I like black coffee", "the cat sleeps")

    answer = await mem0.did("POST", "/search", json={"query": "green tea", "user_id": "userA"})

    scores = [row["score"] for row in answer["results"]]
    assert answer["results"][0]["memory"] == "I like green tea"
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


async def test_both_forms_of_naming_a_user_work(mem0: Mem0) -> None:
    await mem0.add("我喜欢绿茶")

    assert await mem0.found("绿茶", user_id="userA") == ["我喜欢绿茶"]
    assert await mem0.found("绿茶", filters={"user_id": "userA"}) == ["我喜欢绿茶"]
    assert await mem0.found("绿茶", user_id="userA", filters={"agent_id": "x"}) == []


async def test_entities_are_users_agents_and_runs_with_their_numbers(mem0: Mem0) -> None:
    await mem0.add("茶一", agent_id="a", run_id="r1")
    await mem0.add("茶二", agent_id="a")
    await mem0.add("茶三")

    found = await mem0.did("GET", "/entities")

    assert {(one["type"], one["id"], one["total_memories"]) for one in found} == {
        ("user", "userA", 3),
        ("agent", "a", 2),
        ("run", "r1", 1),
    }
    assert set(found[0]) == {"id", "type", "total_memories", "created_at", "updated_at"}


async def test_an_entity_can_be_deleted(mem0: Mem0) -> None:
    await mem0.add("茶一", agent_id="a/b 中")
    await mem0.add("茶二")

    answer = await mem0.did("DELETE", "/entities/agent/a%2Fb%20%E4%B8%AD")

    assert answer == {"message": "Entity deleted"}
    assert await mem0.listed() == ["茶二"]
    await mem0.refused(404, "DELETE", "/entities/planet/mars")


async def test_unknown_fields_are_ignored(mem0: Mem0) -> None:
    added = await mem0.add("茶在柜子里", enable_graph=True, prompt="x", custom={"a": [1]})

    assert [one["memory"] for one in added] == ["茶在柜子里"]
    assert await mem0.found("茶", rerank=True, explain=True, whatever=None) == ["茶在柜子里"]


async def test_what_does_not_fit_is_refused_in_the_shape_of_there(mem0: Mem0) -> None:
    no_messages = await mem0.refused(422, "POST", "/memories", json={"user_id": "userA"})
    unreadable = await mem0.refused(400, "POST", "/search", content=b"{")
    no_query = await mem0.refused(422, "POST", "/search", json={"user_id": "userA"})

    assert no_messages[0]["loc"] == ["body", "messages"]
    assert no_query[0]["loc"] == ["body", "query"]
    assert "JSON" in unreadable


async def test_without_a_good_key_nothing_is_read(mem0: Mem0) -> None:
    for key in (None, "wrong"):
        await mem0.with_key(key).refused(401, "POST", "/memories", content=b"{")
        await mem0.with_key(key).refused(401, "GET", "/memories/x")
        await mem0.with_key(key).refused(401, "GET", "/v1/ping/")
