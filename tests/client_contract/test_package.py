"""The package as people import it."""

from __future__ import annotations

from typing import Any

import clients.python.plastic_memories_client as from_the_root
import httpx
from clients.python.plastic_memories_client import Message, PlasticMemoriesClient

import plastic_memories_client as installed
from client_contract.fake_hub import FakeHub


def test_it_is_the_same_under_both_names() -> None:
    assert from_the_root.__file__ == installed.__file__
    assert from_the_root.__all__ == installed.__all__


def test_everything_it_names_is_there() -> None:
    assert [name for name in installed.__all__ if not hasattr(installed, name)] == []


def test_the_sample_of_the_readme_runs(hub: FakeHub) -> None:
    answers: list[dict[str, Any]] = [{"injection_block": ""}, {"injection_block": "叫 tcmiku"}]
    hub.knows("POST", "/memory/recall", *answers)
    hub.knows("POST", "/messages/append", {"message_ids": [1, 2], "message_id": 2, "deduped": 0})
    hub.knows("POST", "/memory/write", {"status": "ok", "written": 1, "items": [{"memory_id": 1}]})

    client = PlasticMemoriesClient(
        "http://127.0.0.1:8007",
        user_id="local",
        persona_id="default",
        transport=httpx.MockTransport(hub),
    )
    before = client.recall("请总结我喜欢的回答风格").injection_block
    client.append_messages(
        [Message(role="user", content="请用默认中文"), Message(role="user", content="回答工程化")]
    )
    client.write([Message(role="user", content="叫我 tcmiku")])
    after = client.recall("我叫什么？").injection_block

    assert (before, after) == ("", "叫 tcmiku")
