"""How far a request travels: the modules it enters and the calls it makes, in this process.

Needs nothing but `plastic_memories.api`, so that it also measures older checkouts:
`PYTHONPATH=OTHER/src python bench/paths.py`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import threading
from contextlib import AbstractContextManager
from pathlib import Path
from types import FrameType
from typing import Any

_KEY = "bench"
_PERSONA = "p1"
_MEMORIES = 20
_ROUNDS = 20
_WARM_UP_S = 3.0
_SETTINGS = {
    "PLASTIC_MEMORIES_API_KEYS": f"{_KEY}:local",
    "PLASTIC_MEMORIES_EMBEDDER": "none",
    "PLASTIC_MEMORIES_WORKER": "off",
}


class CallCounter(AbstractContextManager["CallCounter"]):
    """Counts the calls of all threads; to resume a coroutine is a call, too."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._counting = False
        self.all_calls = 0
        self.calls = 0
        self.modules: set[str] = set()

    def install(self) -> None:
        """Watch this thread and those that are started from now on."""
        threading.setprofile(self._watch)
        sys.setprofile(self._watch)

    def _watch(self, frame: FrameType, event: str, _argument: Any) -> None:
        if not self._counting or event != "call":
            return
        self.all_calls += 1
        if (file := frame.f_code.co_filename).startswith(self._package):
            self.calls += 1
            self.modules.add(file)

    def __enter__(self) -> CallCounter:
        self.all_calls, self.calls, self.modules = 0, 0, set()
        self._counting = True
        return self

    def __exit__(self, *_error: object) -> None:
        self._counting = False


def measure() -> dict[str, dict[str, int]]:
    """Return for each kind of request its modules, its calls in the package, and all its calls.

    The least of some rounds: what the hub does by itself may fall into any of them.
    """
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(_SETTINGS, PLASTIC_MEMORIES_DATA_DIR=folder)
        return asyncio.run(_measure_requests())


async def _measure_requests() -> dict[str, dict[str, int]]:
    import httpx

    import plastic_memories

    counter = CallCounter(str(Path(plastic_memories.__file__).parent))
    counter.install()
    from plastic_memories.api import app

    transport = httpx.ASGITransport(app)
    headers = {"X-API-Key": _KEY}
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1", headers=headers
        ) as http,
    ):
        for number in range(_MEMORIES):
            await _send(http, *_write(number))
        await asyncio.sleep(_WARM_UP_S)  # bodies and rules are made ready after a start
        rounds: dict[str, list[dict[str, int]]] = {"write": [], "recall": []}
        for number in range(_MEMORIES, _MEMORIES + _ROUNDS):
            for kind, request in (("write", _write(number)), ("recall", _recall())):
                with counter:
                    await _send(http, *request)
                rounds[kind].append(
                    {
                        "modules": len(counter.modules),
                        "calls": counter.calls,
                        "all_calls": counter.all_calls,
                    }
                )
    sys.setprofile(None)
    return {
        kind: {name: min(one[name] for one in found) for name in found[0]}
        for kind, found in rounds.items()
    }


def _write(number: int) -> tuple[str, dict[str, Any]]:
    content = f"Note {number}: the green tea is in cupboard {number}."
    return "/memory/write", {
        "persona_id": _PERSONA,
        "type": "note",
        "key": f"note.{number}",
        "content": content,
    }


def _recall() -> tuple[str, dict[str, Any]]:
    return "/memory/recall", {"persona_id": _PERSONA, "query": "Where is the green tea?"}


async def _send(http: Any, path: str, body: dict[str, Any]) -> None:
    answer = await http.post(path, json=body)
    answer.raise_for_status()


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
