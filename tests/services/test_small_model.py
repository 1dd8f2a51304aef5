"""A real, small and rather stupid language model, over a real HTTP server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from harness import Api, StartHub, StillClock, environment
from plastic_memories import wiring
from plastic_memories.adapters.llm.client import ChatClient, ChatEndpoint
from plastic_memories.model.formation import Proposal, TalkWindow
from plastic_memories.model.memory import SourceType
from plastic_memories.settings import load_settings
from talks import talk

pytestmark = [pytest.mark.external, pytest.mark.timeout(600)]

SERVER = Path(__file__).with_name("llama_server.py")
TALKS = {
    "en": (
        "My name is Tom and I live in Boston",
        "bot: Nice to meet you, Tom! What do you like?",
        "I love green tea, and I'm allergic to peanuts",
    ),
    "zh": (
        "我叫小明，住在上海",
        "bot: 你好小明！你喜欢什么？",
        "我喜欢绿茶，对花生过敏",
    ),
}


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    """Run the model in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, str(SERVER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), "the model did not start"
        yield f"{address}/v1"
    finally:
        process.kill()
        process.communicate()


def asking(url: str) -> dict[str, str]:
    """Return the settings of a hub that asks the model."""
    return {
        "judge": "llm",
        "llm_base_url": url,
        "llm_model": "smollm2",
        "llm_timeout_s": "500",
        "llm_answer_tokens": "200",
    }


async def proposed(url: str, folder: Path, window: TalkWindow) -> Proposal:
    async with wiring.open_hub(load_settings(environment(folder, **asking(url)))) as hub:
        assert hub.extractor is not None
        return await hub.extractor.propose(window)


async def test_a_schema_makes_even_a_small_model_answer_in_json(model_url: str) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "drink": {"type": "string", "maxLength": 20},
            "importance": {"type": "integer", "minimum": 1, "maximum": 10},
        },
        "required": ["drink", "importance"],
        "additionalProperties": False,
    }
    endpoint = ChatEndpoint(f"{model_url}/chat/completions", "smollm2", timeout_s=300)
    async with httpx.AsyncClient(timeout=300) as http:
        client = ChatClient(http, endpoint, schema)

        answer = await client.complete([{"role": "user", "content": "I love green tea."}])

    found = json.loads(answer.text)
    assert set(found) == {"drink", "importance"}
    assert 1 <= found["importance"] <= 10
    assert 0 < answer.tokens_out < 100


@pytest.mark.parametrize("language", TALKS)
async def test_what_a_weak_model_says_is_kept_only_if_the_user_said_it(
    model_url: str, tmp_path: Path, language: str
) -> None:
    window = talk(*TALKS[language])

    found = await proposed(model_url, tmp_path, window)

    said = {message.id: message.content for message in window.messages if message.role == "user"}
    assert found.tokens_in > 0
    assert found.tokens_out > 0
    assert all(draft.quote in said[draft.source_message_ids[0]] for draft in found.drafts)
    # What it concludes beyond the quote is no statement of the user, and waits for a yes.
    stated = [draft for draft in found.drafts if draft.source_type is SourceType.USER_EXPLICIT]
    assert all(draft.attributes["value"] in draft.quote for draft in stated)
    # It was asked for more than it can do: what it got wrong is told, not kept.
    assert found.drafts or found.dropped


async def test_small_talk_gives_a_weak_model_nothing_to_invent_from(
    model_url: str, tmp_path: Path
) -> None:
    found = await proposed(model_url, tmp_path, talk("Good morning!", "bot: Hi!", "How are you?"))

    assert found.drafts == ()


@pytest.mark.parametrize("language", TALKS)
async def test_from_talk_to_memory_nothing_is_invented(
    model_url: str, start_hub: StartHub, clock: StillClock, language: str
) -> None:
    api: Api = await start_hub(clock, worker="off", **asking(model_url))
    assert api.hub is not None
    window = talk(*TALKS[language])
    said = [{"role": one.role.value, "content": one.content} for one in window.messages]
    appended = await api.did("/messages/append", messages=said, session_id="s1")
    await api.did("/sessions/end", session_id="s1")

    await api.hub.job_runner.run_all_due("w")

    content = dict(zip(appended["message_ids"], (one["content"] for one in said), strict=True))
    jobs = (await api.saw("/jobs"))["items"]
    rows = (await api.saw("/memory/list", status="all", limit=200))["items"]
    kept = [row for row in rows if row["type"] != "summary"]
    assert {job["status"] for job in jobs} == {"completed"}
    # What the rules know is there, whatever the model has said.
    assert len(kept) >= 4
    for row in kept:
        assert any(row["quote"] in content[source] for source in row["source_message_ids"])
        assert row["attributes"]["value"] in row["quote"]
    [summary] = [row for row in rows if row["type"] == "summary"]
    assert set(summary["source_message_ids"]) == set(content)
