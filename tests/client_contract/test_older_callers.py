"""Callers of the older SDK go on working."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

import plastic_memories_client as sdk
from client_contract.fake_hub import FakeHub, failure
from plastic_memories_client import AsyncPlasticMemoriesClient, PlasticMemoriesClient

DAY = 86400.0
KINDS = ("PlasticMemoriesError", "PlasticMemoriesTransportError", "PlasticMemoriesProtocolError")
P = {"persona_id": "default"}
ASKED = {**P, "source_app": "python_sdk", "query": "tea"}
SNIPPETS = [
    {"id": number, "role": "user", "content": "hi", "ts": number * DAY} for number in (9, 8, 1)
]


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({"top_k": 3}, {"limit": 3}),
        ({"top_k": None}, {}),
        ({"top_k": 3, "limit": 5}, {"limit": 5}),
        ({"include_profile": True, "include_snippets": True}, {}),
        ({"include_profile": False}, {"include": ["memory", "snippets"]}),
        ({"include_snippets": False}, {"include": ["profile", "memory"]}),
        ({"include_snippets": False, "include": ["snippets", "memory"]}, {"include": ["memory"]}),
        ({"top_k_snippets": 2, "snippets_days": 7}, {}),
        ({"filters": {"type": "note"}}, {"types": ["note"]}),
        ({"filters": {"types": ["note", "fact"]}}, {"types": ["note", "fact"]}),
        ({"filters": {"mood": "calm"}, "disable_retry": True}, {}),
        ({"filters": None}, {}),
    ],
)
def test_a_recall_takes_the_older_options(
    hub: FakeHub, client: PlasticMemoriesClient, options: Any, sent: dict[str, Any]
) -> None:
    hub.knows("POST", "/memory/recall", {})

    client.recall("tea", **options)

    assert hub.asked() == {**ASKED, **sent}


async def test_an_async_recall_takes_the_older_options(
    hub: FakeHub, async_client: AsyncPlasticMemoriesClient
) -> None:
    hub.knows("POST", "/memory/recall", {"CHAT_SNIPPETS": SNIPPETS})

    found = await async_client.recall("tea", top_k=3, top_k_snippets=1)

    assert hub.asked() == {**ASKED, "limit": 3}
    assert [snippet.id for snippet in found.chat_snippets] == [9]


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ({"top_k_snippets": 2}, [9, 8]),
        ({"top_k_snippets": 0}, []),
        ({"snippets_days": 7, "now": 10 * DAY}, [9, 8]),
        ({"snippets_days": 1.5, "now": 10 * DAY}, [9]),
        ({"snippets_days": 7}, []),
        ({"top_k_snippets": None, "snippets_days": None}, [9, 8, 1]),
    ],
)
def test_snippets_are_limited_by_number_and_age(
    hub: FakeHub, client: PlasticMemoriesClient, options: Any, ids: list[int]
) -> None:
    hub.knows("POST", "/memory/recall", {"CHAT_SNIPPETS": SNIPPETS})

    found = client.recall("tea", **options)

    assert [snippet.id for snippet in found.chat_snippets] == ids


def test_a_profile_that_is_not_included_is_not_returned(
    hub: FakeHub, client: PlasticMemoriesClient
) -> None:
    hub.knows("POST", "/memory/recall", {"PERSONA_PROFILE": "# 猫", "injection_block": "all"})

    found = client.recall("tea", include_profile=False)

    assert (found.persona_profile, found.injection_block) == ("", "all")


def test_a_recall_without_retry_is_sent_once(hub: FakeHub, client: PlasticMemoriesClient) -> None:
    hub.says(httpx.ConnectError("refused"))

    with pytest.raises(sdk.PlasticMemoriesTransportError):
        client.recall("tea", disable_retry=True)

    assert len(hub.requests) == 1


def test_a_recall_without_retry_fails_open_too(hub: FakeHub, client: PlasticMemoriesClient) -> None:
    hub.says(httpx.ConnectError("refused"))

    found = client.recall("tea", fail_open=True, disable_retry=True, top_k_snippets=2)

    assert (found.injection_block, len(hub.requests)) == ("", 1)


async def test_a_persona_is_created_from_meta(
    hub: FakeHub, client: PlasticMemoriesClient, async_client: AsyncPlasticMemoriesClient
) -> None:
    hub.knows("POST", "/persona/create", {"status": "ok", "created": True})
    meta = {"display_name": "Ava", "description": "Primary"}

    client.persona_create(meta=meta)
    by_sync = hub.asked()
    await async_client.persona_create("p", description="Second", meta=meta)
    by_async = hub.asked()

    assert by_sync == {**P, **meta}
    assert by_async == {"persona_id": "p", "display_name": "Ava", "description": "Second"}


async def test_a_memory_is_forgotten_by_match(
    hub: FakeHub, client: PlasticMemoriesClient, async_client: AsyncPlasticMemoriesClient
) -> None:
    hub.knows("POST", "/memory/forget", {"status": "ok", "deleted": 1})
    match = {"type": "note", "key": "k"}

    client.forget_memory(match=match)
    by_sync = hub.asked()
    await async_client.forget_memory(match=match, never_again=True)
    by_async = hub.asked()

    assert by_sync == {**P, **match}
    assert by_async == {**P, **match, "never_again": True}


async def test_messages_older_than_some_days_are_purged(
    hub: FakeHub, client: PlasticMemoriesClient, async_client: AsyncPlasticMemoriesClient
) -> None:
    hub.knows("POST", "/messages/purge", {"status": "ok", "deleted": 2})

    client.purge_messages(older_than_days=1)
    by_sync = hub.asked()
    await async_client.purge_messages(older_than_days=0)
    by_async = hub.asked()

    assert (by_sync, by_async) == ({**P, "days": 1}, {**P, "days": 0})


def test_a_result_reads_as_a_mapping(hub: FakeHub, client: PlasticMemoriesClient) -> None:
    row = {"id": 7, "type": "note", "key": "k", "mkey": "k", "content": "tea", "mood": "calm"}
    hub.knows("GET", "/memory/list", {"items": [row], "next_cursor": None, "total": 1})

    listed = client.list_memory()

    item = listed["items"][0]
    assert (item["content"], item.get("mkey"), item["mood"]) == ("tea", "k", "calm")
    assert ("items" in listed, "nothing" in listed) == (True, False)
    assert (listed["total"], listed.get("nothing"), listed.get("nothing", 3)) == (1, None, 3)
    assert {**listed}["items"] == dict(listed)["items"] == listed.items
    assert {"items", "next_cursor", "request_id", "total"} == set(listed) == set(listed.keys())
    with pytest.raises(KeyError):
        listed["nothing"]


def test_a_recall_reads_by_the_names_of_the_hub(
    hub: FakeHub, client: PlasticMemoriesClient
) -> None:
    hub.knows("POST", "/memory/recall", {"PERSONA_PROFILE": "# 猫", "injection_block": "all"})

    found = client.recall("tea")

    assert (found["PERSONA_PROFILE"], found["persona_profile"]) == ("# 猫", "# 猫")
    assert found["injection_block"] == "all"


def test_a_result_of_many_batches_reads_as_one(hub: FakeHub, client: PlasticMemoriesClient) -> None:
    hub.knows("POST", "/messages/append", {"message_ids": [1]}, {"message_ids": [2]})

    sent = client.append_messages([{"role": "user", "content": "hi"}] * 101)

    assert sent["message_ids"] == [1, 2]


def test_a_result_is_true_even_if_it_is_empty(hub: FakeHub, client: PlasticMemoriesClient) -> None:
    hub.knows("GET", "/memory/list", {})

    assert client.list_memory()


def test_an_error_of_the_hub_has_the_older_names(
    hub: FakeHub, client: PlasticMemoriesClient
) -> None:
    hub.says(failure(409, "conflict", {"why": 1}))

    with pytest.raises(sdk.PlasticMemoriesError) as caught:
        client.confirm(2)

    error = caught.value
    assert (error.details, error.status_code, error.request_id) == ({"why": 1}, 409, "r1")
    assert (error.code, error.message) == ("conflict", "no: conflict")


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        (httpx.ConnectError("refused"), "PlasticMemoriesTransportError"),
        (httpx.ReadTimeout("late"), "PlasticMemoriesTransportError"),
        (httpx.Response(200, text="<html>"), "PlasticMemoriesProtocolError"),
        (failure(418, "a_code_of_tomorrow"), "PlasticMemoriesError"),
        (failure(400, "judge_deny"), "PlasticMemoriesError"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_each_kind_of_failure_is_caught_by_its_older_class_alone(
    hub: FakeHub, client: PlasticMemoriesClient, problem: httpx.Response | Exception, kind: str
) -> None:
    hub.says(problem)

    with pytest.raises(sdk.PlasticMemoriesClientError) as caught:
        client.health()

    assert [name for name in KINDS if isinstance(caught.value, getattr(sdk, name))] == [kind]
