"""A real server process on a real port: start, keys, events, two processes on one database."""

from __future__ import annotations

import asyncio
import json
import socket
import stat
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from harness import Api, Server, StartServer, StillClock, data_of, environment
from plastic_memories.errors import InvalidSetting
from plastic_memories.hub.api_keys import ApiKeys
from plastic_memories.model.key import KeyLimits
from plastic_memories.settings import load_settings
from plastic_memories.wiring import build_app, open_storage


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return start_server()


@pytest.fixture
async def api(server: Server) -> AsyncGenerator[Api]:
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        yield Api(client)


def events(server: Server, key: str | None = "devkey", query: str = "", **headers: str) -> connect:
    sent = {**headers, **({"X-API-Key": key} if key else {})}
    url = server.url.replace("http", "ws") + "/ws/events" + query
    return connect(url, additional_headers=sent, proxy=None)


async def next_event(socket: ClientConnection) -> dict[str, Any]:
    """Return the next frame that tells of a change."""
    while True:
        frame: dict[str, Any] = json.loads(await asyncio.wait_for(socket.recv(), 20))
        if "event" in frame:
            return frame


async def closed(socket: ClientConnection) -> tuple[int, str]:
    """Wait for the end; return its code and reason."""
    await asyncio.wait_for(socket.wait_closed(), 20)
    assert socket.close_code is not None
    return socket.close_code, socket.close_reason or ""


async def test_a_memory_outlives_its_server(server: Server, api: Api) -> None:
    await api.remember("我对海鲜过敏")
    assert server.stop()

    server.start()

    assert await api.recalled("海鲜") == ["我对海鲜过敏"]


async def test_events_tell_of_every_change(server: Server, api: Api) -> None:
    async with events(server) as live:
        memory_id = await api.confirmed("dev", "identity")
        await api.did("/memory/forget", memory_id=memory_id)
        await api.say("你好")

        frames = [await next_event(live) for _ in range(6)]

    assert [frame["event"] for frame in frames] == [
        "memory.write",
        "slots.update",
        "memory.confirm",
        "slots.update",
        "memory.forget",
        "messages.append",
    ]
    assert all(
        {"id", "event", "ts", "request_id", "persona_id", "data"} <= set(frame) for frame in frames
    )
    assert "dev" not in [value for frame in frames for value in frame["data"].values()]


async def test_events_are_of_the_own_user_only(server: Server, api: Api) -> None:
    strangers = [
        events(server, "devkey2"),
        events(server, "acmekey", **{"X-User-Id": "userA"}),
        events(server, "appkey", **{"X-User-Id": "userC"}),
    ]
    for stranger in strangers:
        async with stranger as live:
            await api.remember("mine", key=f"k{id(stranger)}")
            await api.as_("devkey2").remember("theirs")
            await api.as_("acmekey", "userA").remember("theirs")
            await api.as_("appkey", "userC").remember("theirs")
            frame = await next_event(live)

        # The first thing it hears of comes from its own user: mine came before and was not told.
        assert frame["data"]["memory_id"] != 1
        assert frame["request_id"]
        await api.as_("devkey2").did("/memory/forget", type="fact", key="k")
        await api.as_("acmekey", "userA").did("/memory/forget", type="fact", key="k")
        await api.as_("appkey", "userC").did("/memory/forget", type="fact", key="k")


async def test_events_of_one_persona(server: Server, api: Api) -> None:
    async with events(server, query="?persona_id=p2") as live:
        await api.remember("one")
        await api.of("p2").remember("two")

        frame = await next_event(live)

    assert frame["persona_id"] == "p2"


