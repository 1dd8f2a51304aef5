"""Connections of the server: there are only so many, and a request head may not take for ever."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn

from harness import environment
from plastic_memories.cli.operations.serve import server_config
from plastic_memories.settings import load_settings

# Ten times what it takes, against hanging.
_LONG_S = 10
_REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
_SLOW_S = 1.0


async def _app(scope, receive, send) -> None:  # type: ignore[no-untyped-def]
    if scope["type"] == "lifespan":
        while True:
            kind = (await receive())["type"]
            await send({"type": f"{kind}.complete"})
            if kind == "lifespan.shutdown":
                return
    if scope["path"] == "/slow":
        await asyncio.sleep(_SLOW_S)
    headers = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok"})


@asynccontextmanager
async def serving(folder: Path, **more: str) -> AsyncGenerator[int]:
    """Run a server with the configuration of `plastic-memories serve`; yield its port."""
    settings = load_settings(environment(folder, **more))
    server = uvicorn.Server(server_config(_app, settings))
    listener = socket.create_server(("127.0.0.1", 0))
    task = asyncio.create_task(server._serve([listener]))
    async with asyncio.timeout(_LONG_S):
        while not server.started:  # noqa: ASYNC110 - the library has no event for it
            await asyncio.sleep(0.01)
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await task


async def read_end(reader: asyncio.StreamReader) -> bytes:
    """Return what comes until the server closes the connection."""
    try:
        return await asyncio.wait_for(reader.read(), _LONG_S)
    except ConnectionResetError:
        return b""


@pytest.mark.parametrize("head", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\nX-A: "])
async def test_a_request_head_that_never_ends_is_given_up(tmp_path: Path, head: bytes) -> None:
    async with serving(tmp_path, head_timeout_s="0.2") as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head)

        assert await read_end(reader) == b""

        writer.close()


async def test_the_second_head_of_a_connection_is_given_up_too(tmp_path: Path) -> None:
    async with serving(tmp_path, head_timeout_s="0.2") as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(_REQUEST)
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")

        writer.write(b"GET / HT")

        assert await read_end(reader) == b""
        writer.close()


async def test_an_answer_may_take_longer_than_a_head(tmp_path: Path) -> None:
    async with serving(tmp_path, head_timeout_s="0.2") as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(_REQUEST.replace(b"/ ", b"/slow ", 1))

        answer = await asyncio.wait_for(reader.readuntil(b"ok"), _LONG_S)

        assert answer.startswith(b"HTTP/1.1 200")
        writer.close()


async def test_there_are_only_so_many_connections(tmp_path: Path) -> None:
    async with serving(tmp_path, max_connections="3", head_timeout_s="60") as port:
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        await asyncio.sleep(0.1)

        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert (await read_end(reader)).startswith(b"HTTP/1.1 503")
        writer.close()

        held[0][1].close()
        await asyncio.sleep(0.1)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(_REQUEST)
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        for _, one in (*held[1:], (reader, writer)):
            one.close()
