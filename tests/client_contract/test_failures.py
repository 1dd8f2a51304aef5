"""What failures become, and which are tried again."""

from __future__ import annotations

import httpx
import pytest

import plastic_memories_client as sdk
from client_contract.fake_hub import FakeHub, failure
from plastic_memories_client import AsyncPlasticMemoriesClient, PlasticMemoriesClient

CODES = [
    (400, "bad_request", sdk.BadRequest),
    (400, "judge_deny", sdk.JudgeDenied),
    (400, "template_error", sdk.TemplateError),
    (401, "unauthorized", sdk.Unauthorized),
    (403, "forbidden", sdk.Forbidden),
    (404, "not_found", sdk.NotFound),
    (405, "method_not_allowed", sdk.MethodNotAllowed),
    (409, "conflict_requires_supersedes", sdk.NeedsSupersedes),
    (409, "expired", sdk.Expired),
    (409, "conflict", sdk.Conflict),
    (413, "payload_too_large", sdk.PayloadTooLarge),
    (422, "validation_error", sdk.ValidationFailed),
    (429, "rate_limited", sdk.RateLimited),
    (500, "internal_error", sdk.InternalError),
    (503, "unavailable", sdk.Unavailable),
    (409, "a_code_of_tomorrow", sdk.Conflict),
    (418, "a_code_of_tomorrow", sdk.PlasticMemoriesError),
]
BROKEN = [
    httpx.ConnectError("refused"),
    httpx.ReadTimeout("late"),
    httpx.RemoteProtocolError("cut"),
    httpx.Response(502, text="<html>bad gateway</html>"),
    httpx.Response(200, text="<html>another program</html>"),
    failure(503, "unavailable"),
    failure(500, "internal_error"),
    failure(401, "unauthorized"),
    failure(422, "validation_error"),
]


@pytest.mark.parametrize(("status", "code", "kind"), CODES)
def test_every_code_has_its_error(
    hub: FakeHub,
    client: PlasticMemoriesClient,
    status: int,
    code: str,
    kind: type[sdk.PlasticMemoriesClientError],
) -> None:
    hub.says(failure(status, code, {"why": 1}))

    with pytest.raises(sdk.PlasticMemoriesClientError) as caught:
        client.confirm(2)

    error = caught.value
    assert type(error) is kind
    assert (error.code, error.status, error.request_id) == (code, status, "r1")
    assert (error.message, error.detail) == (f"no: {code}", {"why": 1})


def test_a_rate_limit_says_when_to_come_back(hub: FakeHub, client: PlasticMemoriesClient) -> None:
    hub.says(failure(429, "rate_limited", **{"Retry-After": "7"}))

    with pytest.raises(sdk.RateLimited) as caught:
        client.health()

    assert caught.value.retry_after_s == 7


def test_a_gateways_page_is_an_error_too(hub: FakeHub, client: PlasticMemoriesClient) -> None:
    hub.says(httpx.Response(503, text="<html>", headers={"X-Request-Id": "r9"}))

    with pytest.raises(sdk.Unavailable) as caught:
        client.metrics()

    assert caught.value.request_id == "r9"


@pytest.mark.parametrize("problem", BROKEN, ids=lambda problem: type(problem).__name__)
def test_recall_can_fail_open(
    hub: FakeHub, client: PlasticMemoriesClient, problem: httpx.Response | Exception
) -> None:
    hub.says(problem)

    found = client.recall("tea", fail_open=True)

    assert (found.injection_block, found.memory_items) == ("", [])
    assert found.degraded[0].startswith("client: ")


async def test_recall_can_fail_open_in_async_code(
    hub: FakeHub, async_client: AsyncPlasticMemoriesClient
) -> None:
    hub.says(httpx.ReadTimeout("late"))

    found = await async_client.recall("tea", fail_open=True)

    assert (found.injection_block, found.degraded) == ("", ["client: timed_out"])


def test_recall_raises_unless_told_otherwise(hub: FakeHub, client: PlasticMemoriesClient) -> None:
    hub.says(failure(503, "unavailable"))

    with pytest.raises(sdk.Unavailable):
        client.recall("tea")


def test_a_request_that_was_never_sent_is_made_once_more(
    hub: FakeHub, client: PlasticMemoriesClient
) -> None:
    hub.says(httpx.ConnectError("refused"))

    with pytest.raises(sdk.ServerUnreachable, match=r"127\.0\.0\.1:8007 cannot be reached"):
        client.revoke(1)

    assert len(hub.requests) == 2


def test_a_broken_read_is_made_once_more(hub: FakeHub, client: PlasticMemoriesClient) -> None:
    hub.says(httpx.ReadError("cut"))

    with pytest.raises(sdk.ServerUnreachable):
        client.goals()

    assert len(hub.requests) == 2


async def test_a_broken_write_is_never_repeated(
    hub: FakeHub, async_client: AsyncPlasticMemoriesClient
) -> None:
    hub.says(httpx.ReadError("cut"))

    with pytest.raises(sdk.ServerUnreachable):
        await async_client.write_item("note", "k", "c")

    assert len(hub.requests) == 1


def test_too_late_is_said_and_not_repeated(hub: FakeHub, client: PlasticMemoriesClient) -> None:
    hub.says(httpx.ReadTimeout("late"))

    with pytest.raises(sdk.TimedOut, match="in 10 s"):
        client.goals()

    assert len(hub.requests) == 1
