"""The event stream, over a real socket on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

import pytest
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from plastic_memories_client import (
    AsyncPlasticMemoriesClient,
    EventsClosed,
    PlasticMemoriesClient,
    PlasticMemoriesClientError,
    ServerUnreachable,
    Unauthorized,
)

Visit = Callable[[ServerConnection], None]


class FakeStream:
    """Serves each visitor with the next of its scripts, and the last one from then on."""

    def __init__(self, *scripts: Visit) -> None:
        self._scripts = list(scripts)
        self.visits: list[Request] = []
        self.address = ""

    def __call__(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        self.visits.append(socket.request)
        script = self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]
        script(socket)

    def guard(self, socket: ServerConnection, request: Request) -> Response | None:
        if request.headers.get("X-API-Key") == "devkey":
            return None
        problem = {"ok": False, "error": {"code": "unauthorized", "message": "no key"}}
        return socket.respond(HTTPStatus.UNAUTHORIZED, json.dumps(problem))

    def asked(self) -> list[dict[str, list[str]]]:
        return [parse_qs(urlsplit(visit.path).query) for visit in self.visits]


@contextmanager
def serving(*scripts: Visit) -> Iterator[FakeStream]:
    stream = FakeStream(*scripts)
    with serve(stream, "127.0.0.1", 0, process_request=stream.guard) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        host, port = server.socket.getsockname()
        stream.address = f"http://{host}:{port}"
        yield stream
        server.shutdown()
    thread.join()


def telling(*ids: int, then: Visit) -> Visit:
    def script(socket: ServerConnection) -> None:
        socket.send(json.dumps({"type": "ready"}))
        for number in ids:
            socket.send(json.dumps({"id": number, "event": "memory.write", "persona_id": "p1"}))
        then(socket)

    return script


def good_bye(socket: ServerConnection) -> None:
    socket.close(1000)


def restarting(socket: ServerConnection) -> None:
    socket.close(1012, "restart")


def no_events_here(socket: ServerConnection) -> None:
    socket.close(1008, "EVENTS=none")


def test_events_are_told_until_the_hub_says_good_bye() -> None:
    with (
        serving(telling(1, 2, then=good_bye)) as stream,
        PlasticMemoriesClient(stream.address, api_key="devkey") as client,
    ):
        events = list(client.events(persona_id="p1"))

    assert [(event.id, event.event, event.persona_id) for event in events] == [
        (1, "memory.write", "p1"),
        (2, "memory.write", "p1"),
    ]
    assert stream.asked() == [{"persona_id": ["p1"]}]


def test_a_lost_connection_is_taken_up_where_it_stopped() -> None:
    with (
        serving(telling(1, 2, then=restarting), telling(3, then=good_bye)) as stream,
        PlasticMemoriesClient(stream.address, api_key="devkey") as client,
    ):
        events = list(client.events())

    assert [event.id for event in events] == [1, 2, 3]
    assert stream.asked() == [{}, {"resume_from": ["2"]}]


async def test_async_code_sees_the_same() -> None:
    with serving(telling(8, then=restarting), telling(9, then=good_bye)) as stream:
        async with AsyncPlasticMemoriesClient(stream.address, api_key="devkey") as client:
            events = [event async for event in client.events(resume_from=7)]

    assert [event.id for event in events] == [8, 9]
    assert stream.asked() == [{"resume_from": ["7"]}, {"resume_from": ["8"]}]


def test_a_hub_that_drops_every_connection_is_not_asked_forever() -> None:
    with (
        serving(restarting) as stream,
        PlasticMemoriesClient(stream.address, api_key="devkey") as client,
        pytest.raises(ServerUnreachable),
    ):
        list(client.events())

    assert len(stream.visits) == 2


def test_a_stream_that_is_switched_off_says_so() -> None:
    with (
        serving(no_events_here) as stream,
        PlasticMemoriesClient(stream.address, api_key="devkey") as client,
        pytest.raises(EventsClosed, match="EVENTS=none") as caught,
    ):
        list(client.events())

    assert caught.value.detail == {"close_code": 1008}


async def test_a_wrong_key_is_told_as_such() -> None:
    with serving(good_bye) as stream:
        async with AsyncPlasticMemoriesClient(stream.address, api_key="wrong") as client:
            with pytest.raises(Unauthorized, match="no key"):
                [event async for event in client.events()]


def test_no_hub_is_no_stream() -> None:
    with serving(good_bye) as stream:
        closed = stream.address

    with PlasticMemoriesClient(closed) as client, pytest.raises(ServerUnreachable):
        list(client.events())


def test_a_proxy_is_not_asked_for_a_hub_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    with (
        serving(telling(1, then=good_bye)) as stream,
        PlasticMemoriesClient(stream.address, api_key="devkey") as client,
    ):
        events = list(client.events())
        with pytest.raises(PlasticMemoriesClientError) as caught:
            client.health()

    assert [event.id for event in events] == [1]
    # The stream's own server answered, if only that it does not speak plain HTTP.
    assert caught.value.status == HTTPStatus.UPGRADE_REQUIRED
