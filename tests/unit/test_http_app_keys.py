"""A key bound to one app: on no road does it read what came from another."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from fake_upstream import FakeUpstream
from harness import Api, Json, StartHub, refused
from mem0_caller import Mem0
from plastic_memories.http.doors.mem0 import memory_ids
from plastic_memories.model.key import KeyLimits
from plastic_memories.model.owner import Owner
from proxy_parts import PATIENT, Client, user

# Stands in everything that came from the other app, its name included.
APP = "zanzibar"
TEA = "zanzibar 的茶叶"
MINE = "ide"
THIRD = "pet"  # what came from there is shared by now
Read = Callable[[Api, Json], Awaitable[str]]


async def bound_to(api: Api, app: str) -> Api:
    assert api.hub is not None
    text, _ = await api.hub.keys.create("default", "userA", "test", KeyLimits(source_app=app))
    return api.as_(text)


async def filled(api: Api) -> Json:
    """Let the other app say and store things that are its own; return what they are called."""
    there: Json = {"source_app": APP, "session_id": "s1"}
    await api.say(f"{TEA} 一", **there)
    await api.say("茶叶：问一句", source_app=MINE, session_id="s1")
    message_id = await api.say(f"{TEA} 二", **there)
    of_app = await api.remember(f"{TEA} 三", key="app", scope="app", **there)
    of_session = await api.remember(f"{TEA} 四", key="session", scope="session", **there)
    slot = await api.remember(f"{TEA} 五", "identity", "slot", scope="app", **there)
    await api.did("/memory/confirm", memory_id=slot)
    event = {"title": f"{TEA} 六", "date": "2030-01-01", "event_type": "plan"}
    await api.remember(f"{TEA} 六", "event", "day", scope="app", attributes=event, **there)
    first = await api.remember(f"{TEA} 七", key="moved", scope="app", source_app=THIRD)
    moved = await api.did("/memory/update", memory_id=first, content="茶叶", scope="persona")
    return {
        "message": message_id,
        "app": of_app,
        "session": of_session,
        "moved": moved["memory_id"],
    }


def get(path: str, **params: Any) -> Read:
    async def read(api: Api, _: Json) -> str:
        return str((await api.get(path, **params)).json())

    return read


def post(path: str, **body: Any) -> Read:
    async def read(api: Api, _: Json) -> str:
        return str((await api.post(path, **body)).json())

    return read


def of_memory(path: str, name: str) -> Read:
    async def read(api: Api, known: Json) -> str:
        return str((await api.get(path, memory_id=known[name])).json())

    return read


def exported(kind: str) -> Read:
    async def read(api: Api, _: Json) -> str:
        whole = await api.export(kind)
        if kind != "bundle":
            return whole.decode()
        with zipfile.ZipFile(io.BytesIO(whole)) as archive:
            return "".join(archive.read(name).decode() for name in archive.namelist())

    return read


async def card(api: Api, _: Json) -> str:
    params = {"persona_id": "p1", "format": "json", "memories": "true"}
    found = await api.http.get("/persona/export_card", params=params, headers=api.all_headers)
    return found.text


def mcp(method: str, **params: Any) -> Read:
    async def read(api: Api, _: Json) -> str:
        message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        headers = {"Accept": "application/json, text/event-stream", **api.all_headers}
        answer = await api.http.post("/mcp", json=message, headers=headers)
        assert answer.status_code == 200, answer.text
        return str(answer.json())

    return read


def mem0(method: str, path: str, **more: Any) -> Read:
    async def read(api: Api, known: Json) -> str:
        owner = Owner("default", "userA", "p1")
        own = {name: memory_ids.encode_id(owner, number) for name, number in known.items()}
        return (await Mem0.of(api, api.key).send(method, path.format(**own), **more)).text

    return read


ASKED: Json = {"query": "茶叶是什么？"}
READS: dict[str, Read] = {
    "recall": post("/memory/recall", **ASKED),
    "recall in the session": post("/memory/recall", session_id="s1", **ASKED),
    "recall of that day": post("/memory/recall", query="今天说了什么茶叶？"),
    "recall without a question": post("/memory/recall", query=""),
    "messages": get("/messages/recent"),
    "messages of the session": get("/messages/recent", session_id="s1"),
    "list": get("/memory/list", status="all"),
    "list of sessions": get("/memory/list", scope="session"),
    "get": of_memory("/memory/get", "app"),
    "get of a session": of_memory("/memory/get", "session"),
    "history": of_memory("/memory/history", "app"),
    "slots": post("/persona/slots/get"),
    "upcoming": get("/events/upcoming", days=3660),
    "jsonl": exported("jsonl"),
    "markdown": exported("markdown"),
    "bundle": exported("bundle"),
    "card": card,
    "audit": get("/audit"),
    "mcp recall": mcp("tools/call", name="recall", arguments={"persona_id": "p1", **ASKED}),
    "mcp list": mcp("tools/call", name="list", arguments={"persona_id": "p1", "status": "all"}),
    "mcp upcoming": mcp(
        "tools/call", name="upcoming_events", arguments={"persona_id": "p1", "days": 3660}
    ),
    "mem0 list": mem0("POST", "/v3/memories/", json={"filters": {"app_id": APP}}),
    "mem0 search": mem0("POST", "/search", json={"filters": {"app_id": APP}, **ASKED}),
    "mem0 get": mem0("GET", "/memories/{app}"),
    "mem0 history": mem0("GET", "/memories/{app}/history"),
    "mem0 entities": mem0("GET", "/entities"),
}


@pytest.mark.parametrize("engine", ["hybrid", "keyword"])
async def test_a_key_of_an_app_reads_nothing_of_another(start_hub: StartHub, engine: str) -> None:
    api = await start_hub(recall=engine, worker="off")
    known = await filled(api)
    other, own = await bound_to(api, MINE), await bound_to(api, APP)

    leaks = {name for name, read in READS.items() if APP in await read(other, known)}
    missing = {name for name, read in READS.items() if APP not in await read(own, known)}

    assert leaks == set()
    # What its own key does not see either would prove nothing.
    assert missing == set()


async def test_the_proxy_tells_a_key_nothing_of_another_app(
    start_hub: StartHub, upstream: FakeUpstream
) -> None:
    api = await start_hub(proxy_upstream_url=upstream.url, **PATIENT)
    await filled(api)
    other, own = await bound_to(api, MINE), await bound_to(api, APP)

    for key in (other.key, own.key):
        client = Client(api, str(key)).with_(session_id="s1")
        await client.chat(user("茶叶是什么？"))

    seen = [APP in one.body.decode() for one in upstream.asked]
    assert seen == [False, True]


async def test_jobs_are_listed_to_the_app_of_their_session(start_hub: StartHub) -> None:
    api = await start_hub(worker="off")
    await api.say("你好", source_app=APP, session_id="s1")
    await api.did("/sessions/end", session_id="s1")
    other, own = await bound_to(api, MINE), await bound_to(api, APP)

    assert (await other.saw("/jobs", persona_id=None))["items"] == []
    assert len((await own.saw("/jobs", persona_id=None))["items"]) == 1


async def test_a_session_of_another_app_is_not_shown_when_one_of_its_name_is_set(api: Api) -> None:
    await api.say("你好", source_app=APP, session_id="s1")
    other = await bound_to(api, MINE)

    updated = await other.did("/sessions/update", session_id="s1", realm="story")

    assert updated["session"]["source_app"] == MINE


async def test_files_with_everything_are_listed_to_unbound_keys_only(api: Api) -> None:
    await api.did("/export/file")
    other = await bound_to(api, MINE)

    assert len((await api.saw("/export/files", persona_id=None))["items"]) == 1
    assert (await other.saw("/export/files", persona_id=None))["items"] == []


async def test_a_conflict_does_not_tell_what_another_app_holds(api: Api) -> None:
    await filled(api)
    other = await bound_to(api, MINE)
    waiting = await other.remember("dev", "identity", "mine")

    answer = await other.post("/memory/confirm", memory_id=waiting)

    refused(answer, 409, "conflict")
    assert APP not in answer.text


async def test_forgetting_a_key_leaves_what_another_app_holds_under_it(api: Api) -> None:
    known = await filled(api)
    other = await bound_to(api, MINE)

    shown = await other.did("/memory/forget", query="茶叶", dry_run=True)
    done = await other.did("/memory/forget", type="fact", key="app")

    assert shown["memory_ids"] == [known["moved"]]
    assert done["deleted"] == 0
    assert await api.status_of(known["app"]) == "active"


async def test_a_key_of_an_app_still_reads_what_all_apps_share(api: Api) -> None:
    await api.remember("茶叶在柜子里", source_app=APP)
    other = await bound_to(api, MINE)

    assert await other.recalled("茶叶") == ["茶叶在柜子里"]
    assert await other.listed() == ["茶叶在柜子里"]


async def test_what_is_said_in_an_app_is_quoted_to_its_key(api: Api) -> None:
    await api.say("茶叶在柜子里", source_app=MINE)
    own = await bound_to(api, MINE)

    found = await own.recall("茶叶")

    assert [row["content"] for row in found["CHAT_SNIPPETS"]] == ["茶叶在柜子里"]
    assert "柜子" in found["turn_block"]["text"]


async def test_a_version_that_belonged_to_another_app_is_not_in_the_history(api: Api) -> None:
    known = await filled(api)
    other, own = await bound_to(api, MINE), await bound_to(api, THIRD)
    read = of_memory("/memory/history", "moved")

    assert "茶叶" in await read(other, known)
    assert APP not in await read(other, known)
    assert APP in await read(own, known)


async def test_a_key_of_an_app_cannot_replace_what_another_holds(api: Api) -> None:
    known = await filled(api)
    other = await bound_to(api, MINE)
    new: Json = {"type": "fact", "key": "k2", "content": "x"}

    answer = await other.post("/memory/write", supersedes_id=known["app"], **new)

    refused(answer, 404, "not_found")
    assert await api.status_of(known["app"]) == "active"


async def test_the_idempotency_key_of_another_app_tells_nothing(api: Api) -> None:
    row: Json = {"scope": "app", "idempotency_key": "once"}
    first = await api.remember("theirs", source_app=APP, **row)
    other = await bound_to(api, MINE)

    answer = await other.post("/memory/write", type="fact", key="k", content="mine", **row)

    assert answer.status_code in (200, 409)
    assert answer.json().get("data", {}).get("memory_id") != first
