"""Whom a key reaches through the mem0 door: users, tenants, personas, apps and bots."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Api, StartHub
from mem0_caller import Mem0
from plastic_memories.model.key import KeyLimits

SECRET = "zanzibar 是秘密"


@pytest.fixture
def mem0(api: Api) -> Mem0:
    return Mem0.of(api)


async def key_with(api: Api, user: str = "userA", tenant: str = "default", **limits: Any) -> str:
    assert api.hub is not None
    text, _ = await api.hub.keys.create(tenant, user, "", KeyLimits(**limits))
    return text


async def everything(mem0: Mem0, **named: Any) -> str:
    """Return all that a caller can read, as one text."""
    parts = [
        await mem0.did("GET", "/memories", params={**named, "show_expired": "true"}),
        await mem0.did("POST", "/search", json={"query": "秘密", "top_k": 100, **named}),
        await mem0.did("POST", "/v3/memories/", json=named),
        await mem0.did("GET", "/entities"),
    ]
    return str(parts)


async def test_a_user_key_needs_no_user_and_takes_its_own(mem0: Mem0) -> None:
    await mem0.add(SECRET)

    assert await mem0.listed() == await mem0.listed(user_id="userA") == [SECRET]


async def test_a_user_key_for_another_user_is_told_the_remedy(mem0: Mem0) -> None:
    body = {"messages": "x y z", "user_id": "userB"}
    filters = {"OR": [{"user_id": "userA"}, {"user_id": "userB"}]}

    reasons = [
        await mem0.refused(403, "POST", "/memories", json=body),
        await mem0.refused(403, "POST", "/v3/memories/", json={"filters": filters}),
        await mem0.refused(403, "POST", "/search", json={"query": "x", "user_id": "userB"}),
        await mem0.refused(403, "DELETE", "/memories", params={"user_id": "userB"}),
        await mem0.refused(403, "DELETE", "/entities/user/userB"),
    ]

    assert all("--app-key" in reason for reason in reasons)


async def test_an_app_key_names_its_users(mem0: Mem0) -> None:
    app = mem0.with_key("appkey")
    await app.add("alice 喜欢绿茶", user_id="alice")
    await app.add("bob 喜欢咖啡", user_id="bob")

    assert await app.listed(user_id="alice") == ["alice 喜欢绿茶"]
    assert await app.found("喜欢", filters={"user_id": "bob"}) == ["bob 喜欢咖啡"]
    assert sorted(await app.listed(user_id={"in": ["alice", "bob"]})) == [
        "alice 喜欢绿茶",
        "bob 喜欢咖啡",
    ]


async def test_an_app_key_without_a_user_is_refused(mem0: Mem0) -> None:
    app = mem0.with_key("appkey")

    for body in ({"messages": "x y z"}, {"messages": "x y z", "agent_id": "a"}):
        assert "user_id" in await app.refused(400, "POST", "/memories", json=body)
    await app.refused(400, "POST", "/search", json={"query": "x", "user_id": "*"})
    await app.refused(400, "DELETE", "/memories", params={"agent_id": "a"})


async def test_an_app_key_finds_a_memory_by_its_id_alone(mem0: Mem0) -> None:
    app = mem0.with_key("appkey")
    memory_id = await app.id_of("我喜欢绿茶", user_id="张三", agent_id="初音")

    row = await app.did("GET", f"/v1/memories/{memory_id}/")
    await app.did("DELETE", f"/v1/memories/{memory_id}/")

    assert (row["user_id"], row["agent_id"]) == ("张三", "初音")
    assert await app.listed(user_id="张三") == []


async def test_an_app_key_and_the_users_own_key_share_their_memories(mem0: Mem0) -> None:
    await mem0.with_key("appkey").add(SECRET, user_id="userA")

    assert await mem0.listed() == [SECRET]


@pytest.mark.parametrize(
    ("key", "named"),
    [("devkey2", {}), ("appkey", {"user_id": "userC"}), ("acmekey", {"user_id": "userA"})],
)
async def test_a_stranger_sees_nothing(mem0: Mem0, key: str, named: dict[str, str]) -> None:
    await mem0.add(SECRET)

    seen = await everything(mem0.with_key(key), **named)

    assert "zanzibar" not in seen
    assert ("userA" in seen) is (key == "appkey")  # an app key may know the users of its tenant


@pytest.mark.parametrize("key", ["devkey2", "acmekey"])
async def test_a_strangers_id_leads_nowhere(mem0: Mem0, key: str) -> None:
    memory_id = await mem0.id_of(SECRET)
    stranger = mem0.with_key(key)

    assert await stranger.did("GET", f"/memories/{memory_id}") is None
    assert await stranger.did("GET", f"/memories/{memory_id}/history") == []
    for method in ("GET", "PUT", "DELETE"):
        await stranger.refused(404, method, f"/v1/memories/{memory_id}/", json={"text": "x"})
    await stranger.refused(404, "GET", f"/v1/memories/{memory_id}/history/")
    event = await stranger.send("GET", f"/v1/event/{memory_id}/")
    assert "zanzibar" not in event.text
    memories = {"memories": [{"memory_id": memory_id, "text": "x"}]}
    await stranger.refused(404, "DELETE", "/v1/batch/", json=memories)
    assert await mem0.listed() == [SECRET]


async def test_a_stranger_deletes_nothing(mem0: Mem0) -> None:
    await mem0.add(SECRET, agent_id="a", run_id="r1")

    for stranger in (mem0.with_key("devkey2"), mem0.with_key("acmekey")):
        for kind, name in (("agent", "a"), ("run", "r1")):
            await stranger.did("DELETE", f"/entities/{kind}/{name}")
    await mem0.with_key("acmekey").did("DELETE", "/memories", params={"user_id": "userA"})

    assert await mem0.listed() == [SECRET]


async def test_an_agent_sees_its_own_and_without_one_all_are_seen(mem0: Mem0) -> None:
    await mem0.add("茶一", agent_id="a")
    await mem0.add("茶二", agent_id="b")
    await mem0.add("茶三")

    assert await mem0.listed(agent_id="a") == ["茶一"]
    assert await mem0.found("茶", agent_id="b") == ["茶二"]
    assert await mem0.listed(agent_id="default") == ["茶三"]
    assert sorted(await mem0.listed()) == sorted(await mem0.found("茶")) == ["茶一", "茶三", "茶二"]
    assert await mem0.listed(agent_id={"ne": "a"}) == ["茶三", "茶二"]


async def test_what_personas_share_is_shown_once(api: Api, mem0: Mem0) -> None:
    await api.of("a").remember("绿茶", scope="global")
    await api.of("b").remember("红茶")

    assert sorted(await mem0.found("茶")) == ["红茶", "绿茶"]
    assert await mem0.found("茶", agent_id="b") == ["红茶"]


async def test_a_bots_memories_are_never_seen(api: Api, mem0: Mem0) -> None:
    await api.remember(SECRET, bot_id="bot1")
    await api.remember("我对 zanzibar 过敏", "profile", "constraint.allergy", bot_id="bot1")

    seen = await everything(mem0) + await everything(mem0, agent_id="p1")
    await mem0.did("DELETE", "/memories", params={"user_id": "userA"})

    assert "zanzibar" not in seen
    assert len(await api.listed(bots="all")) == 2


async def test_a_story_and_another_session_and_app_stay_where_they_are(
    api: Api, mem0: Mem0
) -> None:
    await api.remember("zanzibar 一", key="a", realm="story")
    await api.remember("zanzibar 二", key="b", scope="session", session_id="s1")
    await api.remember("zanzibar 三", key="c", scope="app", source_app="pet")

    assert "zanzibar" not in await everything(mem0)
    assert await mem0.listed(run_id="s1") == ["zanzibar 二"]
    assert await mem0.found("zanzibar", app_id="pet") == ["zanzibar 三"]


async def test_what_waits_for_a_yes_is_not_shown(api: Api, mem0: Mem0) -> None:
    await api.remember(SECRET, "identity")

    assert "zanzibar" not in await everything(mem0)


async def test_a_key_that_may_only_read(api: Api, mem0: Mem0) -> None:
    memory_id = await mem0.id_of(SECRET)
    reader = mem0.with_key(await key_with(api, read_only=True))

    assert await reader.listed() == [SECRET]
    assert await reader.found("秘密") == [SECRET]
    for method, path in (
        ("POST", "/memories"),
        ("POST", "/v3/memories/add/"),
        ("PUT", f"/memories/{memory_id}"),
        ("DELETE", f"/v1/memories/{memory_id}/"),
        ("DELETE", "/memories"),
        ("DELETE", "/v1/batch/"),
        ("DELETE", "/v2/entities/user/userA/"),
        ("POST", "/reset"),
    ):
        await reader.refused(403, method, path, json={"messages": "x y z"})


async def test_a_key_bound_to_a_persona(api: Api, mem0: Mem0) -> None:
    other = await mem0.id_of(SECRET)
    bound = mem0.with_key(await key_with(api, persona_id="miku"))

    await bound.add("我喜欢绿茶")

    assert await bound.listed() == ["我喜欢绿茶"]
    assert await mem0.listed(agent_id="miku") == ["我喜欢绿茶"]
    assert "zanzibar" not in await everything(bound)
    assert await bound.did("GET", f"/memories/{other}") is None
    await bound.refused(404, "DELETE", f"/v1/memories/{other}/")
    await bound.refused(403, "POST", "/search", json={"query": "x", "agent_id": "default"})
    await bound.refused(403, "POST", "/memories", json={"messages": "x", "agent_id": "default"})
    await bound.did("DELETE", "/memories", params={"user_id": "userA"})
    assert await mem0.listed() == [SECRET]


async def test_a_key_bound_to_an_app(api: Api, mem0: Mem0) -> None:
    await api.remember(SECRET, scope="app", source_app="pet")
    bound = mem0.with_key(await key_with(api, source_app="bot"))

    [added] = await bound.add("我喜欢绿茶")

    assert (await mem0.did("GET", f"/v1/memories/{added['id']}/"))["app_id"] == "bot"
    assert "zanzibar" not in await everything(bound)
    await bound.refused(403, "POST", "/memories", json={"messages": "x", "app_id": "pet"})


async def test_reset_needs_a_key_made_for_it(api: Api, mem0: Mem0) -> None:
    await mem0.add(SECRET)

    for key in ("devkey", "appkey", await key_with(api, allow_reset=True, source_app="bot")):
        assert "--allow-reset" in await mem0.with_key(key).refused(403, "POST", "/reset")

    assert await mem0.listed() == [SECRET]


async def test_a_user_key_resets_its_own_user(api: Api, mem0: Mem0) -> None:
    other = mem0.with_key("devkey2")
    await mem0.add(SECRET, agent_id="a")
    await api.remember(SECRET, bot_id="bot1")
    await other.add("我喜欢绿茶")
    key = await key_with(api, allow_reset=True)

    answer = await mem0.with_key(key).did("POST", "/reset")

    assert answer == {"message": "All memories reset"}
    assert (await api.saw("/persona/list"))["items"] == []
    assert await other.listed() == ["我喜欢绿茶"]


async def test_an_app_key_resets_its_own_tenant(api: Api, mem0: Mem0) -> None:
    await mem0.add(SECRET)
    await mem0.with_key("devkey2").add(SECRET)
    await mem0.with_key("acmekey").add("我喜欢绿茶", user_id="userA")
    key = await key_with(api, user="*", allow_reset=True)

    await mem0.with_key(key).did("POST", "/reset")

    assert await mem0.listed() == []
    assert await mem0.with_key("devkey2").listed() == []
    assert await mem0.with_key("acmekey").listed(user_id="userA") == ["我喜欢绿茶"]


async def test_over_the_rate_there_is_a_time_to_come_back(start_hub: StartHub) -> None:
    mem0 = Mem0.of(await start_hub(rate_limit="2/h"))

    answers = [await mem0.send("GET", "/v1/ping/") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[-1].headers["Retry-After"]) > 0