@pytest.mark.parametrize("query", ["", "?resume_from=0"])
async def test_a_key_of_an_app_hears_nothing_of_another(
    server: Server, api: Api, query: str
) -> None:
    limits = KeyLimits(source_app="ide")
    async with open_storage(load_settings(environment(server.folder))) as storage:
        key, _ = await ApiKeys(storage, StillClock()).create("default", "userA", "bound", limits)

    async with events(server, key, query) as live:
        await api.say("from the web", source_app="web")
        await api.remember("web", key="a", scope="app", source_app="web")
        await api.say("from the ide", source_app="ide")
        await api.remember("for all", key="b", source_app="web")
        heard = [await next_event(live) for _ in range(2)]

    assert [frame["event"] for frame in heard] == ["messages.append", "memory.write"]
    assert heard[0]["data"]["source_app"] == "ide"
    assert heard[1]["data"]["memory_id"] == 2


async def test_missed_events_come_with_resume_from(server: Server, api: Api) -> None:
    for n in range(3):
        await api.remember(f"n{n}", key=f"k{n}")

    async with events(server, query="?resume_from=1") as live:
        frames = [await next_event(live) for _ in range(2)]

    assert [frame["id"] for frame in frames] == [2, 3]


async def test_a_key_may_come_in_the_first_frame(server: Server, api: Api) -> None:
    async with events(server, None) as live:
        auth = {"type": "auth", "api_key": "devkey", "persona_id": "p1"}
        await live.send(json.dumps(auth))
        await api.remember("one")

        assert (await next_event(live))["event"] == "memory.write"


FIRST_FRAMES = [
    '{"type": "auth", "api_key": "wrong"}',
    '{"type": "auth", "api_key": "密钥"}',
    '{"type": "auth"}',
    '{"type": "auth", "api_key": null}',
    '{"type": "hello", "api_key": "devkey"}',
    "not json",
    "[]",
    "7",
    b"\x00\x01",
]


async def test_a_wrong_first_frame_is_told_why(server: Server, api: Api) -> None:
    for frame in FIRST_FRAMES:
        async with events(server, None) as live:
            await live.send(frame)
            assert (await closed(live))[0] == 4401, frame


async def test_a_wrong_key_or_wish_is_told_why(server: Server, api: Api) -> None:
    async with events(server, "wrong") as live:
        assert (await closed(live))[0] == 4401
    async with events(server, query="?resume_from=x") as live:
        assert (await closed(live))[0] == 4400
    async with events(server, "appkey") as live:
        assert (await closed(live))[0] == 4400


async def test_a_foreign_page_gets_no_events(server: Server, api: Api) -> None:
    with pytest.raises(InvalidStatus, match="403"):
        async with events(server, Origin="https://evil.example"):
            pass


async def test_events_that_are_switched_off_say_so(start_server: StartServer) -> None:
    server = start_server("off", events="none")

    async with events(server) as live:
        code, reason = await closed(live)

    assert code == 4503
    assert "EVENTS" in reason


async def test_of_many_confirms_in_two_processes_exactly_one_wins(
    server: Server, api: Api, start_server: StartServer
) -> None:
    rivals = [await api.remember(f"身份 {n}", "identity", f"id{n}") for n in range(32)]
    twin = start_server()
    async with httpx.AsyncClient(base_url=twin.url, timeout=30) as client:
        other = Api(client)
        await other.saw("/health")

        answers = await asyncio.gather(
            *(
                (api if n % 2 else other).post("/memory/confirm", memory_id=rival)
                for n, rival in enumerate(rivals)
            )
        )

        assert sorted(answer.status_code for answer in answers) == [200] + [409] * 31
        assert await api.listed() == await other.listed()
        assert await api.slots() == await other.slots()


async def test_two_processes_share_one_database(
    server: Server, api: Api, start_server: StartServer
) -> None:
    twin = start_server()
    async with httpx.AsyncClient(base_url=twin.url, timeout=30) as client:
        other = Api(client)
        await asyncio.gather(
            *(
                (api if n % 2 else other).remember(f"n{n}", key=f"k{n}", idempotency_key=f"i{n}")
                for n in range(60)
            )
        )

        assert len(await api.listed(limit=200)) == 60
        assert len(await other.listed(limit=200)) == 60


