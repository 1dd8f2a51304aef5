"""What every request carries."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from client_contract.fake_hub import FakeHub
from plastic_memories_client import Message, PlasticMemoriesClient


def asking(hub: FakeHub, base_url: str = "http://127.0.0.1:8007", **options: object) -> None:
    """Ask for the health of a hub by a client with these options."""
    hub.knows("GET", "/health", {"status": "ok"})
    transport = httpx.MockTransport(hub)
    with PlasticMemoriesClient(base_url, transport=transport, **options) as client:  # type: ignore[arg-type]
        client.health()


def test_key_user_and_a_fresh_request_id_are_sent(
    hub: FakeHub, client: PlasticMemoriesClient
) -> None:
    hub.knows("GET", "/health", {"status": "ok"})

    client.health()
    client.health()

    first, second = (request.headers for request in hub.requests)
    assert (first["X-API-Key"], first["X-User-Id"]) == ("devkey", "local")
    assert first["X-Request-Id"] != second["X-Request-Id"]


def test_a_user_may_have_a_chinese_name(hub: FakeHub) -> None:
    asking(hub, user_id="小明")

    assert dict(hub.last.headers.raw)[b"X-User-Id"] == "小明".encode()


def test_the_callers_own_headers_are_sent(hub: FakeHub) -> None:
    asking(hub, headers={"X-Trace": "t1"})

    assert hub.last.headers["X-Trace"] == "t1"


def test_the_key_of_this_machine_is_found(hub: FakeHub, data_folder: Path) -> None:
    (data_folder / "key").write_text("made-at-first-start\n", encoding="utf-8")

    asking(hub)

    assert hub.last.headers["X-API-Key"] == "made-at-first-start"


def test_a_key_that_appears_later_is_found_then(hub: FakeHub, data_folder: Path) -> None:
    hub.knows("GET", "/health", {"status": "ok"})

    with PlasticMemoriesClient(transport=httpx.MockTransport(hub)) as client:
        client.health()
        (data_folder / "key").write_text("late\n", encoding="utf-8")
        client.health()

    assert [request.headers.get("X-API-Key") for request in hub.requests] == [None, "late"]


def test_the_key_of_this_machine_stays_on_this_machine(hub: FakeHub, data_folder: Path) -> None:
    (data_folder / "key").write_text("made-at-first-start\n", encoding="utf-8")

    asking(hub, "https://hub.example.org")

    assert "X-API-Key" not in hub.last.headers


def test_the_environments_key_comes_before_the_file(
    hub: FakeHub, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (data_folder / "key").write_text("of-the-file\n", encoding="utf-8")
    monkeypatch.setenv("PLASTIC_MEMORIES_API_KEY", "of-the-environment")

    asking(hub)

    assert hub.last.headers["X-API-Key"] == "of-the-environment"


def test_a_path_in_the_address_is_kept(hub: FakeHub) -> None:
    hub.knows("GET", "/memory-hub/health", {"status": "ok"})

    asking(hub, "http://127.0.0.1:8007/memory-hub/")

    assert hub.last.url.path == "/memory-hub/health"


def test_a_bot_is_named_in_every_request_about_its_persona(hub: FakeHub) -> None:
    hub.knows("GET", "/memory/list", {"items": []})
    hub.knows("POST", "/memory/write", {"status": "ok"})

    with PlasticMemoriesClient(bot_id="b1", transport=httpx.MockTransport(hub)) as client:
        client.list_memory()
        listed = hub.asked()
        client.write(Message(role="user", content="hi"))
        written = hub.asked()

    assert (listed["bot_id"], written["bot_id"]) == ("b1", "b1")


def test_half_a_surrogate_pair_is_sent_as_a_question_mark(
    hub: FakeHub, client: PlasticMemoriesClient
) -> None:
    hub.knows("POST", "/memory/recall", {})

    client.recall("cut \ud83d")

    assert hub.asked()["query"] == "cut ?"


def test_a_message_knows_its_own_session_best(hub: FakeHub) -> None:
    hub.knows("POST", "/messages/append", {"message_ids": [1, 2]})

    with PlasticMemoriesClient(session_id="s1", transport=httpx.MockTransport(hub)) as client:
        client.append_messages(
            [
                {"role": "user", "content": "a"},
                Message(role="user", content="b", session_id="s2"),
            ]
        )

    assert [m["session_id"] for m in hub.asked()["messages"]] == ["s1", "s2"]


def test_many_messages_go_in_hundreds(hub: FakeHub, client: PlasticMemoriesClient) -> None:
    hub.knows(
        "POST", "/messages/append",
        {"message_ids": list(range(100)), "message_id": 99, "deduped": [False] * 100},
        {"message_ids": list(range(100, 150)), "message_id": 149, "deduped": [True] * 50},
    )  # fmt: skip

    answer = client.append_messages([Message(role="user", content=str(n)) for n in range(150)])

    sizes = [len(json.loads(request.content)["messages"]) for request in hub.requests]
    assert sizes == [100, 50]
    assert (answer.message_ids, answer.message_id) == (list(range(150)), 149)
    assert answer.deduped == 50


def test_no_messages_are_no_request(hub: FakeHub, client: PlasticMemoriesClient) -> None:
    answer = client.append_messages([])

    assert (answer.message_ids, hub.requests) == ([], [])


def test_what_was_skipped_is_counted_over_all_batches(
    hub: FakeHub, client: PlasticMemoriesClient
) -> None:
    hub.knows(
        "POST", "/memory/write",
        {"written": 500, "skipped": []},
        {"written": 9, "skipped": [{"index": 3, "reason": "empty"}]},
    )  # fmt: skip

    items = [{"type": "note", "key": str(n), "content": "c"} for n in range(510)]
    answer = client.write_items(items)  # type: ignore[arg-type]

    assert answer.written == 509
    assert [(part.index, part.reason) for part in answer.skipped] == [(503, "empty")]
