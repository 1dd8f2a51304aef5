"""The calls of mem0's hosted clients, in all their versions, with plain requests."""

from __future__ import annotations

import pytest

from harness import Api
from mem0_caller import Mem0

USER = {"user_id": "userA"}


@pytest.fixture
def mem0(api: Api) -> Mem0:
    return Mem0.of(api)


async def test_ping_says_whose_key_it_is(mem0: Mem0) -> None:
    assert await mem0.did("GET", "/v1/ping/") == {
        "status": "ok",
        "org_id": "default",
        "project_id": "default",
        "user_email": None,
    }
    assert (await mem0.with_key("acmekey").did("GET", "/v1/ping/"))["org_id"] == "acme"


async def test_add_is_done_when_it_answers(mem0: Mem0) -> None:
    body = {"messages": [{"role": "user", "content": "我喜欢绿茶"}], "filters": USER}

    added = await mem0.did("POST", "/v3/memories/add/", json=body)

    assert added["status"] == "SUCCEEDED"
    assert [one["memory"] for one in added["results"]] == ["我喜欢绿茶"]
    event = await mem0.did("GET", f"/v1/event/{added['event_id']}/")
    assert event["status"] == "SUCCEEDED"
    assert [one["id"] for one in event["results"]] == [added["results"][0]["id"]]


async def test_of_an_event_only_what_is_left_is_shown(mem0: Mem0) -> None:
    body = {"messages": "茶在柜子里", "infer": False}
    added = await mem0.did("POST", "/v3/memories/add/", json=body)
    await mem0.did("DELETE", f"/v1/memories/{added['results'][0]['id']}/")

    event = await mem0.did("GET", f"/v1/event/{added['event_id']}/")

    assert event["results"] == []
    await mem0.refused(404, "GET", "/v1/event/unknown/")


async def test_older_clients_add_search_and_list(mem0: Mem0) -> None:
    body = {"messages": [{"role": "user", "content": "我喜欢绿茶"}], "user_id": "userA"}
    added = await mem0.did("POST", "/v1/memories/", json=body)

    asked = {"query": "绿茶", "user_id": "userA"}
    by_filters = {"query": "绿茶", "filters": {"AND": [USER]}}

    [one] = await mem0.did("POST", "/v1/memories/search/", json=asked)
    [same] = await mem0.did("POST", "/v2/memories/search/", json=by_filters)
    [listed] = await mem0.did("GET", "/v1/memories/", params=USER)
    [listed_v2] = await mem0.did("POST", "/v2/memories/", json={"filters": USER})
    ids = {row["id"] for row in (one, same, listed, listed_v2)}
    assert ids == {added["results"][0]["id"]}


async def test_a_memory_has_its_shape(mem0: Mem0) -> None:
    memory_id = await mem0.id_of("茶在柜子里", agent_id="miku", run_id="r1", app_id="pet")

    row = await mem0.did("GET", f"/v1/memories/{memory_id}/")

    assert set(row) == {
        "id", "memory", "hash", "metadata", "categories", "user_id", "agent_id", "run_id",
        "app_id", "actor_id", "role", "created_at", "updated_at", "expiration_date",
    }  # fmt: skip
    assert [row[name] for name in ("user_id", "agent_id", "run_id", "app_id")] == [
        "userA",
        "miku",
        "r1",
        "pet",
    ]


async def test_pages_lead_to_each_other(mem0: Mem0) -> None:
    await mem0.add(*(f"茶{number}" for number in range(5)))

    seen: list[str] = []
    address: str | None = "/v3/memories/?page=1&page_size=2"
    while address:
        page = await mem0.did("POST", address, json={"filters": USER})
        seen += [row["memory"] for row in page["results"]]
        address = page["next"]

    assert page["count"] == 5
    assert seen == ["茶4", "茶3", "茶2", "茶1", "茶0"]
    before = await mem0.did("POST", page["previous"], json={"filters": USER})
    assert [row["memory"] for row in before["results"]] == ["茶2", "茶1"]


