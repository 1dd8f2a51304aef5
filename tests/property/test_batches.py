"""What is written together becomes what it would have become one by one."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness import BASE_URL, Api, StillClock, environment
from plastic_memories import wiring
from plastic_memories.http.app import create_app
from plastic_memories.settings import load_settings

_TEXTS = ("likes green tea", "喜欢绿茶", "爱喝 latte")
_ITEMS = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["fact", "note", "preferences"]),
            "key": st.sampled_from(["drink", "喝的"]),
            "content": st.sampled_from([*_TEXTS, "my password is hunter2!"]),
            "source_type": st.sampled_from(["user_explicit", "imported", "model_inferred"]),
        },
        optional={
            "bot_id": st.just("b1"),
            "idempotency_key": st.just("once"),
            # In the beginning there is the first alone.
            "supersedes_id": st.sampled_from([1, 2, 3]),
        },
    ),
    min_size=3,
    max_size=10,
)


def _item(key: str, **more: Any) -> dict[str, Any]:
    return {"type": "note", "key": key, "content": "likes green tea", **more}


@given(items=_ITEMS)
@example(items=[_item("x"), _item("y", supersedes_id=2)])
@example(items=[_item("x", idempotency_key="once"), _item("y", idempotency_key="once")])
@example(items=[_item("x"), _item("x", content="喜欢绿茶"), _item("y")])
@settings(max_examples=40)
def test_together_as_one_by_one(empty_database: Path, items: list[dict[str, Any]]) -> None:
    async def both() -> None:
        async with _hub(empty_database) as together, _hub(empty_database) as apart:
            written = await together.did("/memory/write", items=items)
            answers = [await apart.post("/memory/write", **item) for item in items]

            told = [one.json()["data"] for one in answers if one.status_code == 200]
            ids = [one["memory_id"] for one in told if one["status"] == "ok"]
            assert [one["memory_id"] for one in written["items"]] == ids
            assert len(written["skipped"]) == len(items) - len(ids)
            assert await _known_to(together) == await _known_to(apart)

    asyncio.run(both())


@asynccontextmanager
async def _hub(empty: Path) -> AsyncIterator[Api]:
    """Open a hub that has one memory, and a clock that stands still."""
    with tempfile.TemporaryDirectory() as folder:
        chosen = load_settings(environment(Path(folder), log_level="ERROR"))
        shutil.copy(empty, chosen.db_path)
        app = create_app(wiring.http_options(chosen), lambda: wiring.open_hub(chosen, StillClock()))
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url=BASE_URL) as http,
        ):
            api = Api(http)
            await api.remember("was here first", "note", key="drink")
            yield api


async def _known_to(api: Api) -> list[Any]:
    """Return every row, what the log says, and what is found by the words."""
    rows = await api.saw("/memory/list", status="all", limit=200, bots="all")
    events = (await api.saw("/audit", limit=200))["items"]
    return [
        rows,
        [(event["id"], event["event"], event["memory_id"]) for event in events],
        [await api.recalled(text, bots="all") for text in _TEXTS],
    ]
