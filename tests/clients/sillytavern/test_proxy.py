"""SillyTavern's own backend, unchanged, with the hub's proxy as its model server."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from fake_upstream import FakeUpstream, streamed
from harness import Json, Server
from tavern_parts import Known, prompt_of

pytestmark = [pytest.mark.external, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def backend(tavern: str) -> Iterator[httpx.Client]:
    """A page's calls, without the page: cookies, and a token against forgery."""
    with httpx.Client(base_url=tavern, timeout=30) as client:
        client.headers["X-CSRF-Token"] = client.get("/csrf-token").json()["token"]
        secret = {"key": "api_key_custom", "value": "devkey", "label": "hub"}
        assert client.post("/api/secrets/write", json=secret).status_code == 200
        yield client


def asked_through(hub: Server, persona: str, text: str, *, stream: bool) -> Json:
    """Return what SillyTavern's page sends to its backend."""
    return {
        "chat_completion_source": "custom",
        "custom_url": f"{hub.url}/v1",
        "custom_include_headers": f"X-Persona-Id: {persona}\nX-Source-App: sillytavern",
        "model": "m1",
        "stream": stream,
        "max_tokens": 100,
        "messages": [
            {"role": "system", "content": "You are Rain."},
            {"role": "user", "content": text},
        ],
    }


def generated(backend: httpx.Client, asked: Json) -> httpx.Response:
    answer = backend.post("/api/backends/chat-completions/generate", json=asked)
    assert answer.status_code == 200, answer.text
    return answer


def test_the_status_shows_the_models_of_the_upstream(backend: httpx.Client, hub: Server) -> None:
    asked = {"chat_completion_source": "custom", "custom_url": f"{hub.url}/v1"}

    answer = backend.post("/api/backends/chat-completions/status", json=asked)

    assert {"m1", "m2"} <= {model["id"] for model in answer.json()["data"]}


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_knows_what_was_remembered_and_is_remembered(
    backend: httpx.Client, hub: Server, known: Known, model: FakeUpstream, stream: bool
) -> None:
    persona = f"rain-{stream}"
    known.digested("我对海鲜过敏", persona)
    reply = "那就吃 hot pot 吧。"
    model.says(reply)

    answer = generated(backend, asked_through(hub, persona, "晚饭吃什么？", stream=stream))

    if stream:
        assert answer.content == b"".join(streamed(reply))
    else:
        assert answer.json()["choices"][0]["message"]["content"] == reply
    assert "海鲜" in prompt_of(model)
    assert model.last.headers["authorization"] == "Bearer upstream-key"
    assert known.until_kept(persona, reply)[-2:] == ["晚饭吃什么？", reply]
