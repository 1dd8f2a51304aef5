"""Keys made at run time and what they are narrowed to; keys of the environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness import Api, StartHub, StillClock, environment, refused
from plastic_memories.errors import InvalidSetting
from plastic_memories.model.key import KeyLimits
from plastic_memories.settings import load_settings
from plastic_memories.wiring import build_app

WRITES: list[tuple[str, dict[str, Any]]] = [
    ("/memory/write", {"type": "fact", "key": "k", "content": "x"}),
    ("/memory/confirm", {"memory_id": 1}),
    ("/memory/reject", {"memory_id": 1}),
    ("/memory/revoke", {"memory_id": 1}),
    ("/memory/forget", {"memory_id": 1}),
    ("/memory/update", {"memory_id": 1, "content": "x"}),
    ("/memory/rebuild", {}),
    ("/messages/append", {"role": "user", "content": "x"}),
    ("/messages/purge", {"all": True}),
    ("/persona/create", {}),
    ("/persona/create_from_template", {"template_path": "x"}),
    ("/persona/delete", {"confirm": "p1"}),
    ("/goals/create", {"title": "x"}),
    ("/goals/update_status", {"goal_id": 1, "status": "done"}),
    ("/goals/link", {"goal_id": 1}),
    ("/user/settings", {"language": "zh"}),
]


async def key_for(api: Api, user: str = "userA", **limits: Any) -> Api:
    """Make a key with these limits; return its caller."""
    assert api.hub is not None
    text, _ = await api.hub.keys.create("default", user, "test", KeyLimits(**limits))
    return api.as_(text)


async def test_a_key_made_at_run_time_works(api: Api) -> None:
    await api.remember("mine")

    assert await (await key_for(api)).listed() == ["mine"]
    assert await (await key_for(api, "userB")).listed() == []


async def test_a_read_only_key_reads_and_does_not_write(api: Api) -> None:
    await api.remember("mine")
    reader = await key_for(api, read_only=True)

    answers = [await reader.post(path, **body) for path, body in WRITES]

    assert [answer.status_code for answer in answers] == [403] * len(WRITES)
    refused(await reader.bring_in(""), 403, "forbidden")
    assert await reader.listed() == ["mine"]
    assert await reader.recalled("mine") == ["mine"]


async def test_a_key_of_one_persona_knows_no_other(api: Api) -> None:
    await api.remember("one")
    await api.of("p2").remember("two", key="constraint.x")
    bound = await key_for(api, persona_id="p1")

    assert await bound.listed() == ["one"]
    for path, body in WRITES:
        answer = await bound.of("p2").post(path, **body)
        assert answer.status_code == 403, path
    for path in ("/memory/list", "/messages/recent", "/persona/profile", "/goals/list"):
        assert (await bound.of("p2").get(path)).status_code == 403
    personas = (await bound.saw("/persona/list"))["items"]
    assert [persona["persona_id"] for persona in personas] == ["p1"]
    assert b"two" not in await bound.export()
    assert {line["persona_id"] for line in (await bound.saw("/audit"))["items"]} == {"p1"}


async def test_a_key_of_one_persona_reads_the_settings_of_the_user_and_changes_none(
    api: Api,
) -> None:
    await api.did("/user/settings", language="zh")
    bound = await key_for(api, persona_id="p1")

    refused(await bound.post("/user/settings", language="en"), 403, "forbidden")

    assert (await bound.saw("/user/settings"))["language"] == "zh"


async def test_a_key_of_one_app_speaks_for_that_app(api: Api) -> None:
    bound = await key_for(api, source_app="ide")

    memory_id = await bound.remember("mine")
    await bound.say("hello")

    assert (await api.saw("/memory/get", memory_id=memory_id))["source_app"] == "ide"
    [message] = (await api.saw("/messages/recent"))["messages"]
    assert message["source_app"] == "ide"
    answer = await bound.post("/memory/write", type="fact", key="k", content="x", source_app="web")
    refused(answer, 403, "forbidden")


async def test_a_key_of_one_app_does_not_see_or_purge_anothers_talk(api: Api) -> None:
    await api.say("from the web", source_app="web")
    bound = await key_for(api, source_app="ide")

    seen = (await bound.saw("/messages/recent"))["messages"]
    purged = await bound.did("/messages/purge", all=True)

    assert seen == []
    assert purged["deleted"] == 0
    assert b"from the web" not in await bound.export()


async def test_a_key_of_an_app_deletes_only_what_was_said_there(api: Api) -> None:
    await api.say("from the web", session_id="s1", source_app="web")
    bound = await key_for(api, source_app="ide")
    await bound.say("在编辑器里说的", session_id="s1")

    done = await bound.did("/messages/delete", session_id="s1", all=True)

    assert done["deleted"] == 1
    [left] = (await api.saw("/messages/recent"))["messages"]
    assert left["content"] == "from the web"


async def test_a_key_of_one_app_does_not_see_anothers_rows(api: Api) -> None:
    await api.remember("web only", scope="app", source_app="web")
    bound = await key_for(api, source_app="ide")

    assert await bound.recalled("web only") == []
    assert await bound.listed() == []


async def test_a_key_dies_at_its_expiry(timed: Api, clock: StillClock) -> None:
    guest = await key_for(timed, expires_at=clock.at + 60)
    assert await guest.listed() == []

    clock.at += 60

    refused(await guest.get("/memory/list"), 401, "unauthorized")


async def test_a_revoked_key_is_dead(api: Api) -> None:
    assert api.hub is not None
    text, key = await api.hub.keys.create("default", "userA", "test", KeyLimits())
    caller = api.as_(text)
    await caller.listed()

    await api.hub.keys.revoke(key.id)

    refused(await caller.get("/memory/list"), 401, "unauthorized")


def all_bytes(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


async def test_the_text_of_a_key_is_stored_nowhere(api: Api, tmp_path: Path) -> None:
    caller = await key_for(api)
    await caller.remember("x")

    assert caller.key is not None
    stored = all_bytes(tmp_path)
    assert caller.key.encode() not in stored
    assert b"devkey" not in stored


@pytest.mark.parametrize(
    "keys", ["devkey", ":userA", "devkey:", "a:b,broken", "k:acme/", "k:/bob", "a:b,:,c:d", "k: "]
)
def test_a_malformed_key_stops_the_start(tmp_path: Path, keys: str) -> None:
    with pytest.raises(InvalidSetting, match="API_KEYS") as raised:
        load_settings(environment(tmp_path, api_keys=keys))

    assert "broken" not in raised.value.message
    assert "\n" not in raised.value.message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("backend", "oracle"),
        ("recall", "psychic"),
        ("judge", "dredd"),
        ("profile", "x"),
        ("sensitive", "maybe"),
        ("events", "pigeon"),
        ("port", "http"),
        ("rate_limit", "fast"),
        ("log_level", "LOUD"),
        ("max_body_bytes", "0"),
        ("metrics_public", "perhaps"),
    ],
)
def test_a_bad_setting_stops_the_start_with_its_name(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(InvalidSetting, match=f"PLASTIC_MEMORIES_{name.upper()}") as raised:
        build_app(load_settings(environment(tmp_path, **{name: value})))

    assert "\n" not in raised.value.message


async def test_two_keys_of_one_user_see_the_same(start_hub: StartHub) -> None:
    api = await start_hub(api_keys="pet:ann,ide:ann")
    await api.as_("pet").remember("mine")

    assert await api.as_("ide").listed() == ["mine"]


async def test_too_many_requests_are_told_when_to_come_back(start_hub: StartHub) -> None:
    api = await start_hub(rate_limit="3/h")

    answers = [await api.get("/memory/list") for _ in range(4)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    refused(answers[3], 429, "rate_limited")
    assert int(answers[3].headers["Retry-After"]) > 0
    assert (await api.as_("devkey2").get("/memory/list")).status_code == 200


async def test_many_wrong_keys_from_one_address_are_told_to_wait(api: Api) -> None:
    for number in range(20):
        refused(await api.as_(f"guess{number}").get("/memory/list"), 401, "unauthorized")

    over = await api.as_("guess").get("/memory/list")

    refused(over, 429, "rate_limited")
    assert int(over.headers["Retry-After"]) > 0
    refused(await api.as_("guess").get("/capabilities"), 429, "rate_limited")
    assert (await api.get("/memory/list")).status_code == 200  # a right key always works
    refused(await api.as_(None).get("/memory/list"), 401, "unauthorized")
    health = await api.http.get("/health", headers={"X-API-Key": "guess"})
    assert health.status_code == 200


async def test_how_many_wrong_keys_are_let_pass_is_a_setting(start_hub: StartHub) -> None:
    api = (await start_hub(wrong_keys_per_minute="2")).as_("guess")

    answers = [await api.get("/memory/list") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [401, 401, 429]


async def test_metrics_and_capabilities_need_a_key(api: Api) -> None:
    for path in ("/metrics", "/capabilities"):
        refused(await api.http.get(path), 401, "unauthorized")


@pytest.mark.parametrize("path", ["/metrics", "/capabilities"])
async def test_metrics_and_capabilities_can_be_public(start_hub: StartHub, path: str) -> None:
    api = await start_hub(metrics_public="1")

    assert (await api.http.get(path)).status_code == 200


async def test_public_metrics_do_not_carry_other_tenants_to_a_user_key(
    start_hub: StartHub,
) -> None:
    api = await start_hub(metrics_public="1")
    await api.as_("acmekey", "alice").remember("x")

    mine = await api.http.get("/metrics", headers={"X-API-Key": "devkey"})

    assert 'memory_writes_total{status="active"}' not in mine.text


async def test_health_tells_a_stranger_the_status_only(api: Api, tmp_path: Path) -> None:
    stranger = (await api.http.get("/health")).json()["data"]
    wrong = (await api.http.get("/health", headers={"X-API-Key": "x"})).json()["data"]
    mine = await api.saw("/health")

    assert stranger == wrong == {"status": "ok"}
    assert mine["db_path"] == str(tmp_path / "hub.db")
    assert mine["embedding_backlog"] == 0
    assert mine["components"]["storage"]["name"] == "sqlite"
