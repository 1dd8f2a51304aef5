"""Recall never fails because a part failed: what is slow or broken is named."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from harness import Api, StartHub
from plastic_memories.errors import Unavailable
from plastic_memories.hub.recall.recall import Recall
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.model.recall import Findings, RecallQuery, Recollection
from plastic_memories.ports.storage import Stores

ME = Viewpoint(Owner("default", "userA", "p1"))
FAILURES = [Unavailable("away"), RuntimeError("a bug"), ValueError("x"), OSError("disk")]


class Stuck:
    """An engine or a storage that never answers."""

    async def find(self, _query: RecallQuery) -> Findings:
        await asyncio.Event().wait()
        raise AssertionError

    async def read(self, _work: Callable[[Stores], Any]) -> Any:
        await asyncio.Event().wait()


class Broken:
    """An engine or a storage that fails at once."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def find(self, _query: RecallQuery) -> Findings:
        raise self._error

    async def read(self, _work: Callable[[Stores], Any]) -> Any:
        raise self._error


async def ask(recall: Recall, deadline_s: float = 5.0) -> Recollection:
    query = RecallQuery(viewpoint=ME, text="tea", now=1_750_000_000, deadline_s=deadline_s)
    return await recall(query)


async def remembering(api: Api) -> Recall:
    """Store a constraint, a fact and a message; return the recall of the hub."""
    await api.remember("我对海鲜过敏", "profile", "constraint.allergy.seafood")
    await api.remember("jasmine tea", "note", "a")
    await api.say("你好", ts=1_749_999_000)
    assert api.hub is not None
    return api.hub.recall


def on(recall: Recall, storage: Any) -> Recall:
    storage = AuditedStorage(storage, recall.storage.sink, recall.storage.clock)
    return replace(recall, storage=storage)


@pytest.mark.parametrize("error", FAILURES)
async def test_a_broken_engine_costs_the_search_only(api: Api, error: Exception) -> None:
    recall = replace(await remembering(api), engine=Broken(error))

    found = await ask(recall)

    assert found.degraded == ("search",)
    assert "海鲜" in found.injection_block
    assert [message.content for message in found.snippets] == ["你好"]


async def test_a_slow_engine_costs_the_search_only(api: Api) -> None:
    recall = replace(await remembering(api), engine=Stuck())

    found = await ask(recall, deadline_s=0.2)

    assert "search" in found.degraded


@pytest.mark.parametrize("error", FAILURES)
async def test_a_broken_storage_costs_structure_and_snippets(api: Api, error: Exception) -> None:
    recall = on(await remembering(api), Broken(error))

    found = await ask(recall)

    assert set(found.degraded) == {"structure", "snippets"}
    assert [hit.memory.content for hit in found.hits] == ["jasmine tea"]


async def test_nothing_at_all_still_gives_an_answer(api: Api) -> None:
    recall = replace(on(await remembering(api), Stuck()), engine=Stuck())

    found = await ask(recall, deadline_s=0.01)

    assert set(found.degraded) == {"structure", "search", "snippets"}
    assert (found.injection_block, list(found.hits)) == ("", [])


@pytest.mark.parametrize("place", [{}, {"session_id": "s1"}], ids=str)
async def test_a_broken_storage_is_answered_over_http(api: Api, place: dict[str, str]) -> None:
    recall = on(await remembering(api), Broken(Unavailable("away")))
    assert api.hub is not None
    object.__setattr__(api.hub, "recall", replace(recall, engine=Broken(Unavailable("away"))))

    found = await api.recall("tea", **place)

    assert set(found["degraded"]) == {"structure", "search", "snippets"}
    assert found["PERSONA_MEMORY"] == []


@pytest.mark.parametrize(("engine", "missed"), [("keyword", ("text_index",)), ("hybrid", ())])
async def test_without_the_text_index_everything_is_found_all_the_same(
    start_hub: StartHub, engine: str, missed: tuple[str, ...]
) -> None:
    api: Api = await start_hub(recall=engine)
    recall = await remembering(api)
    assert api.hub is not None
    storage = api.hub.storage.backend
    await storage.write(lambda stores: stores.connection.execute("DROP TABLE fts_memory"))  # type: ignore[attr-defined]

    found = await ask(recall)

    assert found.degraded == missed
    assert next(hit.memory.content for hit in found.hits) == "jasmine tea"


async def test_without_the_text_index_memories_can_still_be_kept(api: Api) -> None:
    await remembering(api)
    assert api.hub is not None
    storage = api.hub.storage.backend
    await storage.write(lambda stores: stores.connection.execute("DROP TABLE fts_memory"))  # type: ignore[attr-defined]

    await api.remember("oolong tea", "note", "b")

    assert "oolong tea" in await api.recalled("oolong tea")
