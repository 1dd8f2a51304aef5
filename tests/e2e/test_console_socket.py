"""The console's socket: its own page with its cookie, and nobody else's page."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from harness import Api, Server, StartServer

# Ten times what it takes, against hanging.
_LONG_S = 10


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return start_server()


async def cookie_of(server: Server, key: str) -> str:
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        answer = await client.post(
            "/console/session", json={"api_key": key}, headers={"X-Console": "1"}
        )
    [(name, value)] = answer.cookies.items()
    return f"{name}={value}"


def page_socket(server: Server, cookie: str, origin: str | None, query: str = "") -> connect:
    url = server.url.replace("http", "ws") + "/ws/events" + query
    headers = {"Cookie": cookie} | ({"Origin": origin} if origin else {})
    return connect(url, additional_headers=headers, proxy=None)


async def test_the_page_of_the_hub_hears_events_with_its_cookie(server: Server) -> None:
    cookie = await cookie_of(server, "devkey")
    async with page_socket(server, cookie, server.url) as socket:
        await socket.ping()

        async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
            await Api(client).remember("喜欢乌龙茶")
        heard = json.loads(await asyncio.wait_for(socket.recv(), _LONG_S))

    assert heard["event"] == "memory.write"


async def test_a_page_with_an_app_key_names_its_person_in_the_address(server: Server) -> None:
    cookie = await cookie_of(server, "appkey")
    async with page_socket(server, cookie, server.url, "?user_id=userA") as socket:
        await socket.ping()

        async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
            await Api(client).as_("devkey2").remember("乙的事")
            await Api(client).remember("甲的事")
        heard = json.loads(await asyncio.wait_for(socket.recv(), _LONG_S))

    assert heard["event"] == "memory.write"
    assert heard["data"]["memory_id"] == 2


@pytest.mark.parametrize("origin", [None, "http://127.0.0.1:3000", "http://evil.example"])
async def test_no_other_page_hears_anything(server: Server, origin: str | None) -> None:
    cookie = await cookie_of(server, "devkey")

    async def listen() -> None:
        async with page_socket(server, cookie, origin) as socket:
            await socket.send('{"type": "auth"}')
            await asyncio.wait_for(socket.recv(), _LONG_S)

    with pytest.raises((ConnectionClosed, InvalidStatus)):
        await listen()


async def test_the_socket_closes_when_its_session_ends(server: Server) -> None:
    cookie = await cookie_of(server, "devkey")
    async with page_socket(server, cookie, server.url) as socket:
        await socket.ping()

        async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
            headers = {"Cookie": cookie, "X-Console": "1"}
            await client.post("/console/session/end", json={}, headers=headers)
        await asyncio.wait_for(socket.wait_closed(), _LONG_S)

    assert socket.close_code == 4401