async def test_a_page_beyond_the_last_is_empty(mem0: Mem0) -> None:
    await mem0.add("茶在柜子里")

    page = await mem0.did("POST", "/v3/memories/?page=7&page_size=2", json={})

    assert (page["count"], page["results"], page["next"]) == (1, [], None)
    await mem0.refused(422, "POST", "/v3/memories/?page=0", json={})


async def test_a_list_can_be_narrowed_to_days(mem0: Mem0) -> None:
    await mem0.add("茶在柜子里")

    later = await mem0.did("POST", "/v3/memories/", json={"start_date": "2999-01-01"})
    until = await mem0.did("POST", "/v3/memories/", json={"end_date": "2999-01-01"})

    assert (later["count"], until["count"]) == (0, 1)


async def test_update_returns_the_memory_as_it_is_now(mem0: Mem0) -> None:
    memory_id = await mem0.id_of("开会在周一")

    changed = await mem0.did("PUT", f"/v1/memories/{memory_id}/", json={"text": "开会在周二"})

    assert (changed["id"], changed["memory"]) == (memory_id, "开会在周二")


async def test_what_is_not_there_is_missing_everywhere(mem0: Mem0) -> None:
    for method, path in (
        ("GET", "/v1/memories/x/"),
        ("PUT", "/v1/memories/x/"),
        ("DELETE", "/v1/memories/x/"),
        ("GET", "/v1/memories/x/history/"),
    ):
        await mem0.refused(404, method, path, json={"text": "x"})


async def test_a_batch_updates_and_deletes(mem0: Mem0) -> None:
    one, other = await mem0.id_of("茶一"), await mem0.id_of("茶二")
    texts = [{"memory_id": one, "text": "咖啡一"}, {"memory_id": other, "text": "咖啡二"}]

    updated = await mem0.did("PUT", "/v1/batch/", json={"memories": texts})
    listed = await mem0.listed()
    ids = [{"memory_id": one}, {"memory_id": other}, {"memory_id": one}]
    deleted = await mem0.did("DELETE", "/v1/batch/", json={"memories": ids})

    assert updated == {"message": "Successfully updated 2 memories"}
    assert sorted(listed) == ["咖啡一", "咖啡二"]
    assert deleted == {"message": "Successfully deleted 2 memories"}
    assert await mem0.listed() == []


async def test_a_batch_with_a_stranger_in_it_changes_nothing(mem0: Mem0) -> None:
    own = await mem0.id_of("茶一")
    memories = [{"memory_id": own, "text": "x"}, {"memory_id": "nobody", "text": "x"}]

    await mem0.refused(404, "PUT", "/v1/batch/", json={"memories": memories})
    await mem0.refused(404, "DELETE", "/v1/batch/", json={"memories": memories})

    assert await mem0.listed() == ["茶一"]


@pytest.mark.parametrize("text", ["{'user_id': 'userA'}", '{"user_id": "userA"}'])
async def test_delete_all_reads_filters_from_the_query_string(mem0: Mem0, text: str) -> None:
    await mem0.add("茶在柜子里")

    answer = await mem0.did("DELETE", "/v1/memories/", params={"filters": text})

    assert answer == {"message": "Memories deleted successfully!"}
    assert await mem0.listed() == []


@pytest.mark.parametrize("text", ["{", "user", "[1]", "__import__('os')", "(" * 5000])
async def test_filters_that_are_none_are_refused(mem0: Mem0, text: str) -> None:
    await mem0.add("茶在柜子里")

    await mem0.refused(422, "DELETE", "/v1/memories/", params={"filters": text})

    assert await mem0.listed() == ["茶在柜子里"]


