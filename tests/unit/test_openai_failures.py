"""The proxy over real connections: an upstream that hangs, dies or drips, a client that leaves."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from fake_upstream import FakeUpstream, Says, event
from harness import Api, environment
from plastic_memories import wiring
from plastic_memories.errors import Unavailable
from plastic_memories.hub.hub import Hub
from plastic_memories.model.key import KeyLimits
from plastic_memories.settings import load_settings
from proxy_parts import CHAT, Client, user

Serve = Callable[..., Awaitable[Client]]
HEADERS = {"Authorization": "Bearer devkey", "X-Persona-Id": "p1", "X-Session-Id": "s1"}


@asynccontextmanager
async def served(folder: Path, **settings: str) -> AsyncGenerator[Client]:
    """Serve a hub over a real port, in this process."""
    app = wiring.build_app(load_settings(environment(folder, worker="off", **settings)))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with httpx.AsyncClient(base_url=url, timeout=30) as http:
            await http.get("/health")
            yield Client(Api(http, app.state.hub)).with_(session_id="s1")
        server.should_exit = True
        await serving


@pytest.fixture
async def serve(tmp_path: Path, upstream: FakeUpstream) -> AsyncGenerator[Serve]:
    async with AsyncExitStack() as stack:

        async def start(**settings: str) -> Client:
            given = {"proxy_upstream_url": upstream.url, **settings}
            return await stack.enter_async_context(served(tmp_path, **given))

        yield start


def hub_of(client: Client) -> Hub:
    assert client.api.hub is not None
    return client.api.hub


def streaming(client: Client, text: str = "你好") -> Any:
    body = {"model": "m1", "messages": [user(text)], "stream": True}
    return client.api.http.stream("POST", CHAT, json=body, headers=HEADERS)


async def left(upstream: FakeUpstream) -> bool:
    return await asyncio.to_thread(upstream.left.wait, 20)


async def test_a_chunk_reaches_the_client_before_the_next_is_made(
    serve: Serve, upstream: FakeUpstream
) -> None:
    client = await serve()
    seen = threading.Event()
    upstream.says(Says(chunks=[event("你"), event("好"), b"data: [DONE]\n\n"], waits_for=seen))

    async with streaming(client) as answer:
        chunks = answer.aiter_raw()
        first = await anext(chunks)
        # Had the proxy waited for the end of the answer, nobody would ever come here.
        seen.set()
        rest = b"".join([chunk async for chunk in chunks])

    assert first.startswith(event("你"))
    assert rest.endswith(b"data: [DONE]\n\n")


async def test_a_client_that_leaves_ends_the_upstreams_stream(
    serve: Serve, upstream: FakeUpstream
) -> None:
    client = await serve()
    upstream.says(Says(chunks=[event("从前"), event("有座山")], hangs=True))

    async with streaming(client) as answer:
        chunks = answer.aiter_raw()
        seen = await anext(chunks)
        while "有座山".encode() not in seen:
            seen += await anext(chunks)

    assert await left(upstream)
    await stored(client)
    assert await client.kept() == [("user", "你好"), ("assistant", "从前有座山")]


async def read_on(client: Client) -> bytes:
    """Return what a stream brings before it breaks off; it must."""
    seen = b""
    try:
        async with streaming(client) as answer:
            async for chunk in answer.aiter_raw():
                seen += chunk
    except httpx.RemoteProtocolError:
        return seen
    raise AssertionError("It has ended in order.")


async def stored(client: Client) -> None:
    """Wait until the hub has noticed that a client has left, and has kept what it saw."""
    async with asyncio.timeout(20):
        while not await client.kept():
            await hub_of(client).proxied_conversation.wait_until_stored()


async def test_a_client_that_leaves_early_ends_the_upstreams_work(
    serve: Serve, upstream: FakeUpstream
) -> None:
    client = await serve()
    upstream.says(Says(hangs=True))
    body = {"model": "m1", "messages": [user("你好")]}
    asking = asyncio.create_task(client.api.http.post(CHAT, json=body, headers=HEADERS))
    assert await asyncio.to_thread(upstream.reached.wait, 20)

    asking.cancel()

    assert await left(upstream)
    assert await client.kept() == []


async def test_an_upstream_that_dies_in_mid_stream_breaks_off_as_it_did(
    serve: Serve, upstream: FakeUpstream
) -> None:
    client = await serve()
    upstream.says(Says(chunks=[event("从前"), event("有座山")], dies=True), "好的。")

    seen = await read_on(client)
    await stored(client)
    broken = await client.kept()
    await client.chat(user("你好"))

    assert seen == event("从前") + event("有座山")
    assert broken == [("user", "你好"), ("assistant", "从前有座山")]
    assert await client.kept() == [("user", "你好"), ("assistant", "好的。")]


async def test_an_upstream_that_dies_in_an_answer_breaks_off_as_it_did(
    serve: Serve, upstream: FakeUpstream
) -> None:
    client = await serve()
    upstream.says(Says("好", dies=True))

    with pytest.raises(httpx.RemoteProtocolError):
        await client.post({"messages": [user("你好")]})

    assert await client.kept() == []


async def test_the_time_to_connect_is_not_added_to_the_time_to_begin(
    serve: Serve, upstream: FakeUpstream
) -> None:
    client = await serve(proxy_first_byte_s="0.2", proxy_connect_s="60")
    upstream.says(Says(hangs=True))

    async with asyncio.timeout(20):
        answer = await client.post({"messages": [user("你好")]})

    assert answer.status_code == 504


async def test_an_upstream_that_never_begins_is_given_up(
    serve: Serve, upstream: FakeUpstream
) -> None:
    client = await serve(proxy_first_byte_s="0.2", proxy_connect_s="0.2")
    upstream.says(Says(hangs=True))

    answer = await client.post({"messages": [user("你好")]})

    assert answer.status_code == 504
    assert answer.json()["error"]["code"] == "upstream_timeout"
    assert await left(upstream)


async def test_an_upstream_that_goes_silent_is_given_up(
    serve: Serve, upstream: FakeUpstream
) -> None:
    client = await serve(proxy_idle_s="0.2")
    upstream.says(Says(chunks=[event("从前")], hangs=True))

    assert await read_on(client) == event("从前")
    assert await left(upstream)


async def test_an_upstream_that_is_not_there_is_said_to_be_away(serve: Serve) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    client = await serve(proxy_upstream_url=f"http://127.0.0.1:{port}/v1")

    answer = await client.post({"messages": [user("你好")]})
    models = await client.api.http.get("/v1/models", headers=HEADERS)

    assert (answer.status_code, models.status_code) == (502, 502)
    assert answer.json()["error"]["code"] == "upstream_unreachable"
    assert str(port) not in answer.text


async def test_an_upstream_that_speaks_no_http_is_said_to_be_broken(serve: Serve) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"SSH-2.0-OpenSSH_9.2\r\n")
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as strange:
        port = strange.sockets[0].getsockname()[1]
        client = await serve(proxy_upstream_url=f"http://127.0.0.1:{port}/v1")

        answer = await client.post({"messages": [user("你好")]})

    assert answer.status_code == 502
    assert answer.json()["error"]["code"] == "upstream_broken"


class Away:
    """A database that is away: it refuses at once, or never answers."""

    def __init__(self, *, hangs: bool) -> None:
        self.hung_up = asyncio.Event()
        if not hangs:
            self.hung_up.set()

    async def read(self, _work: Any) -> Any:
        await self.hung_up.wait()
        raise Unavailable("The database does not answer.")

    write = read


@contextmanager
def database_stopped(client: Client, *, hangs: bool) -> Iterator[None]:
    """Take the database away from every part of the hub."""
    metered = hub_of(client).storage.backend
    there = metered.storage  # type: ignore[attr-defined]
    away = Away(hangs=hangs)
    object.__setattr__(metered, "storage", away)
    try:
        yield
    finally:
        object.__setattr__(metered, "storage", there)
        away.hung_up.set()


async def asked(client: Client, *, stream: bool) -> httpx.Response:
    """Ask, and do not wait for anything to be kept."""
    headers = {"Authorization": f"Bearer {client.key}", **client.headers}
    body = {"model": "m1", "messages": [user("你好")], "stream": stream}
    return await client.api.http.post(CHAT, json=body, headers=headers)


def grown_older(client: Client, seconds: float) -> None:
    """Let time pass since keys were last looked up."""
    keys = hub_of(client).keys
    keys._cache = {digest: (at - seconds, key) for digest, (at, key) in keys._cache.items()}


@pytest.mark.parametrize("hangs", [False, True])
@pytest.mark.parametrize("stream", [False, True])
async def test_with_the_database_stopped_calls_still_succeed(
    serve: Serve, upstream: FakeUpstream, hangs: bool, stream: bool
) -> None:
    client = await serve(proxy_recall_ms="300")
    text, _ = await hub_of(client).keys.create("default", "userA", "k", KeyLimits())
    known = replace(client, key=text)
    await known.chat(user("早"))
    grown_older(client, 500)

    with database_stopped(client, hangs=hangs):
        answers = [await asked(one, stream=stream) for one in (client, known)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert all("好" in answer.text for answer in answers)
    assert all(answer.headers["X-Memory-Degraded"] for answer in answers)
    assert upstream.last.messages == [user("你好")]


async def test_with_the_database_stopped_a_key_not_seen_lately_is_not_trusted(
    serve: Serve, upstream: FakeUpstream
) -> None:
    client = await serve()
    text, _ = await hub_of(client).keys.create("default", "userA", "k", KeyLimits())
    known = replace(client, key=text)
    await known.chat(user("早"))
    grown_older(client, 700)

    with database_stopped(client, hangs=False):
        answer = await asked(known, stream=False)

    assert answer.status_code == 503
    assert answer.json()["error"]["type"] == "api_error"
    assert len(upstream.asked) == 1


async def test_what_was_said_while_the_database_was_away_is_kept_when_it_is_back(
    serve: Serve,
) -> None:
    client = await serve()

    with database_stopped(client, hangs=False):
        await asked(client, stream=False)
    await hub_of(client).proxied_conversation.wait_until_stored()

    assert await client.kept() == [("user", "你好"), ("assistant", "好的。")]


async def test_what_is_not_stored_yet_is_stored_before_the_hub_ends(
    tmp_path: Path, upstream: FakeUpstream
) -> None:
    async with served(tmp_path, proxy_upstream_url=upstream.url) as client:
        for n in range(20):
            await asked(client.with_(session_id=f"s{n}"), stream=False)

    async with served(tmp_path, proxy_upstream_url=upstream.url) as client:
        kept = await client.kept()

    assert len(kept) == 40


async def test_memory_that_is_late_is_left_out(serve: Serve, upstream: FakeUpstream) -> None:
    client = await serve(proxy_recall_ms="100")
    await client.api.remember("我最喜欢喝茉莉花茶")

    class Stuck:
        async def find(self, _query: Any) -> Any:
            await asyncio.Event().wait()

    hub = hub_of(client)
    object.__setattr__(hub.proxied_conversation, "recall", replace(hub.recall, engine=Stuck()))

    answer = await asked(client, stream=False)

    assert answer.status_code == 200
    assert answer.headers["X-Memory-Degraded"] in ("search", "memory")


async def test_logs_hold_no_words_and_no_keys(tmp_path: Path, upstream: FakeUpstream) -> None:
    settings = {"proxy_upstream_url": upstream.url, "proxy_upstream_key": "upstream-secret"}
    async with served(tmp_path, **settings) as client:
        await client.chat(user("独一无二的句子"))
        upstream.says(Says(status=500, body=b"upstream says odd words"))
        await client.post({"messages": [user("独一无二的句子")]})
        with database_stopped(client, hangs=False):
            await asked(client, stream=False)

    log = (tmp_path / "logs" / "plastic_memories.log").read_text()
    assert '"route":"/v1/chat/completions"' in log
    for secret in ("独一无二", "好的", "devkey", "upstream-secret", "odd words"):
        assert secret not in log
