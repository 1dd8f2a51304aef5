"""The embedder behind an HTTP endpoint, before a real server that misbehaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import numpy as np
import pytest

from embedding_parts import Asked, LocalServer, Reply, hashed, serving, well_behaved
from plastic_memories.adapters.embedding.openai import OpenAIEmbedder, openai
from plastic_memories.errors import InvalidInput, InvalidSetting, Unavailable
from plastic_memories.settings import load_settings

Answer = Callable[[Asked], Reply]


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with serving(LocalServer(well_behaved)) as running:
        yield running


@pytest.fixture
def client(server: LocalServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{server.url}/", timeout=10) as opened:
        yield opened


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def embedder(client: httpx.Client, waits: list[float]) -> OpenAIEmbedder:
    return OpenAIEmbedder(client, "tiny", waits.append)


def _in_turn(*replies: Reply | Answer) -> Answer:
    left = list(replies)

    def answer(asked: Asked) -> Reply:
        reply = left.pop(0)
        return reply if isinstance(reply, Reply) else reply(asked)

    return answer


def test_many_texts_go_in_batches_and_come_back_in_order(
    server: LocalServer, embedder: OpenAIEmbedder
) -> None:
    texts = [f"text {number}" for number in range(130)]

    rows = embedder.embed(texts, purpose="passage")

    assert np.allclose(rows, hashed(texts), atol=1e-5)
    assert [len(asked.body["input"]) for asked in server.asked] == [1, 64, 64, 2]


def test_the_key_and_the_model_are_sent(server: LocalServer) -> None:
    chosen = {
        "PLASTIC_MEMORIES_EMBEDDER": "openai:tiny",
        "PLASTIC_MEMORIES_EMBEDDER_BASE_URL": server.url,
        "PLASTIC_MEMORIES_EMBEDDER_API_KEY": "sk-test",
    }
    choice = openai(load_settings(chosen))
    assert choice.load is not None
    assert choice.close is not None

    choice.load()
    choice.close()

    [asked] = server.asked
    assert (asked.path, asked.body["model"]) == ("/v1/embeddings", "tiny")
    assert asked.headers["authorization"] == "Bearer sk-test"
    assert "sk-test" not in choice.why


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_passes_is_tried_again(
    server: LocalServer, embedder: OpenAIEmbedder, waits: list[float], status: int
) -> None:
    server.answer = _in_turn(Reply(status), Reply(status), well_behaved)

    rows = embedder.embed(["tea"], purpose="passage")

    assert rows.shape == (1, 64)
    assert waits == [0.5, 1.0]


def test_it_waits_as_long_as_it_is_asked_to_within_reason(
    server: LocalServer, embedder: OpenAIEmbedder, waits: list[float]
) -> None:
    server.answer = _in_turn(
        Reply(429, headers=(("Retry-After", "3"),)),
        Reply(429, headers=(("Retry-After", "4000"),)),
        well_behaved,
    )

    embedder.embed(["tea"], purpose="passage")

    assert waits == [3.0, 10.0]


def test_what_does_not_pass_is_given_up(
    server: LocalServer, embedder: OpenAIEmbedder, waits: list[float]
) -> None:
    server.answer = lambda _: Reply(503)

    with pytest.raises(Unavailable, match="answered 503"):
        embedder.embed(["tea"], purpose="passage")

    assert len(waits) == 2


def test_a_question_is_asked_once(
    server: LocalServer, embedder: OpenAIEmbedder, waits: list[float]
) -> None:
    server.answer = lambda _: Reply(503)

    with pytest.raises(Unavailable):
        embedder.embed(["tea"], purpose="query")

    assert waits == []


@pytest.mark.parametrize(
    ("status", "said"), [(401, "EMBEDDER_API_KEY"), (404, "EMBEDDER_MODEL"), (302, "302")]
)
def test_what_cannot_pass_is_not_tried_again(
    server: LocalServer, embedder: OpenAIEmbedder, waits: list[float], status: int, said: str
) -> None:
    server.answer = lambda _: Reply(status)

    with pytest.raises(Unavailable, match=said):
        embedder.embed(["tea"], purpose="passage")

    assert waits == []


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_refused_text_is_the_texts_fault(
    server: LocalServer, embedder: OpenAIEmbedder, status: int
) -> None:
    server.answer = lambda _: Reply(status)

    with pytest.raises(InvalidInput):
        embedder.embed(["tea"], purpose="passage")


@pytest.mark.parametrize(
    "body",
    [
        b"<html>hello</html>",
        {"data": []},
        {"data": [{"index": 0}]},
        {"data": [{"index": 0, "embedding": "no"}]},
        {"data": [{"index": 0, "embedding": [0.1] * 3}]},
        {"data": [{"index": 0, "embedding": [0.1] * 64}, {"index": 1, "embedding": [0.1]}]},
        ["data"],
        None,
    ],
)
def test_an_answer_that_makes_no_sense_is_no_vector(
    server: LocalServer, embedder: OpenAIEmbedder, body: Any
) -> None:
    server.answer = lambda _: Reply(body=body)

    with pytest.raises(Unavailable):
        embedder.embed(["tea"], purpose="passage")


def test_an_endpoint_that_is_gone_is_unavailable(embedder: OpenAIEmbedder) -> None:
    dead = httpx.Client(base_url="http://127.0.0.1:9/v1/")

    with dead, pytest.raises(Unavailable, match="did not answer"):
        OpenAIEmbedder(dead, "tiny", lambda _: None)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"EMBEDDER": "openai"}, "EMBEDDER_BASE_URL"),
        ({"EMBEDDER": "openai", "EMBEDDER_BASE_URL": "http://x"}, "EMBEDDER_MODEL"),
        ({"EMBEDDER": "openai:m", "EMBEDDER_BASE_URL": "ftp://x"}, "EMBEDDER_BASE_URL"),
    ],
)
def test_what_is_missing_is_named(given: dict[str, str], said: str) -> None:
    settings = load_settings({f"PLASTIC_MEMORIES_{name}": value for name, value in given.items()})

    with pytest.raises(InvalidSetting, match=said):
        openai(settings)
