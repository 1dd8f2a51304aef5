"""An application whose server announces no lifespan: a test client, or `--lifespan off`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from harness import BASE_URL, environment
from plastic_memories import wiring
from plastic_memories.errors import Unavailable
from plastic_memories.http.app import Application, create_app
from plastic_memories.hub.hub import Hub
from plastic_memories.runtime.metered_storage import current_tenant
from plastic_memories.settings import Settings, load_settings

LOCAL = {"Host": "127.0.0.1"}
KEY = {"X-API-Key": "devkey"}
MEMORY = {"persona_id": "p1", "type": "note", "key": "tea", "content": "likes oolong"}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(environment(tmp_path, embedder="none"))


class CountedHub:
    """Opens hubs and notes how many were opened and closed, and for which tenant."""

    def __init__(self, settings: Settings, failures: int = 0) -> None:
        self.settings = settings
        self.failures = failures
        self.opened = 0
        self.closed = 0
        self.tenants: list[str | None] = []

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Hub]:
        if self.failures:
            self.failures -= 1
            raise Unavailable("The disk is not there yet.")
        self.opened += 1
        self.tenants.append(current_tenant.get())
        try:
            async with wiring.open_hub(self.settings) as hub:
                yield hub
        finally:
            self.closed += 1

    def app(self) -> Application:
        return create_app(wiring.http_options(self.settings), self.open)


def client_of(app: Application) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE_URL, headers=KEY)


def contents(answer: Any) -> list[str]:
    return [item["content"] for item in answer.json()["data"]["items"]]


async def test_the_first_request_opens_the_hub(settings: Settings) -> None:
    async with client_of(wiring.build_app(settings)) as http:
        health = await http.get("/health")
        written = await http.post("/memory/write", json=MEMORY)
        listed = await http.get("/memory/list", params={"persona_id": "p1"})

    assert [health.status_code, written.status_code] == [200, 200]
    assert contents(listed) == ["likes oolong"]


def test_a_test_client_with_a_loop_for_each_request_is_served(settings: Settings) -> None:
    client = TestClient(wiring.build_app(settings), base_url=BASE_URL, headers=KEY)

    written = client.post("/memory/write", json=MEMORY)
    listed = client.get("/memory/list", params={"persona_id": "p1"})

    assert written.status_code == 200
    assert contents(listed) == ["likes oolong"]


def test_a_test_client_hears_events(settings: Settings) -> None:
    client = TestClient(wiring.build_app(settings), base_url=BASE_URL, headers=KEY)

    client.post("/memory/write", json=MEMORY)
    with (
        suppress(CancelledError),  # how this client leaves a socket that still listens
        client.websocket_connect("/ws/events?resume_from=0", headers=LOCAL) as socket,
    ):
        event = socket.receive_json()

    assert event["persona_id"] == "p1"


def test_requests_of_one_loop_share_a_hub_that_is_closed_with_the_loop(settings: Settings) -> None:
    counted = CountedHub(settings)

    async def ask_three_times() -> list[int]:
        async with client_of(counted.app()) as http:
            answers = await asyncio.gather(*(http.get("/health") for _ in range(3)))
        assert counted.closed == 0
        return [answer.status_code for answer in answers]

    assert asyncio.run(ask_three_times()) == [200, 200, 200]
    assert (counted.opened, counted.closed) == (1, 1)


def test_a_lifespan_opens_one_hub_and_closes_it(settings: Settings) -> None:
    counted = CountedHub(settings)

    with TestClient(counted.app(), base_url=BASE_URL, headers=KEY) as client:
        assert client.get("/health").status_code == 200
        assert client.get("/memory/list", params={"persona_id": "p1"}).status_code == 200
        assert (counted.opened, counted.closed) == (1, 0)

    assert (counted.opened, counted.closed) == (1, 1)


async def test_a_hub_that_could_not_be_opened_is_opened_by_the_next_request(
    settings: Settings,
) -> None:
    counted = CountedHub(settings, failures=1)

    async with client_of(counted.app()) as http:
        refused = await http.get("/memory/list", params={"persona_id": "p1"})
        answer = await http.get("/memory/list", params={"persona_id": "p1"})

    assert refused.status_code == 503
    assert answer.status_code == 200


async def test_the_hub_does_not_work_for_the_tenant_who_came_first(settings: Settings) -> None:
    counted = CountedHub(settings)
    token = current_tenant.set("first")
    try:
        async with client_of(counted.app()) as http:
            await http.get("/health")
    finally:
        current_tenant.reset(token)

    assert counted.tenants == [None]


async def test_the_document_needs_no_hub(settings: Settings) -> None:
    counted = CountedHub(settings)

    async with client_of(counted.app()) as http:
        answer = await http.get("/openapi.json")

    assert answer.status_code == 200
    assert counted.opened == 0
