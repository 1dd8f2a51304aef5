"""Many streams through the proxy at once, with a real server process."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from fake_upstream import FakeUpstream, Says, event
from harness import Api, StartServer, data_of
from proxy_parts import CHAT, user

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

STREAMS = 200
REPLY = "从前有座山，山里有座庙。Once upon a time."


async def stream(http: httpx.AsyncClient, number: int) -> tuple[int, bytes]:
    body = {"model": "m1", "messages": [user(f"第 {number} 个问题，茶？")], "stream": True}
    headers = {
        "Authorization": "Bearer appkey",
        "X-User-Id": f"u{number % 20}",
        "X-Session-Id": f"s{number}",
    }
    async with http.stream("POST", CHAT, json=body, headers=headers) as answer:
        return answer.status_code, await answer.aread()


async def test_two_hundred_streams_at_once(
    start_server: StartServer, upstream: FakeUpstream
) -> None:
    server = start_server(proxy_upstream_url=upstream.url)
    chunks = [event(REPLY[at : at + 4]) for at in range(0, len(REPLY), 4)]
    upstream.says(Says(chunks=chunks))
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=server.url, timeout=60, limits=limits) as http:
        await Api(http, key="appkey", user="u0").remember("我最喜欢喝茉莉花茶")

        answers = await asyncio.gather(*(stream(http, number) for number in range(STREAMS)))

        assert {status for status, _ in answers} == {200}
        assert {body for _, body in answers} == {b"".join(chunks)}
        assert len(upstream.asked) == STREAMS

    assert server.stop()
    server.start()
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as http:
        found = await Api(http, key="appkey", user="u7", persona="default").saw(
            "/messages/recent", limit=200
        )
        assert data_of(await http.get("/health"))["status"] == "ok"
    replies = [row["content"] for row in found["messages"] if row["role"] == "assistant"]
    assert replies == [REPLY] * (STREAMS // 20)