async def test_the_first_start_makes_a_key_and_shows_it_once(start_server: StartServer) -> None:
    server = start_server("fresh", api_keys="")
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        assert (await client.get("/health")).status_code == 200
        key_file = server.folder / "key"
        key = key_file.read_text().strip()
        api = Api(client, key=key)
        await api.remember("我叫小明")
        profile = await api.saw("/persona/profile")

    assert profile["user_id"] == "local"
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert server.stop()
    assert server.output.read_text().count(key) == 1
    for file in server.folder.rglob("*"):
        if file.is_file() and file not in (key_file, server.output):
            assert key.encode() not in file.read_bytes(), file

    server.start()
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        assert await Api(client, key=key).listed() == ["我叫小明"]
    assert server.stop()
    assert server.output.read_text().count(key) == 1


def test_a_bad_setting_stops_the_start_with_one_line(tmp_path: Path) -> None:
    env = {"PATH": "/usr/bin", **environment(tmp_path, api_keys="broken")}

    done = subprocess.run(
        [sys.executable, "-c", "import plastic_memories.api"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode != 0
    [line] = done.stderr.strip().splitlines()
    assert "PLASTIC_MEMORIES_API_KEYS" in line


@pytest.mark.parametrize(
    ("name", "value"), [("backend", "oracle"), ("port", "x"), ("sensitive", "maybe")]
)
def test_a_bad_setting_is_named(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(InvalidSetting, match=f"PLASTIC_MEMORIES_{name.upper()}"):
        build_app(load_settings(environment(tmp_path, **{name: value})))


async def raw(server: Server, request: bytes) -> bytes:
    """Send bytes as they are; return the answer up to the end of its head or body."""
    loop = asyncio.get_running_loop()
    with socket.socket() as client:
        client.setblocking(False)
        await loop.sock_connect(client, server.listener.getsockname())
        await loop.sock_sendall(client, request)
        answer = b""
        while chunk := await asyncio.wait_for(loop.sock_recv(client, 65536), 20):
            answer += chunk
            if answer.rstrip().endswith(b"}"):
                break
    return answer


async def test_an_answer_over_the_wire_is_in_the_envelope(server: Server, api: Api) -> None:
    request = b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

    head, _, body = (await raw(server, request)).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 404")
    assert json.loads(body)["error"]["code"] == "not_found"


async def test_a_body_announced_too_large_is_refused_before_it_is_sent(
    server: Server, api: Api
) -> None:
    request = (
        b"POST /memory/write HTTP/1.1\r\nHost: localhost\r\nX-API-Key: devkey\r\n"
        b"Content-Type: application/json\r\nContent-Length: 99999999\r\n\r\n"
    )

    answer = await raw(server, request)

    assert answer.startswith(b"HTTP/1.1 413")


async def test_a_caller_that_leaves_early_harms_nobody(server: Server, api: Api) -> None:
    await api.remember("before")
    body = json.dumps({"persona_id": "p1", "type": "fact", "key": "half", "content": "x" * 9999})
    head = (
        "POST /memory/write HTTP/1.1\r\nHost: localhost\r\nX-API-Key: devkey\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    for part in (10, len(body) // 2):
        with socket.create_connection(server.listener.getsockname()) as client:
            client.sendall((head + body[:part]).encode())

    assert await api.listed() == ["before"]


async def test_an_interrupted_import_brings_in_nothing(server: Server, api: Api) -> None:
    line = '{"kind":"memory","persona_id":"p1","type":"fact","key":"half","content":"tea"}\n'
    head = (
        "POST /import HTTP/1.1\r\nHost: localhost\r\nX-API-Key: devkey\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    with socket.create_connection(server.listener.getsockname()) as client:
        client.sendall((head + f"{len(line):x}\r\n{line}\r\n").encode())
        client.shutdown(socket.SHUT_WR)
        client.recv(65536)

    assert await api.listed() == []


async def test_health_is_quick_to_answer_after_a_kill(server: Server, api: Api) -> None:
    await api.remember("kept")
    server.kill()

    server.start()

    assert data_of(await api.http.get("/health"))["status"] == "ok"
    assert await api.listed() == ["kept"]
