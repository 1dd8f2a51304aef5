"""The end of a stream of events: a key that is good no longer, and wishes that make no sense."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect

from harness import Api, Server, StartServer, environment
from plastic_memories import wiring
from plastic_memories.hub.api_keys import ApiKeys
from plastic_memories.model.key import KeyLimits
from plastic_memories.settings import load_settings
from plastic_memories.wiring import SystemClock

# Ten times what it takes, against hanging.
_LONG_S = 10
DEEP = '{"type": "auth", "api_key": ' + "[" * 100_000 + "]" * 100_000 + "}"


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    return start_server()


@pytest.fixture
async def keys(server: Server) -> AsyncGenerator[ApiKeys]:
    """The keys of the server's database, seen from another process."""
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        await Api(client).say("hello")  # the database is there
    async with wiring.open_storage(load_settings(environment(server.folder))) as storage:
        yield ApiKeys(storage, SystemClock())


def events(server: Server, key: str | None = "devkey", query: str = "") -> connect:
    url = server.url.replace("http", "ws") + "/ws/events" + query
    return connect(url, additional_headers={"X-API-Key": key} if key else {}, proxy=None)


async def closed(socket: ClientConnection) -> tuple[int, str]:
    """Wait for the end; return its code and reason."""
    await asyncio.wait_for(socket.wait_closed(), _LONG_S)
    assert socket.close_code is not None
    return socket.close_code, socket.close_reason or ""


async def test_a_key_revoked_by_another_process_closes_its_socket(
    server: Server, keys: ApiKeys
) -> None:
    text, key = await keys.create("default", "userA", "", KeyLimits())
    async with events(server, text) as live, events(server) as other:
        await live.ping()

        await keys.revoke(key.id)

        assert await closed(live) == (4401, "The API key is missing or not valid.")
        assert other.close_code is None


async def test_an_expired_key_closes_its_socket(server: Server, keys: ApiKeys) -> None:
    limits = KeyLimits(expires_at=time.time() + 2)
    text, _ = await keys.create("default", "userA", "", limits)

    async with events(server, text) as live:
        code, _ = await closed(live)

    assert code == 4401
    assert limits.expires_at is not None
    assert time.time() >= limits.expires_at


async def test_a_good_key_keeps_its_socket(server: Server, keys: ApiKeys) -> None:
    async with events(server) as live, httpx.AsyncClient(base_url=server.url) as client:
        await asyncio.sleep(1.5)  # longer than a look at the key is apart from the next

        await Api(client).say("tea")

        assert "messages.append" in str(await asyncio.wait_for(live.recv(), _LONG_S))


@pytest.mark.parametrize("resume_from", ["1e999", "-1e999", "1" + "0" * 23, "1.5", "true", "[1]"])
async def test_a_senseless_place_to_resume_is_refused(server: Server, resume_from: str) -> None:
    async with events(server, None) as live:
        frame = f'{{"type": "auth", "api_key": "devkey", "resume_from": {resume_from}}}'
        await live.send(frame)

        code, reason = await closed(live)

    assert code == 4400
    assert "resume_from" in reason
    assert "Traceback" not in server.output.read_text()


async def test_a_place_to_resume_in_the_address_may_be_as_senseless(server: Server) -> None:
    for value in ("1e999", "1" + "0" * 23, "9" * 5000, "nan"):
        async with events(server, query=f"?resume_from={value}") as live:
            assert (await closed(live))[0] == 4400, value

    assert "Traceback" not in server.output.read_text()


@pytest.mark.parametrize(
    "frame", [DEEP, '{"type": "auth", "api_key": "\\ud800"}', '{"type": 1e999}']
)
async def test_a_hostile_first_frame_is_told_why(server: Server, frame: str) -> None:
    async with events(server, None) as live:
        await live.send(frame)

        code, reason = await closed(live)

    assert code == 4401
    assert reason
    assert "Traceback" not in server.output.read_text()


async def test_a_key_has_a_limited_number_of_sockets(start_server: StartServer) -> None:
    server = start_server("few", max_event_sockets_per_key="2", max_event_sockets="4")
    async with events(server) as first, events(server) as second:
        await first.ping()
        await second.ping()
        await asyncio.sleep(0.2)  # both have shown their key

        async with events(server) as third:
            code, reason = await closed(third)
        assert (code, "PLASTIC_MEMORIES_MAX_EVENT_SOCKETS_PER_KEY" in reason) == (4429, True)
        async with events(server, "devkey2") as other:
            await asyncio.wait_for(await other.ping(), _LONG_S)

    async with events(server) as later:  # the others have left
        await asyncio.wait_for(await later.ping(), _LONG_S)
        assert later.close_code is None


async def test_sockets_that_send_no_key_are_limited_too(start_server: StartServer) -> None:
    server = start_server("few", max_event_sockets="2")
    async with events(server, None) as first, events(server, None) as second:
        await first.ping()
        await second.ping()

        async with events(server) as third:
            code, reason = await closed(third)

    assert (code, "PLASTIC_MEMORIES_MAX_EVENT_SOCKETS" in reason) == (4429, True)
