"""Every route against its own description: no 5xx, no status that is not documented."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from harness import environment
from plastic_memories.settings import load
from plastic_memories.wiring import build_app

# `make fuzz` looks longer.
EXAMPLES = int(os.environ.get("PLASTIC_MEMORIES_FUZZ_EXAMPLES", "8"))
HEADERS = {"X-API-Key": "devkey"}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
]

_folder = tempfile.TemporaryDirectory(prefix="plastic-memories-fuzz-")
app = build_app(load(environment(Path(_folder.name), log_level="ERROR")))
schema = schemathesis.openapi.from_asgi("/openapi.json", app)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_route_keeps_its_word(case: Case) -> None:
    case.call_and_validate(headers=HEADERS, checks=CHECKS)


@schema.parametrize()
@settings(max_examples=1, deadline=None, suppress_health_check=list(HealthCheck))
def test_without_a_key_every_route_but_the_open_ones_is_closed(case: Case) -> None:
    answer = case.call(headers={})

    if case.path == "/health":
        assert answer.status_code == 200
    else:
        assert answer.status_code == 401