async def test_entities_are_listed_and_deleted_one_by_one(mem0: Mem0) -> None:
    await mem0.add("茶一", agent_id="a", run_id="r1", app_id="pet")
    listed = await mem0.did("GET", "/v1/entities/")

    kinds = [one["type"] for one in listed["results"]]
    for one in listed["results"]:
        path = f"/v2/entities/{one['type']}/{one['name']}/"
        await mem0.did("DELETE", path)  # the later ones find nothing left, and say so by 200

    assert kinds == ["user", "agent", "app", "run"]
    assert listed["count"] == 4
    assert (await mem0.did("GET", "/v2/entities/"))["results"] == []


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/exports/"),
        ("POST", "/v1/exports/get/"),
        ("POST", "/v1/summary/"),
        ("POST", "/v1/feedback/"),
        ("GET", "/v2/entities/user/userA/profile/"),
        ("POST", "/v2/profiles/jobs/"),
        ("GET", "/api/v1/orgs/organizations/default/projects/default/"),
        ("GET", "/api/v1/webhooks/projects/default/"),
    ],
)
async def test_what_belongs_to_the_cloud_says_what_is_here_instead(
    mem0: Mem0, method: str, path: str
) -> None:
    reason = await mem0.refused(404, method, path, json={})

    assert "/export" in reason


async def test_a_filter_that_leaves_little_still_finds_it_and_scores_it_as_before(
    mem0: Mem0,
) -> None:
    for number in range(100):
        mood = {"mood": "安静"} if number == 7 else {}
        await mem0.add(f"绿茶 green tea note {number}", metadata=mood, user_id="userA")
    asked = {"query": "green tea 绿茶 note 7", "top_k": 100, **USER}
    free = await mem0.did("POST", "/v1/memories/search/", json=asked)
    [before] = [one for one in free if one["memory"].endswith(" 7")]

    for filters in ({"mood": "安静"}, {"metadata": {"mood": {"contains": "安"}}}):
        narrowed = {"query": asked["query"], "top_k": 1, "filters": {"AND": [USER, filters]}}
        [found] = await mem0.did("POST", "/v2/memories/search/", json=narrowed)
        assert found["memory"] == "绿茶 green tea note 7"
        assert found["score"] == pytest.approx(before["score"], abs=1e-3)
    nothing = {"query": asked["query"], "filters": {"AND": [USER, {"mood": "loud"}]}}
    assert await mem0.did("POST", "/v2/memories/search/", json=nothing) == []


async def test_pages_of_a_filter_count_what_it_lets_through(mem0: Mem0) -> None:
    for number in range(9):
        await mem0.add(
            f"第{number}杯茶", metadata={"even": number % 2 == 0}, run_id=f"r{number % 3}"
        )
    body = {"filters": {"AND": [USER, {"even": True}]}}

    first = await mem0.did("POST", "/v3/memories/?page=1&page_size=3", json=body)
    last = await mem0.did("POST", "/v3/memories/?page=2&page_size=3", json=body)
    beyond = await mem0.did("POST", "/v3/memories/?page=9&page_size=3", json=body)
    of_run = await mem0.did("POST", "/v3/memories/", json={"filters": {**USER, "run_id": "r1"}})

    assert [one["memory"] for one in first["results"]] == ["第8杯茶", "第6杯茶", "第4杯茶"]
    assert [one["memory"] for one in last["results"]] == ["第2杯茶", "第0杯茶"]
    assert (first["count"], last["count"], beyond["count"]) == (5, 5, 5)
    assert (last["next"], beyond["results"]) == (None, [])
    assert [one["memory"] for one in of_run["results"]] == ["第7杯茶", "第4杯茶", "第1杯茶"]


async def test_a_changed_memory_keeps_the_time_it_was_made_at_in_filters(mem0: Mem0) -> None:
    memory_id = await mem0.id_of("茶在柜子里")
    made = (await mem0.did("GET", f"/v1/memories/{memory_id}/"))["created_at"]

    await mem0.did("PUT", f"/v1/memories/{memory_id}/", json={"text": "茶在桌上"})

    found = await mem0.did(
        "POST", "/v3/memories/", json={"filters": {"AND": [USER, {"created_at": {"lte": made}}]}}
    )
    assert [(one["memory"], one["created_at"]) for one in found["results"]] == [("茶在桌上", made)]
