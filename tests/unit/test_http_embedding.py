"""Vectors as a caller sees them: acknowledged before they exist, counted, rebuilt, forgotten."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from embedding_parts import write_model
from harness import Api, Json, StartHub
from plastic_memories.model.entry import Partition
from plastic_memories.model.owner import User


@pytest.fixture
async def embedding_api(start_hub: StartHub, tmp_path: Path) -> Api:
    folder = write_model(tmp_path / "tiny")
    opened: Api = await start_hub(embedder=f"onnx:{folder}")
    return opened


async def _filled(api: Api) -> Json:
    async with asyncio.timeout(30):
        while True:
            health = await api.saw("/health")
            is_ready = health["components"]["embedder"]["status"] == "ready"
            if is_ready and health["embedding_backlog"] == 0:
                return health
            await asyncio.sleep(0.01)


async def _vectors(api: Api, user: str = "userA") -> list[bytes | None]:
    assert api.hub is not None
    partition = Partition(User("default", user), api.persona)
    news = await api.hub.storage.read(lambda stores: stores.entries.changes_since(partition))
    return [entry.vector for entry in news.entries]


async def test_health_and_capabilities_name_the_embedder(embedding_api: Api) -> None:
    health = await _filled(embedding_api)
    known = await embedding_api.saw("/capabilities")

    embedder = health["components"]["embedder"]
    assert (embedder["name"], embedder["dimension"], embedder["error"]) == ("onnx", 24, "")
    assert embedder["model"].startswith("onnx/tiny/")
    assert known["plugged_in"]["embedder"] == "onnx"
    assert known["embedder"] == {
        name: embedder[name] for name in ("name", "status", "model", "dimension")
    }


async def test_nobody_without_a_key_sees_the_backlog(embedding_api: Api) -> None:
    health = await embedding_api.as_(None).saw("/health")

    assert health == {"status": "ok"}


async def test_what_is_written_gets_a_vector_and_is_counted(embedding_api: Api) -> None:
    await embedding_api.remember("我对海鲜过敏")
    await embedding_api.as_("devkey2").remember("I like tea")

    await _filled(embedding_api)

    metrics = await embedding_api.http.get("/metrics", headers=embedding_api.all_headers)
    counted = 'vector_operations_total{backend="onnx",operation="embed",status="ok"}'
    assert counted in metrics.text
    assert [len(one or b"") for one in await _vectors(embedding_api)] == [25]
    assert [len(one or b"") for one in await _vectors(embedding_api, "userB")] == [25]


async def test_the_same_text_of_two_users_has_two_vectors(embedding_api: Api) -> None:
    mine = await embedding_api.remember("我对海鲜过敏")
    await embedding_api.as_("devkey2").remember("我对海鲜过敏")
    await _filled(embedding_api)

    await embedding_api.did("/memory/forget", memory_id=mine)

    assert await _vectors(embedding_api) == []
    assert len(await _vectors(embedding_api, "userB")) == 1


async def test_a_rebuild_makes_the_vectors_anew_at_once(embedding_api: Api) -> None:
    await embedding_api.remember("我对海鲜过敏")
    await _filled(embedding_api)
    before = await _vectors(embedding_api)

    await embedding_api.did("/memory/rebuild")
    await _filled(embedding_api)

    assert await _vectors(embedding_api) == before


async def test_without_an_embedder_nothing_waits(api: Api) -> None:
    await api.remember("我对海鲜过敏")

    health = await api.saw("/health")

    assert health["embedding_backlog"] == 0
    assert health["components"]["embedder"]["status"] == "off"
    assert await api.recalled("海鲜") == ["我对海鲜过敏"]
