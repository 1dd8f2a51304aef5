"""A fake hub, and both clients in front of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import httpx
import pytest

from client_contract.fake_hub import FakeHub
from plastic_memories_client import AsyncPlasticMemoriesClient, PlasticMemoriesClient


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder: the key of whoever runs the tests stays out of them."""
    monkeypatch.setenv("PLASTIC_MEMORIES_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("PLASTIC_MEMORIES_API_KEY", raising=False)
    return tmp_path


@pytest.fixture
def hub() -> FakeHub:
    return FakeHub()


@pytest.fixture
def client(hub: FakeHub) -> Iterator[PlasticMemoriesClient]:
    with PlasticMemoriesClient(api_key="devkey", transport=httpx.MockTransport(hub)) as client:
        yield client


@pytest.fixture
async def async_client(hub: FakeHub) -> AsyncGenerator[AsyncPlasticMemoriesClient, None]:
    transport = httpx.MockTransport(hub)
    async with AsyncPlasticMemoriesClient(api_key="devkey", transport=transport) as client:
        yield client
