"""The MCP door from inside: who may do what, what goes wrong, and the pipe to it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from harness import Api, Json, refused
from page_parts import Pages
from plastic_memories.cli.mcp.stdio_pipe import StdioPipe
from plastic_memories.http.doors.mcp import router
from plastic_memories.http.doors.mcp.toolbox import TOOLS
from plastic_memories.http.doors.mcp.tools import ToolOutput
from plastic_memories.model.key import KeyLimits

HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-11-25",
}


async def asked(api: Api, method: str, **params: Any) -> Json:
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    headers = {**HEADERS, **api.all_headers}
    answer = await api.http.post("/mcp", json=message, headers=headers)
    body: Json = answer.json()
    return body


async def called(api: Api, tool: str, **arguments: Any) -> Json:
    answer = await asked(api, "tools/call", name=tool, arguments=arguments)
    result: Json = answer["result"]
    return result


def text_of(result: Json) -> str:
    return str(result["content"][0]["text"])


async def narrowed(api: Api, **limits: Any) -> Api:
    """Return the same user with a key that may do less."""
    assert api.hub is not None
    await api.hub.keys.create("default", "userA", "narrow", KeyLimits(**limits), key="narrow-key")
    return api.as_("narrow-key")


async def test_what_is_said_is_found_as_a_profile_row_and_other_text_is_a_note(api: Api) -> None:
    said = await called(api, "remember", text="我对海鲜过敏")
    note = await called(api, "remember", text="The staging server is called Juniper")

    assert said["structuredContent"]["memories"][0]["key"].startswith("constraint.")
    assert note["structuredContent"]["memories"][0]["type"] == "note"


async def test_every_sentence_of_a_text_is_remembered(api: Api) -> None:
    kept = await called(api, "remember", text="我喜欢爵士乐。我妹妹小雨六月十二号结婚。")

    rows = kept["structuredContent"]["memories"]
    assert [row["content"] for row in rows] == ["我喜欢爵士乐", "我妹妹小雨六月十二号结婚。"]


async def test_a_recall_brings_constraints_whatever_is_asked(api: Api) -> None:
    await called(api, "remember", text="我对海鲜过敏")

    found = await called(api, "recall", query="晚饭推荐什么？")

    assert "海鲜" in text_of(found)
    assert "海鲜" in found["structuredContent"]["block"]


async def test_what_a_model_concluded_waits_for_the_users_yes(api: Api) -> None:
    kept = await called(
        api, "remember", text="likes jazz", type="profile", key="preference.music", inferred=True
    )
    [row] = kept["structuredContent"]["memories"]

    decided = await called(api, "confirm", memory_id=row["id"])

    assert row["status"] == "candidate"
    assert "call confirm" in text_of(kept)
    assert decided["structuredContent"]["status"] == "active"


async def test_a_conflict_says_what_to_do_next(api: Api) -> None:
    for name in ("阿零", "阿一"):
        await called(api, "remember", text=name, type="identity", key=name)
    waiting = await called(api, "list", status="candidate")
    newer, older = [row["id"] for row in waiting["structuredContent"]["memories"]]
    await called(api, "confirm", memory_id=older)

    failed = await called(api, "confirm", memory_id=newer)
    decided = await called(api, "confirm", memory_id=newer, supersedes_id=older)

    assert failed["isError"]
    assert "supersedes_id" in text_of(failed)
    assert f'"active_memory_id": {older}' in text_of(failed)
    assert decided["structuredContent"]["status"] == "active"


async def test_forgetting_by_query_only_shows_and_by_id_erases(api: Api) -> None:
    await called(api, "remember", text="我的车停在B2层")

    shown = await called(api, "forget", query="车")
    ids = shown["structuredContent"]["memory_ids"]
    gone = await called(api, "forget", memory_ids=ids)

    assert not shown["structuredContent"]["erased"]
    assert gone["structuredContent"]["memory_ids"] == ids
    assert (await called(api, "list"))["structuredContent"]["memories"] == []


async def test_what_was_marked_never_again_is_not_remembered_and_says_so(api: Api) -> None:
    kept = await called(api, "remember", text="我对芒果过敏")
    ids = [row["id"] for row in kept["structuredContent"]["memories"]]
    await called(api, "forget", memory_ids=ids, never_again=True)

    again = await called(api, "remember", text="我对芒果过敏")

    assert text_of(again) == "Not remembered: forgotten, never again"
    assert (await called(api, "list"))["structuredContent"]["memories"] == []


async def test_goals_are_made_updated_and_listed(api: Api) -> None:
    made = await called(api, "goal_create", title="学会 Rust", details="每天一章")
    await called(api, "goal_update", goal_id=made["structuredContent"]["goal_id"], status="done")

    found = await called(api, "goals", status="done")

    assert "学会 Rust" in text_of(found)


async def test_upcoming_events_are_soonest_first(timed: Api) -> None:
    for day in ("07-01", "06-20"):
        await timed.remember(
            f"生日 {day}", "event", day,
            attributes={"title": "生日", "event_type": "birthday", "date": day},
        )  # fmt: skip

    found = await called(timed.of("p1"), "upcoming_events", persona_id="p1", days=60)

    dates = [row["next_date"][5:] for row in found["structuredContent"]["events"]]
    assert dates == ["06-20", "07-01"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("remember", {"text": "secret plan"}),
        ("confirm", {"memory_id": 1}),
        ("forget", {"memory_ids": [1]}),
        ("goal_create", {"title": "t"}),
        ("goal_update", {"goal_id": 1, "status": "done"}),
    ],
)
async def test_a_key_that_only_reads_cannot_write(api: Api, tool: str, arguments: Json) -> None:
    reader = await narrowed(api, read_only=True)

    failed = await called(reader, tool, **arguments)

    assert failed["isError"]
    assert "(forbidden)" in text_of(failed)
    assert (await called(api, "list", status="all"))["structuredContent"]["memories"] == []


async def test_a_key_that_only_reads_is_shown_only_what_it_may_use(api: Api) -> None:
    reader = await narrowed(api, read_only=True)

    shown = await asked(reader, "tools/list")

    names = {tool["name"] for tool in shown["result"]["tools"]}
    assert names == {"recall", "list", "profile", "read_page", "goals", "upcoming_events"}


async def test_the_persona_comes_from_the_tool_then_the_header_then_the_key(api: Api) -> None:
    bound = await narrowed(api, persona_id="小满")
    with_header = Api(api.http, api.hub, headers={"X-Persona-Id": "p2"})

    named = await called(with_header, "profile", persona_id="p3")
    by_header = await called(with_header, "profile")
    by_key = await called(bound, "profile")
    by_nobody = await called(api, "profile")
    not_its_own = await called(bound, "profile", persona_id="p3")

    answers = (named, by_header, by_key, by_nobody)
    personas = [answer["structuredContent"]["persona_id"] for answer in answers]
    assert personas == ["p3", "p2", "小满", "default"]
    assert "(forbidden)" in text_of(not_its_own)


async def test_arguments_that_do_not_fit_are_named_and_not_repeated(api: Api) -> None:
    failed = await called(api, "forget", memory_ids=["hunter2"])

    assert failed["isError"]
    assert "memory_ids.0" in text_of(failed)
    assert "hunter2" not in text_of(failed)


async def test_a_password_is_refused_with_its_category(api: Api) -> None:
    failed = await called(api, "remember", text="记住：密码是 Tr0ub4dor&3", type="note")

    assert failed["isError"]
    assert "(judge_deny)" in text_of(failed)
    assert "Tr0ub4dor" not in text_of(failed)


async def test_pages_are_resources_and_a_tool_reads_them(api: Api, tmp_path: Path) -> None:
    pages = Pages(tmp_path)
    pages.write("# 关于我\n喜欢乌龙茶\n")
    pages.write("# 健康记录\n血压正常\n", "extended/健康.md")
    Pages(tmp_path, "userB").write("# 别人的\n秘密\n", "extended/other.md")

    shelves = (await asked(api, "resources/list"))["result"]["resources"]
    core = await asked(api, "resources/read", uri="memory://core")
    [page] = [one for one in shelves if one["uri"].startswith("memory://extended/")]
    text = await asked(api, "resources/read", uri=page["uri"])
    by_tool = await called(api, "read_page", page_id=page["uri"])
    others = await called(api, "read_page", page_id="memory://extended/other.md")

    assert "喜欢乌龙茶" in core["result"]["contents"][0]["text"]
    assert page["title"] == "健康记录"
    assert "血压正常" in text["result"]["contents"][0]["text"]
    assert "血压正常" in text_of(by_tool)
    assert "(not_found)" in text_of(others)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "no_such_tool", "arguments": {}}),
        ("resources/read", {"uri": "memory://extended/../../key"}),
        ("prompts/get", {"name": "no_such_prompt"}),
        ("prompts/get", {"name": "about_me", "arguments": {"language": "xx"}}),
    ],
)
async def test_what_does_not_exist_is_an_error_of_the_protocol(
    api: Api, method: str, params: Json
) -> None:
    answer = await asked(api, method, **params)

    assert answer["error"]["code"] == -32602


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
async def test_a_bug_is_logged_and_says_nothing_of_our_insides(
    api: Api, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    async def broken(here: object, given: object) -> ToolOutput:
        raise RuntimeError("hunter2")

    monkeypatch.setitem(TOOLS, "recall", replace(TOOLS["recall"], run=broken))
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "recall", "arguments": {}, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    named = {"MCP-Protocol-Version": version, "Mcp-Method": "tools/call", "Mcp-Name": "recall"}

    answer = await api.http.post(
        "/mcp", json=message, headers={**HEADERS, **named, **api.all_headers}
    )

    assert answer.json()["error"]["code"] == -32603
    assert "hunter2" not in answer.text


@pytest.mark.parametrize(("key", "code"), [(None, "unauthorized"), ("appkey", "bad_request")])
async def test_a_caller_without_key_or_user_is_told_so_in_the_protocols_shape(
    api: Api, key: str | None, code: str
) -> None:
    answer = await asked(api.as_(key), "tools/list")

    assert answer["jsonrpc"] == "2.0"
    assert answer["error"]["data"]["code"] == code
    assert "X-" in answer["error"]["message"]


async def test_only_post_is_spoken_here(api: Api) -> None:
    answer = await api.get("/mcp")

    refused(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"] == "POST"


async def test_a_foreign_page_cannot_speak_to_the_door(api: Api) -> None:
    headers = {**HEADERS, **api.all_headers, "Origin": "https://evil.example"}

    answer = await api.http.post("/mcp", json={}, headers=headers)

    assert answer.status_code == 403


async def test_without_the_package_the_door_says_what_to_install(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(router, "_PACKAGE", "no_such_package")

    answer = await api.post("/mcp")

    refused(answer, 404, "not_found")
    assert "pip install '.[mcp]'" in answer.json()["error"]["message"]


def test_a_hub_starts_without_the_package() -> None:
    code = "import sys, plastic_memories.api; sys.exit('mcp' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=30).returncode == 0


async def piped(hub: httpx.AsyncClient, *lines: str) -> list[Json]:
    """Send lines through a pipe, and return what comes out of it."""
    answers: list[bytes] = []

    async def typed() -> AsyncIterator[bytes]:
        for line in lines:
            yield line.encode()

    await StdioPipe(hub, answers.append).run(typed())
    return [json.loads(line) for line in answers]


async def test_a_pipe_answers_each_request_by_its_id_and_a_note_not_at_all(api: Api) -> None:
    api.http.headers.update(api.all_headers)

    answers = await piped(
        api.http,
        '{"jsonrpc":"2.0","id":"a","method":"ping"}',
        "",
        '{"jsonrpc":"2.0","method":"notifications/initialized"}',
        "this is no message",
        '{"jsonrpc":"2.0","id":5,"method":"no/such/method"}',
    )

    by_id = {answer["id"]: answer for answer in answers}
    assert by_id["a"]["result"] == {}
    assert by_id[None]["error"]["code"] == -32700
    assert by_id[5]["error"]["code"] == -32601
    assert len(answers) == 3


async def test_a_pipe_says_so_when_the_hub_is_gone_or_is_none() -> None:
    async def gone(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    async def other(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, text="<html>hello</html>")

    for answer_of, words in ((gone, "does not answer"), (other, "not a hub")):
        transport = httpx.MockTransport(answer_of)
        async with httpx.AsyncClient(transport=transport, base_url="http://hub") as http:
            [answer] = await piped(http, '{"jsonrpc":"2.0","id":1,"method":"ping"}')
        assert words in answer["error"]["message"]


async def test_a_request_that_is_cancelled_is_given_up_and_the_next_is_answered() -> None:
    begun, given_up = asyncio.Event(), asyncio.Event()

    async def slow(request: httpx.Request) -> httpx.Response:
        if json.loads(request.content)["id"] == 1:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                given_up.set()
        return httpx.Response(200, json={"jsonrpc": "2.0", "id": 2, "result": {}})

    async def typed() -> AsyncIterator[bytes]:
        yield b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
        await begun.wait()
        yield b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'
        yield b'{"jsonrpc":"2.0","id":2,"method":"ping"}'

    answers: list[bytes] = []
    async with httpx.AsyncClient(transport=httpx.MockTransport(slow), base_url="http://hub") as hub:
        await StdioPipe(hub, answers.append).run(typed())

    assert given_up.is_set()
    assert [json.loads(line)["id"] for line in answers] == [2]
