"""The MCP door with the official client, over HTTP and over a pipe, in both of its eras."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from harness import Server, environment
from page_parts import Pages

pytestmark = pytest.mark.external

# Clients of today ask `server/discover`; those of yesterday shake hands with `initialize`.
ERAS = ("auto", "legacy")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One hub for all tests here; each has a user of its own."""
    started = Server(tmp_path_factory.mktemp("mcp")).start()
    httpx.get(f"{started.url}/health", timeout=30)
    yield started
    started.close()


@asynccontextmanager
async def over_http(
    server: Server, user: str, key: str = "appkey", mode: str = "auto"
) -> AsyncGenerator[Client]:
    sent = {"Authorization": f"Bearer {key}", "X-User-Id": user}
    async with httpx2.AsyncClient(headers=sent, timeout=30) as http:
        transport = streamable_http_client(f"{server.url}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


@asynccontextmanager
async def over_pipe(
    folder: Path, *arguments: str, mode: str = "auto", **settings: str
) -> AsyncGenerator[Client]:
    inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "plastic_memories.cli", "mcp", *arguments],
        env={**inherited, **environment(folder, **settings)},
    )
    async with Client(command, mode=mode) as client:
        yield client


def text_of(result: CallToolResult) -> str:
    [part] = result.content
    assert isinstance(part, TextContent)
    return part.text


async def called(client: Client, name: str, **arguments: object) -> CallToolResult:
    result = await client.call_tool(name, arguments)
    assert isinstance(result, CallToolResult)
    assert not result.is_error, text_of(result)
    return result


async def remember_recall_and_forget(client: Client, text: str, question: str) -> None:
    kept = await called(client, "remember", text=text)
    found = await called(client, "recall", query=question)
    [memory_id] = [row["id"] for row in kept.structured_content["memories"]]
    assert text in text_of(found)
    assert memory_id in [row["id"] for row in found.structured_content["memories"]]

    gone = await called(client, "forget", memory_ids=[memory_id])
    left = await called(client, "recall", query=question)
    assert gone.structured_content["erased"]
    assert text not in text_of(left)


@pytest.mark.parametrize("mode", ERAS)
async def test_remember_recall_and_forget_over_http(server: Server, mode: str) -> None:
    async with over_http(server, "cellist", mode=mode) as client:
        await remember_recall_and_forget(client, "我养了一只叫年糕的猫", "我的宠物叫什么？")
        await remember_recall_and_forget(
            client, "I play the cello in a quartet", "who plays the cello?"
        )


@pytest.mark.parametrize("mode", ERAS)
async def test_remember_recall_and_forget_over_a_pipe_to_a_running_hub(
    server: Server, mode: str
) -> None:
    arguments = ("--url", server.url, "--key", "appkey", "--user", "小林", "--persona", "小满")

    async with over_pipe(server.folder, *arguments, mode=mode) as client:
        await remember_recall_and_forget(client, "我的 deadline 是 2027-03-01", "deadline 是哪天？")


async def test_a_pipe_opens_the_database_itself_when_no_hub_runs(
    tmp_path: Path, unused_tcp_port: int
) -> None:
    own = {"port": str(unused_tcp_port)}

    async with over_pipe(tmp_path, "--user", "userA", **own) as client:
        await called(client, "remember", text="叫我小林")
    async with over_pipe(tmp_path, "--user", "userA", **own) as client:
        found = await called(client, "recall", query="怎么称呼我")

    assert "叫我小林" in text_of(found)


async def test_a_client_sees_tools_with_schemas_resources_and_prompts(server: Server) -> None:
    async with over_http(server, "reader") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        shelves = [str(one.uri) for one in (await client.list_resources()).resources]
        prompts = [one.name for one in (await client.list_prompts()).prompts]

    reading = {name for name, tool in tools.items() if tool.annotations.read_only_hint}
    assert set(tools) - reading == {
        "remember", "confirm", "forget", "goal_create", "goal_update",
    }  # fmt: skip
    assert reading == {"recall", "list", "profile", "read_page", "goals", "upcoming_events"}
    assert tools["forget"].annotations.destructive_hint
    assert tools["remember"].input_schema["required"] == ["text"]
    assert "memory://core" in shelves
    assert prompts == ["about_me", "talk_as_persona"]


async def test_core_memory_is_a_resource_and_prompts_carry_what_is_known(server: Server) -> None:
    async with over_http(server, "eater") as client:
        await called(client, "remember", text="我对海鲜过敏")
        core = await client.read_resource("memory://core")
        chinese = await client.get_prompt("about_me", {"language": "zh"})
        english = await client.get_prompt("talk_as_persona", {"language": "en"})

    assert "我对海鲜过敏" in core.contents[0].text
    assert "你知道我些什么" in chinese.messages[0].content.text
    assert "海鲜" in chinese.messages[0].content.text
    assert "Talk to me as the persona" in english.messages[0].content.text
    assert "海鲜" in english.messages[0].content.text


async def test_a_page_of_the_user_is_a_resource(server: Server) -> None:
    pages = Pages(server.folder, "writer")
    pages.write("# 旅行计划\n三月去大理\n", "extended/旅行 plan.md")

    async with over_http(server, "writer") as client:
        shelves = (await client.list_resources()).resources
        [uri] = [str(one.uri) for one in shelves if one.title == "旅行计划"]
        page = await client.read_resource(uri)
        templates = (await client.list_resource_templates()).resource_templates

    assert "三月去大理" in page.contents[0].text
    assert "memory://extended/{page}" in [one.uri_template for one in templates]


@pytest.mark.parametrize("mode", ERAS)
async def test_a_wrong_key_is_refused_with_its_reason(server: Server, mode: str) -> None:
    with pytest.raises((MCPError, ExceptionGroup)) as refused:
        async with over_http(server, "nobody", key="wrong", mode=mode) as client:
            await client.list_tools()

    assert "key" in repr(refused.value)


async def test_another_user_sees_nothing(server: Server) -> None:
    async with over_http(server, "alice") as alice:
        kept = await called(alice, "remember", text="我住在成都")
    [memory_id] = [row["id"] for row in kept.structured_content["memories"]]

    async with over_http(server, "bob") as bob:
        recalled = await called(bob, "recall", query="我住在哪里")
        listed = await called(bob, "list", status="all")
        refused = await bob.call_tool("forget", {"memory_ids": [memory_id]})

    assert "成都" not in text_of(recalled)
    assert listed.structured_content["memories"] == []
    assert refused.is_error or not refused.structured_content["erased"]
    async with over_http(server, "alice") as alice:
        assert "成都" in text_of(await called(alice, "recall", query="我住在哪里"))
