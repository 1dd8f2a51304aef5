"""The envelope on everything; who may knock at the door (contract, section 2)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from harness import BASE_URL, Api, StartHub, enveloped, refused
from plastic_memories.errors import Unavailable
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.ports.storage import Stores

KEY = {"X-API-Key": "devkey"}


async def test_a_body_may_come_in_pieces(api: Api) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        body = {"persona_id": "p1", "type": "note", "key": "k", "content": "我喜欢茶, and cake"}
        whole = json.dumps(body, ensure_ascii=False).encode()
        for start in range(0, len(whole), 7):
            yield whole[start : start + 7]

    answer = await api.http.post("/memory/write", content=pieces(), headers=KEY)

    assert enveloped(answer).json()["data"]["memory_status"] == "active"


async def test_an_unknown_path_is_not_found(api: Api) -> None:
    refused(enveloped(await api.http.get("/nowhere")), 404, "not_found")


@pytest.mark.parametrize("path", ["/memory/list/", "/health/", "/memory", "/%00", "/..%2f"])
async def test_a_path_that_is_nearly_right_is_not_found(api: Api, path: str) -> None:
    answer = await api.http.get(path, params={"persona_id": "p1"}, headers=KEY)

    refused(enveloped(answer), 404, "not_found")


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [("GET", "/memory/write", "POST"), ("POST", "/memory/list", "GET"), ("PUT", "/health", "GET")],
)
async def test_a_wrong_method_keeps_its_allow_header(
    api: Api, method: str, path: str, allow: str
) -> None:
    answer = enveloped(await api.http.request(method, path, headers=KEY))

    refused(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"] == allow


async def test_a_path_that_is_also_part_of_a_pattern_answers_to_the_methods_of_both(
    api: Api,
) -> None:
    fixed = await api.http.post("/v1/memories/search/", headers=KEY, json={"query": "茶"})
    pattern = await api.http.delete("/v1/memories/search/", headers=KEY)
    neither = enveloped(await api.http.patch("/memories/1", headers=KEY))

    assert fixed.status_code == 200
    assert (pattern.status_code, list(pattern.json())) == (404, ["detail"])
    refused(neither, 405, "method_not_allowed")
    assert "HEAD" not in neither.headers["Allow"]


@pytest.mark.parametrize("body", [b"{", b"", b"\xff\xfe", b"[" * 100_000, b"{'a': 1}", b"nul"])
async def test_unreadable_json_is_a_bad_request(api: Api, body: bytes) -> None:
    headers = {**KEY, "Content-Type": "application/json"}
    answer = enveloped(await api.http.post("/memory/write", content=body, headers=headers))

    assert answer.status_code in (400, 422)
    if body:
        refused(answer, 400, "bad_request")


@pytest.mark.parametrize("body", ["[]", '"x"', "1", "null", "{}", '{"persona_id": 1}'])
async def test_json_of_another_shape_is_a_validation_error(api: Api, body: str) -> None:
    headers = {**KEY, "Content-Type": "application/json"}
    for path in ("/memory/write", "/messages/append", "/memory/recall", "/goals/create"):
        answer = enveloped(await api.http.post(path, content=body, headers=headers))
        assert isinstance(refused(answer, 422, "validation_error"), list)


async def test_a_declared_body_over_the_limit_is_too_large(start_hub: StartHub) -> None:
    api = await start_hub(max_body_bytes="1000")

    answer = await api.post("/memory/write", type="fact", key="k", content="x" * 2000)

    refused(answer, 413, "payload_too_large")


async def test_a_chunked_body_over_the_limit_is_too_large(start_hub: StartHub) -> None:
    api = await start_hub(max_body_bytes="1000")

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b"x" * 500

    answer = enveloped(await api.http.post("/memory/write", content=chunks(), headers=KEY))

    refused(answer, 413, "payload_too_large")


async def test_a_body_within_the_limit_may_be_chunked(api: Api) -> None:
    body = {"persona_id": "p1", "type": "fact", "key": "k", "content": "海鲜"}

    async def chunks() -> AsyncIterator[bytes]:
        for byte in json.dumps(body).encode():
            yield bytes([byte])

    headers = {**KEY, "Content-Type": "application/json"}
    answer = await api.http.post("/memory/write", content=chunks(), headers=headers)

    assert answer.status_code == 200
    assert await api.listed() == ["海鲜"]


@pytest.mark.parametrize("path", ["/memory/write", "/import"])
async def test_without_a_key_no_byte_of_the_body_is_read(api: Api, path: str) -> None:
    read: list[bytes] = []

    async def chunks() -> AsyncIterator[bytes]:
        read.append(b"x")
        yield b"x"

    answer = await api.http.post(path, content=chunks())

    refused(answer, 401, "unauthorized")
    assert read == []


SECRET = "hunter2-very-secret"


@pytest.mark.parametrize(
    "fields",
    [
        {"type": SECRET},
        {"confidence": SECRET},
        {"expires_at": SECRET},
        {"scope": SECRET},
        {"tags": [SECRET * 50]},
        {"key": SECRET * 50},
        {"content": SECRET + "\x00"},
        {"metadata": {SECRET + "\x01": 1}},
        {"metadata": {SECRET: "x" * 5000}},
        {"supersedes_id": SECRET},
    ],
)
async def test_a_validation_error_does_not_echo_what_was_sent(
    api: Api, fields: dict[str, Any]
) -> None:
    body = {"type": "fact", "key": "k", "content": "x", **fields}

    one = await api.post("/memory/write", **body)
    many = await api.post("/memory/write", items=[body])

    refused(one, 422, "validation_error")
    assert SECRET not in one.text
    assert SECRET not in many.text


@pytest.mark.parametrize("given", ["my-id_1.2:3", "a" * 128])
async def test_a_request_id_is_echoed(api: Api, given: str) -> None:
    for path in ("/health", "/nowhere", "/persona/list"):
        answer = enveloped(await api.http.get(path, headers={"X-Request-Id": given}))
        assert answer.json()["request_id"] == given


@pytest.mark.parametrize("given", ['"},"x":{"', "a b", "x" * 129, "编号".encode()])
async def test_a_strange_request_id_is_replaced(api: Api, given: str | bytes) -> None:
    answer = enveloped(await api.http.get("/health", headers={"X-Request-Id": given}))

    assert answer.json()["request_id"] not in ("", given)


async def test_a_bug_says_nothing_of_the_inside(api: Api) -> None:
    def broken(_: Stores) -> None:
        raise RuntimeError("column 42 of /secret/path")

    answer = enveloped(await with_storage(api, broken).get("/memory/list"))

    refused(answer, 500, "internal_error")
    assert "secret" not in answer.text


async def test_a_bug_behind_a_path_with_parts_is_in_the_envelope(api: Api) -> None:
    async def broken(*_asgi: object) -> None:
        raise RuntimeError("column 42 of /secret/path")

    routes = api.http._transport.app.router.routes  # type: ignore[attr-defined]
    next(route for route in routes if route.path == "/memories/{memory_id}").app = broken

    answer = enveloped(await api.http.get("/memories/1", headers=KEY))

    refused(answer, 500, "internal_error")
    assert "secret" not in answer.text


async def test_a_storage_that_does_not_answer_is_unavailable(api: Api) -> None:
    def away(_: Stores) -> None:
        raise Unavailable("The database does not answer.")

    answer = enveloped(await with_storage(api, away).get("/memory/list"))

    refused(answer, 503, "unavailable")


class BrokenStorage:
    """Fails every piece of work in its own way."""

    def __init__(self, fail: Callable[[Any], None]) -> None:
        self._fail = fail

    async def read(self, work: Callable[[Stores], Any]) -> Any:
        self._fail(work)

    write = read


def with_storage(api: Api, fail: Callable[[Any], None]) -> Api:
    """Put a broken storage under the list route of a running hub."""
    hub = api.hub
    assert hub is not None
    storage = AuditedStorage(BrokenStorage(fail), hub.storage.sink, hub.storage.clock)  # type: ignore[arg-type]
    object.__setattr__(hub, "browse", type(hub.browse)(storage))
    return api


BAD_HOSTS = ["evil.example", "evil.example:8007", "127.0.0.1.evil.example", "127.0.0.1@evil.com"]
GOOD_HOSTS = ["127.0.0.1:8007", "localhost", "localhost:1", "[::1]:8007", "nas", "10.0.0.7:8007"]


@pytest.mark.parametrize("host", BAD_HOSTS)
async def test_a_foreign_host_is_refused(api: Api, host: str) -> None:
    answer = enveloped(await api.http.get("/persona/list", headers={**KEY, "Host": host}))

    refused(answer, 403, "forbidden")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("X-User-Id", ["ann", "bob"]),
        ("X-User-Id", ["ann", "ann"]),
        ("Host", ["127.0.0.1:8007", "evil.example"]),
        ("X-API-Key", ["devkey", "devkey2"]),
        ("Authorization", ["Bearer devkey", "Bearer devkey2"]),
    ],
)
async def test_a_repeated_header_that_decides_who_calls_is_refused(
    api: Api, name: str, values: list[str]
) -> None:
    key = [] if name in ("X-API-Key", "Authorization") else list(KEY.items())

    answer = await api.http.get(
        "/persona/list", headers=[*key, *((name, value) for value in values)]
    )

    refused(enveloped(answer), 400, "bad_request")
    assert name.lower() in answer.json()["error"]["message"]


async def test_other_headers_may_be_repeated(api: Api) -> None:
    answer = await api.http.get(
        "/persona/list", headers=[*KEY.items(), ("Accept", "a/b"), ("Accept", "c/d")]
    )

    assert answer.status_code == 200


@pytest.mark.parametrize("host", GOOD_HOSTS)
async def test_a_host_of_this_machine_or_network_is_welcome(api: Api, host: str) -> None:
    answer = await api.http.get("/persona/list", headers={**KEY, "Host": host})

    assert answer.status_code == 200


@pytest.mark.parametrize("header", ["Host", "Origin"])
@pytest.mark.parametrize("value", ["[", "[::1", "http://[", "a:b:c", "]", "http://[::1", "null"])
async def test_no_host_or_origin_can_break_the_door(api: Api, header: str, value: str) -> None:
    answer = enveloped(await api.http.get("/persona/list", headers={**KEY, header: value}))

    assert answer.status_code < 500


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1.evil.com"])
async def test_a_foreign_origin_is_refused(api: Api, origin: str) -> None:
    answer = enveloped(await api.http.get("/persona/list", headers={**KEY, "Origin": origin}))

    refused(answer, 403, "forbidden")
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1:8000"])
async def test_a_page_of_this_machine_is_welcome(api: Api, origin: str) -> None:
    preflight = await api.http.options(
        "/memory/write",
        headers={
            "Origin": origin,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "x-api-key,content-type,x-user-id",
        },
    )
    answer = await api.http.get("/persona/list", headers={**KEY, "Origin": origin})

    assert preflight.status_code == 200
    assert preflight.headers["Access-Control-Allow-Origin"] == origin
    assert "x-api-key" in preflight.headers["Access-Control-Allow-Headers"]
    assert answer.headers["Access-Control-Allow-Origin"] == origin


async def test_errors_reach_a_page_of_this_machine(api: Api) -> None:
    origin = {"Origin": "http://localhost:3000"}

    answer = await api.http.get("/persona/list", headers=origin)

    refused(answer, 401, "unauthorized")
    assert answer.headers["Access-Control-Allow-Origin"] == origin["Origin"]


async def test_a_write_from_a_page_of_this_machine_can_be_read_by_it(api: Api) -> None:
    origin = {"Origin": "http://localhost:3000"}
    body = {"persona_id": "p1", "type": "fact", "key": "k", "content": "x"}

    from_page = await api.http.post("/memory/write", json=body, headers={**KEY, **origin})
    from_program = await api.http.post("/memory/write", json=body, headers=KEY)

    assert from_page.headers["Access-Control-Allow-Origin"] == origin["Origin"]
    assert "Access-Control-Allow-Origin" not in from_program.headers


async def test_an_answer_that_may_be_cached_depends_on_the_origin(api: Api) -> None:
    answer = await api.http.get("/persona/list", headers=KEY)

    assert answer.headers["Vary"] == "Origin"


async def test_a_refused_preflight_is_in_the_envelope(api: Api) -> None:
    answer = await api.http.options(
        "/memory/write",
        headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"},
    )

    assert answer.status_code in (400, 403)
    enveloped(answer)


async def test_a_named_origin_and_host_are_welcome(start_hub: StartHub) -> None:
    api = await start_hub(cors_origins="https://app.example", allowed_hosts="memory.example")
    headers = {**KEY, "Host": "memory.example", "Origin": "https://app.example"}

    assert (await api.http.get("/persona/list", headers=headers)).status_code == 200


@pytest.mark.parametrize("path", ["/", "/docs", "/openapi.json", "/health"])
async def test_open_pages_need_no_key(api: Api, path: str) -> None:
    assert (await api.http.get(path)).status_code == 200


async def test_metrics_as_json_are_in_the_envelope(api: Api) -> None:
    await api.remember("x")

    answer = await api.http.get("/metrics", headers={**KEY, "Accept": "application/json"})

    enveloped(answer)


async def test_metrics_speak_prometheus_by_default(api: Api) -> None:
    await api.recall("tea")

    answer = await api.http.get("/metrics", headers=KEY)

    assert answer.headers["Content-Type"].startswith("text/plain")
    for name in ("memory_recall_requests_total", "memory_recall_latency_seconds_bucket"):
        assert name in answer.text
    assert 'memory_recall_count_bucket{le="10.0"}' in answer.text


QUERIES: list[tuple[str, str]] = [
    ("/memory/list", "bot_id"),
    ("/memory/list", "q"),
    ("/memory/get", "bot_id"),
    ("/memory/history", "bot_id"),
    ("/persona/profile", "bot_id"),
    ("/messages/recent", "bot_id"),
    ("/messages/recent", "session_id"),
    ("/goals/list", "persona_id"),
    ("/export", "persona_id"),
    ("/memory/list", "cursor"),
]


@pytest.mark.parametrize("value", ["\x00", "\n", "a\x1fb"])
async def test_no_query_parameter_can_break_a_route(api: Api, value: str) -> None:
    for path, name in QUERIES:
        url = httpx.URL(BASE_URL + path, params={"persona_id": "p1", "memory_id": "1"})
        asked = url.copy_set_param(name, value)
        answer = await api.http.get(asked, headers=KEY)
        assert answer.status_code < 500, (path, name)


@pytest.mark.parametrize("text", ["\\ud800", "\\udfff\\ud800", "\\u0000"])
async def test_broken_characters_are_refused_wherever_they_stand(api: Api, text: str) -> None:
    bodies = [
        '{"persona_id":"p1","type":"fact","key":"k","content":"%s"}',
        '{"persona_id":"p1","type":"fact","key":"%s","content":"x"}',
        '{"persona_id":"%s","type":"fact","key":"k","content":"x"}',
        '{"persona_id":"p1","type":"fact","key":"k","content":"x","metadata":{"a":"%s"}}',
        '{"persona_id":"p1","type":"fact","key":"k","content":"x","metadata":{"%s":1}}',
        '{"persona_id":"p1","type":"fact","key":"k","content":"x","attributes":{"a":["%s"]}}',
        '{"persona_id":"p1","type":"fact","key":"k","content":"x","tags":["%s"]}',
        '{"persona_id":"p1","items":[{"type":"fact","key":"k","content":"%s"}]}',
        '{"persona_id":"p1","messages":[{"role":"user","content":"%s"}]}',
        '{"persona_id":"p1","%s":1,"type":"fact","key":"k","content":"x"}',
    ]
    headers = {**KEY, "Content-Type": "application/json"}
    for body in bodies:
        sent = (body % text).encode()
        answer = enveloped(await api.http.post("/memory/write", content=sent, headers=headers))
        assert answer.status_code in (200, 400, 422), body
