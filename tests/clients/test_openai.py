"""OpenAI's own Python package against the hub: only its base address is changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from fake_upstream import FakeUpstream, Says, event, fake_upstream
from harness import Server, data_of

openai = pytest.importorskip("openai", reason="installed by `make test-clients`")

pytestmark = pytest.mark.external

HI: list[Any] = [{"role": "user", "content": "你好，叫我小林"}]


@pytest.fixture(scope="module")
def shared() -> Iterator[FakeUpstream]:
    with fake_upstream() as opened:
        yield opened


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, shared: FakeUpstream) -> Iterator[Server]:
    settings = {"proxy_upstream_url": shared.url, "proxy_upstream_key": "upstream-key"}
    started = Server(tmp_path_factory.mktemp("server"), settings).start()
    yield started
    started.close()


@pytest.fixture
def upstream(shared: FakeUpstream) -> FakeUpstream:
    shared.says("好的。")
    shared.asked.clear()
    shared.left.clear()
    return shared


@pytest.fixture
def persona() -> str:
    """A persona for each test, so that they can share one hub."""
    return f"p-{uuid4().hex[:8]}"


@pytest.fixture
def client(server: Server, persona: str) -> Iterator[openai.OpenAI]:
    headers = {"X-Persona-Id": persona, "X-Session-Id": persona}
    with openai.OpenAI(
        base_url=f"{server.url}/v1", api_key="devkey", default_headers=headers, max_retries=0
    ) as opened:
        yield opened


def kept(server: Server, persona: str) -> list[str]:
    """Return what the hub has kept, once it has kept both sides."""
    with httpx.Client(base_url=server.url, headers={"X-API-Key": "devkey"}, timeout=20) as http:
        until = time.monotonic() + 20
        while True:
            found = data_of(http.get("/messages/recent", params={"persona_id": persona}))
            if len(found["messages"]) > 1 or time.monotonic() > until:
                return [row["content"] for row in reversed(found["messages"])]


def test_a_chat(
    client: openai.OpenAI, server: Server, upstream: FakeUpstream, persona: str
) -> None:
    reply = client.chat.completions.create(model="m1", messages=HI, temperature=0.5)

    assert reply.choices[0].message.content == "好的。"
    assert upstream.last.headers["authorization"] == "Bearer upstream-key"
    assert upstream.last.json == {"messages": HI, "model": "m1", "temperature": 0.5}
    assert kept(server, persona) == ["你好，叫我小林", "好的。"]


def test_a_stream(
    client: openai.OpenAI, server: Server, upstream: FakeUpstream, persona: str
) -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    last = event("", usage=usage)
    upstream.says(Says(chunks=[b": ping\n\n", event("小"), event("林"), last, b"data: [DONE]\n\n"]))

    chunks = list(client.chat.completions.create(model="m1", messages=HI, stream=True))

    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "小林"
    assert chunks[-1].usage is not None
    assert kept(server, persona) == ["你好，叫我小林", "小林"]


async def test_the_async_client(server: Server, upstream: FakeUpstream) -> None:
    async_client = openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="devkey", max_retries=0)
    upstream.says("一", "二三")
    who: Any = {"metadata": {"persona_id": "小雨", "session_id": "s7"}}

    whole = await async_client.chat.completions.create(model="m1", messages=HI, **who)
    stream = await async_client.chat.completions.create(model="小雨@m1", messages=HI, stream=True)
    pieces = [chunk.choices[0].delta.content or "" async for chunk in stream]
    await async_client.close()

    assert whole.choices[0].message.content == "一"
    assert "".join(pieces) == "二三"
    assert upstream.last.json["model"] == "m1"
    assert "metadata" not in upstream.asked[0].json
    assert (await asyncio.to_thread(kept, server, "小雨"))[0] == "你好，叫我小林"


TOOL: Any = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}},
}
CALLS = (
    b'{"id":"c1","object":"chat.completion","created":1,"model":"m1","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function",'
    b'"function":{"name":"weather","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}'
)


def test_tools(client: openai.OpenAI, server: Server, upstream: FakeUpstream, persona: str) -> None:
    upstream.says(Says(body=CALLS), "晴天")
    talk: list[Any] = [{"role": "user", "content": "天气怎么样？"}]

    first = client.chat.completions.create(model="m1", messages=talk, tools=[TOOL])
    said = first.choices[0].message
    answer = {"role": "tool", "tool_call_id": "t1", "content": "sunny"}
    talk += [said.model_dump(exclude_none=True), answer]
    second = client.chat.completions.create(model="m1", messages=talk, tools=[TOOL])

    assert said.tool_calls is not None
    assert second.choices[0].message.content == "晴天"
    assert upstream.asked[0].json["tools"] == [TOOL]
    assert upstream.last.messages[-1] == answer
    assert kept(server, persona) == ["天气怎么样？", "晴天"]


def test_memory_comes_into_the_next_chat(
    client: openai.OpenAI, server: Server, upstream: FakeUpstream, persona: str
) -> None:
    client.chat.completions.create(model="m1", messages=HI)
    kept(server, persona)
    with httpx.Client(base_url=server.url, headers={"X-API-Key": "devkey"}, timeout=30) as http:
        data_of(http.post("/jobs/run", json={"persona_id": persona, "wait": True}))

    answer = client.chat.completions.with_raw_response.create(
        model="m1", messages=[{"role": "user", "content": "怎么称呼我？"}]
    )

    assert "小林" in upstream.last.messages[0]["content"]
    assert int(answer.headers["X-Memory-Tokens"]) > 0


def test_models(
    client: openai.OpenAI, server: Server, upstream: FakeUpstream, persona: str
) -> None:
    client.chat.completions.create(model="m1", messages=HI)
    kept(server, persona)

    names = [model.id for model in client.models.list()]

    assert names[:2] == ["m1", "m2"]
    assert {f"{persona}@m1", f"{persona}@m2"} <= set(names)


ERRORS = [
    (400, openai.BadRequestError),
    (401, openai.AuthenticationError),
    (429, openai.RateLimitError),
    (500, openai.InternalServerError),
]


@pytest.mark.parametrize(("status", "kind"), ERRORS)
def test_errors_of_the_upstream(
    client: openai.OpenAI, upstream: FakeUpstream, status: int, kind: type[openai.APIStatusError]
) -> None:
    body = b'{"error":{"message":"too much","type":"odd","code":"c7","param":null}}'
    upstream.says(Says(status=status, body=body))

    with pytest.raises(kind, match="too much") as raised:
        client.chat.completions.create(model="m1", messages=HI, stream=True)

    assert raised.value.code == "c7"


def test_errors_of_the_hub(server: Server) -> None:
    with (
        openai.OpenAI(base_url=f"{server.url}/v1", api_key="wrong", max_retries=0) as stranger,
        pytest.raises(openai.AuthenticationError, match="not valid"),
    ):
        stranger.chat.completions.create(model="m1", messages=HI)
    with (
        openai.OpenAI(base_url=f"{server.url}/v1", api_key="appkey", max_retries=0) as app,
        pytest.raises(openai.BadRequestError, match="X-User-Id"),
    ):
        app.chat.completions.create(model="m1", messages=HI)


def test_a_stream_that_breaks_off(client: openai.OpenAI, upstream: FakeUpstream) -> None:
    upstream.says(Says(chunks=[event("从前"), event("有")], dies=True))
    stream = client.chat.completions.create(model="m1", messages=HI, stream=True)
    seen: list[str] = []

    def read() -> None:
        seen.extend(chunk.choices[0].delta.content or "" for chunk in stream)

    with pytest.raises((openai.APIError, httpx.RemoteProtocolError)):
        read()

    assert seen[:1] == ["从前"]


def test_a_client_that_stops_reading_stops_the_upstream(
    client: openai.OpenAI, upstream: FakeUpstream
) -> None:
    upstream.says(Says(chunks=[event("从前"), event("有")], hangs=True))
    stream = client.chat.completions.create(model="m1", messages=HI, stream=True)

    next(iter(stream))
    stream.close()

    assert upstream.left.wait(20)


def test_the_upstream_behind_an_app_key(server: Server, upstream: FakeUpstream) -> None:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="appkey", max_retries=0) as app:
        app.chat.completions.create(model="m1", messages=HI, user="小明")

    assert upstream.last.json["user"] == "小明"
