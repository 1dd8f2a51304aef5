"""Every route against its own description: no 5xx, no status that is not documented."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from harness import environment
from plastic_memories.settings import load_settings
from plastic_memories.wiring import build_app

# `make fuzz` looks longer.
EXAMPLES = int(os.environ.get("PLASTIC_MEMORIES_FUZZ_EXAMPLES", "5"))
HEADERS = {"X-API-Key": "devkey"}
# No schema knows which templates and time zones there are, what a bundle looks like inside, or
# that one field repeats another.
BEYOND_SCHEMA = {
    "/memory/write",  # the judge has a word to say
    "/import",
    "/persona/create_from_template",
    "/persona/import_card",
    "/persona/delete",
    "/user/erase",
    "/user/settings",
}


@schemathesis.serializer("application/x-ndjson", "application/zip")
def as_it_is(_context: object, value: Any) -> bytes:
    """Send an import as whatever was thought up for it."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


_folder = tempfile.TemporaryDirectory(prefix="plastic-memories-fuzz-")
# It tries wrong keys on every route, and each time expects to be told that they are wrong.
_settings = {"log_level": "ERROR", "wrong_keys_per_minute": "1000000"}
app = build_app(load_settings(environment(Path(_folder.name), **_settings)))
# The proxy answers as its upstream does, and there is none here.
schema = schemathesis.openapi.from_asgi("/openapi.json", app).exclude(
    path=["/v1/chat/completions", "/v1/models"]
)

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
    left_out = [positive_data_acceptance] if case.path in BEYOND_SCHEMA else []
    # A query parameter nobody knows is ignored on purpose, and an import says line by line what
    # it could not read.
    if case.method == "GET" or case.path == "/import":
        left_out.append(negative_data_rejection)

    case.call_and_validate(headers=HEADERS, excluded_checks=left_out)
