"""Whatever is sent to the mem0 door, it answers in mem0's shape and never breaks."""

from __future__ import annotations

import json
import os
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from harness import Api
from mem0_caller import Mem0
from plastic_memories.http.doors.mem0 import hosted, open_source

EXAMPLES = int(os.environ.get("PLASTIC_MEMORIES_FUZZ_EXAMPLES", "8"))
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
ROUTES = sorted(
    (method, route.path)
    for router in (open_source.router, hosted.router)
    for route in router.declared
    for method in route.methods
    if ":path" not in route.path
)

_word = st.text(max_size=8) | st.sampled_from(["userA", "userB", "*", "2026-02-30", "茶", "\ud83c"])
_leaf = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _word
_name = st.sampled_from(
    ["AND", "OR", "NOT", "user_id", "agent_id", "run_id", "created_at", "metadata", "eq", "in",
     "gt", "contains", "role", "content", "memory_id", "text", "x"]
)  # fmt: skip
_value = st.recursive(
    _leaf,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(_name, part, max_size=3),
    max_leaves=8,
)
_fields = [
    "messages", "query", "filters", "user_id", "agent_id", "run_id", "app_id", "metadata", "infer",
    "top_k", "limit", "threshold", "categories", "start_date", "end_date", "timestamp", "text",
    "expiration_date", "memories", "reference_date", "show_expired", "page", "page_size",
]  # fmt: skip
_body = st.dictionaries(st.sampled_from(_fields), _value, max_size=6)
_likely = st.fixed_dictionaries(
    {"messages": st.just("我喜欢绿茶") | _value, "query": st.just("茶") | _word},
    optional={name: _value for name in _fields if name not in ("messages", "query")},
)


def thought_up() -> list[tuple[dict[str, Any], str]]:
    """Return bodies and names, the same every time."""
    found: list[tuple[dict[str, Any], str]] = []

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(_body | _likely, st.from_regex(r"[A-Za-z0-9_-]{1,8}", fullmatch=True))
    def think(body: dict[str, Any], name: str) -> None:
        found.append((body, name))

    think()
    return found


async def test_every_route_answers_whatever_is_sent(api: Api) -> None:
    mem0 = Mem0.of(api)
    for number, (body, name) in enumerate(thought_up()):
        own = await mem0.id_of(f"茶 {name}")
        caller = mem0.with_key(("devkey", "appkey")[number % 2])
        for method, path in ROUTES:
            for memory_id in (own, name):
                place = re.sub(r"\{\w+\}", memory_id, path)
                params = {key: str(value).encode(errors="replace") for key, value in body.items()}

                answer = await caller.send(method, place, content=json.dumps(body), params=params)

                assert answer.status_code < 500, (method, place, body, answer.text)
                assert answer.status_code < 400 or set(answer.json()) == {"detail"}
