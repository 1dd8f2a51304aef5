"""How answers are read."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from client_contract.fake_hub import FakeHub
from plastic_memories_client import (
    AsyncPlasticMemoriesClient,
    MemoryItem,
    PlasticMemoriesClient,
    UnreadableAnswer,
)

ROW = {"id": 7, "type": "profile", "key": "basic_info.name", "content": "tcmiku", "tags": None}
RECALLED: dict[str, Any] = {
    "PERSONA_PROFILE": "# 猫",
    "PERSONA_MEMORY": [{**ROW, "score": 0.9}],
    "CHAT_SNIPPETS": [{"id": 1, "role": "user", "content": "叫我 tcmiku", "ts": 1.0}],
    "injection_block": "all",
    "stable_block": {"text": "stable", "version": "v1"},
    "turn_block": {"text": "turn"},
    "intent": {"type": "profile", "confidence": 0.8, "queries": ["名字"]},
    "tokens": 12,
    "truncated": True,
    "degraded": ["vector"],
}


def test_a_recall_is_read_whole(hub: FakeHub, client: PlasticMemoriesClient) -> None:
    hub.knows("POST", "/memory/recall", RECALLED)

    found = client.recall("我叫什么？")

    assert (found.injection_block, found.persona_profile) == ("all", "# 猫")
    assert (found.stable_block.text, found.stable_block.version) == ("stable", "v1")
    assert (str(found.turn_block), found.intent.type) == ("turn", "profile")
    assert (found.memory_items[0].content, found.memory_items[0].score) == ("tcmiku", 0.9)
    assert found.chat_snippets[0].content == "叫我 tcmiku"
    assert (found.tokens, found.truncated, found.degraded) == (12, True, ["vector"])
    assert (found.request_id, found.raw) == ("r1", RECALLED)


def test_fields_of_a_newer_hub_are_kept(hub: FakeHub, client: PlasticMemoriesClient) -> None:
    hub.knows("GET", "/memory/get", {**ROW, "mood": "calm"})

    memory = client.memory_get(7)

    assert memory.model_extra == {"mood": "calm"}


@pytest.mark.parametrize("answer", [ROW, {"memory": ROW}, {"item": ROW}])
def test_a_row_is_read_bare_or_by_name(
    hub: FakeHub, client: PlasticMemoriesClient, answer: dict[str, Any]
) -> None:
    hub.knows("GET", "/memory/get", answer)

    assert client.memory_get(7) == MemoryItem(id=7, type="profile", key="basic_info.name",
                                              content="tcmiku")  # fmt: skip


def test_lists_are_lists(hub: FakeHub, client: PlasticMemoriesClient) -> None:
    hub.knows("GET", "/goals/list", {"items": [{"id": 1, "title": "Learn Rust", "links": []}]})
    hub.knows("POST", "/persona/slots/get", {"items": [{"slot_name": "identity", "value": "dev"}]})

    assert [goal.title for goal in client.goals()] == ["Learn Rust"]
    assert [(slot.slot_name, slot.value) for slot in client.slots()] == [("identity", "dev")]


def test_metrics_are_text(hub: FakeHub, client: PlasticMemoriesClient) -> None:
    hub.says(httpx.Response(200, text="memory_recall_count 1\n"))

    assert client.metrics() == "memory_recall_count 1\n"


PAGES = [
    {"items": [{"id": 1}, {"id": 2}], "next_cursor": "c2"},
    {"items": [{"id": 3}], "next_cursor": None},
]


def test_pages_follow_each_other(hub: FakeHub, client: PlasticMemoriesClient) -> None:
    hub.knows("GET", "/memory/list", *PAGES)

    found = [memory.id for memory in client.iter_memory(type="note")]

    assert found == [1, 2, 3]
    assert hub.asked() == {"persona_id": "default", "type": "note", "cursor": "c2"}


async def test_pages_follow_each_other_in_async_code(
    hub: FakeHub, async_client: AsyncPlasticMemoriesClient
) -> None:
    hub.knows("GET", "/memory/list", *PAGES)

    assert [memory.id async for memory in async_client.iter_memory()] == [1, 2, 3]


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"ok": true}', b'{"data": 3}'])
def test_what_is_not_the_hubs_is_said_to_be_unreadable(
    hub: FakeHub, client: PlasticMemoriesClient, body: bytes
) -> None:
    hub.says(httpx.Response(200, content=body))

    with pytest.raises(UnreadableAnswer):
        client.health()


def test_an_unreadable_row_does_not_spill_its_text(
    hub: FakeHub, client: PlasticMemoriesClient
) -> None:
    hub.knows("GET", "/memory/get", {**ROW, "recall_count": "my private words"})

    with pytest.raises(UnreadableAnswer) as caught:
        client.memory_get(7)

    assert caught.value.detail == {"fields": ["recall_count"]}
    assert "private" not in str(caught.value)
