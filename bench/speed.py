"""Measure the speed of the hub over HTTP, as ratios within one run."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from itertools import islice
from pathlib import Path
from typing import Any

from rich.progress import Progress

from bench.bare_parts import BareParts, bare_parts
from bench.corpus import questions, sentences
from bench.fill import fill
from bench.load import Connection, LoadResult, measure, request_bytes
from bench.server import HEADERS, running

Results = dict[str, Any]
# Requests before the other server has its turn.
_ROUND = 250
# Embedding in the background would be measured as well.
_NO_EMBEDDER = {"EMBEDDER": "none"}


def cold_start(scratch: Path) -> Results:
    """Start on an empty folder: time to the first healthy response, and memory at rest."""
    with running(scratch / "cold") as server:
        seconds = server.start_seconds
    with running(scratch / "cold", **_NO_EMBEDDER) as server:
        memory_mb = server.memory_mb()
    return {"seconds": round(seconds, 3), "idle_memory_mb": round(memory_mb, 1)}


def durable_writes(scratch: Path, number: int) -> Results:
    """Write at concurrency 32: group commits against one commit for each request.

    Two ways to commit each request by itself, both on a connection of its own thread: as most web
    applications do, where SQLite makes the others wait, and with a lock that lets them in in turn.
    The servers take turns, so that other load on the machine affects all of them.
    """
    cases = {
        "grouped": {"WRITE_GROUP": "128"},
        "one_commit_each": {"BACKEND": "one_commit_each"},
        "one_commit_each_in_turn": {"BACKEND": "one_commit_each_in_turn"},
    }
    bodies = _writes(number, "w")
    measured: dict[str, list[LoadResult]] = {name: [] for name in cases}
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(running(scratch / name, **settings, **_NO_EMBEDDER))
            for name, settings in cases.items()
        }
        for server in servers.values():
            _run(server.port, _writes(200, "warm"), 32)
        for start in range(0, number, _ROUND):
            for name, server in servers.items():
                measured[name].append(_run(server.port, bodies[start : start + _ROUND], 32))
    found = {name: _merge_runs(runs).summary() for name, runs in measured.items()}
    for name in cases:
        ratio = found["grouped"]["per_second"] / found[name]["per_second"]
        found[name]["grouped_is_faster"] = round(ratio, 2)
    return found


def batch_append(scratch: Path, number: int) -> Results:
    """Append 100 messages with each request."""
    texts = sentences(3)
    bodies = [
        {
            "persona_id": "p",
            "session_id": f"s{batch % 10}",
            "messages": [{"role": "user", "content": text} for text in islice(texts, 100)],
        }
        for batch in range(number)
    ]
    with running(scratch / "append", **_NO_EMBEDDER) as server:
        requests = [request_bytes("/messages/append", body, HEADERS) for body in bodies]
        measured = _run(server.port, requests, 4)
    return {**measured.summary(), "messages_per_second": round(100 * measured.rate, 1)}


def formation(scratch: Path, number: int) -> Results:
    """Append one message with each request, with formation on and off.

    The two servers take turns, so that other load on the machine affects both.
    """
    bodies = _appends(number)
    measured: dict[str, list[LoadResult]] = {"off": [], "on": []}
    with (
        running(scratch / "formation-off", FORMATION="off", **_NO_EMBEDDER) as off,
        running(scratch / "formation-on", FORMATION="on", **_NO_EMBEDDER) as on,
    ):
        for server in (off, on):
            _run(server.port, bodies[:_ROUND], 4)
        for start in range(0, len(bodies), _ROUND):
            for name, server in (("off", off), ("on", on)):
                measured[name].append(_run(server.port, bodies[start : start + _ROUND], 4))
    found: Results = {name: _median_run(runs) for name, runs in measured.items()}
    found["on"]["p50_ratio"] = round(found["on"]["p50_ms"] / found["off"]["p50_ms"], 2)
    return found


def _merge_runs(runs: list[LoadResult]) -> LoadResult:
    """Return several runs as one."""
    return LoadResult(
        sum(run.seconds for run in runs),
        [latency for run in runs for latency in run.latencies_s],
        sum(run.failures for run in runs),
    )


def _median_run(runs: list[LoadResult]) -> Results:
    """Return the run whose median is the median of all."""
    summaries = sorted((run.summary() for run in runs), key=lambda one: one["p50_ms"])
    return summaries[len(summaries) // 2]


def _appends(number: int) -> list[bytes]:
    return [
        request_bytes(
            "/messages/append",
            {"persona_id": "p", "session_id": f"s{n % 20}", "role": "user", "content": text},
            HEADERS,
        )
        for n, text in enumerate(islice(sentences(4), number))
    ]


def recalls(
    scratch: Path, cases: dict[str, tuple[int, int]], number: int, progress: Progress
) -> Results:
    """Recall one at a time in databases of several sizes; ratios are to the first case."""
    found: Results = {}
    for name, (users, per_user) in cases.items():
        data = scratch / f"recall-{users}-{per_user}"
        data.mkdir(parents=True, exist_ok=True)
        fill(data, users, per_user, progress)
        # Embedding a million memories would take longer than all the rest.
        settings = _NO_EMBEDDER if users > 1 else {}
        with running(data, **settings) as server:
            server.wait_until_ready()
            _run(server.port, _recalls(number // 2, users, seed=1), 1)
            found[name] = _run(server.port, _recalls(number, users, seed=2), 1).summary()
    first = next(iter(found.values()))["p50_ms"]
    for summary in found.values():
        summary["p50_ratio"] = round(summary["p50_ms"] / first, 2)
    return found


def recall_parts(scratch: Path, sizes: dict[str, int], number: int, progress: Progress) -> Results:
    """Compare recall over HTTP with its bare parts, for questions asked the first time.

    In a second round the hub has cached the vectors of the questions: recall without embedding.
    """
    asked = [f"{text} {place}" for place, text in enumerate(islice(questions(5), 2 * number))]
    warm, texts = asked[:number], asked[number:]
    found: Results = {}
    for name, size in sizes.items():
        data = scratch / f"recall-1-{size}"
        data.mkdir(parents=True, exist_ok=True)
        fill(data, 1, size, progress)
        with running(data) as server:
            server.wait_until_ready()
            _run(server.port, _recall_bytes(warm), 1)
            with bare_parts(data, texts) as parts:
                measured = _measure_in_turns(server.port, texts, parts)
            again = _run(server.port, _recall_bytes(texts), 1).summary()
        bare = parts.medians_ms()
        found[name] = {**measured.summary(), "known_p50_ms": again["p50_ms"], "bare_ms": bare}
        found[name]["p50_ratio_to_bare"] = round(found[name]["p50_ms"] / bare["sum"], 2)
    return found


def beside_hostile_texts(scratch: Path, number: int) -> Results:
    """Recall as one user while another recalls texts that are designed to be slow to parse."""
    texts = ("\t" * 31_000, "“" * 31_000, "[a](" * 7_500, "刚" * 31_000, "< " * 15_000)
    hostile = {**HEADERS, "X-User-Id": "hostile"}
    notes = [
        {"persona_id": "p", "type": "note", "key": f"h{key}", "content": f"tea {text} tea"}
        for key, text in enumerate(texts)
    ]
    lines = [{"role": "user", "content": f"tea{chr(10) * 4_000}tea"}] * 20
    said = {"persona_id": "p", "session_id": "s", "messages": lines}
    with running(scratch / "hostile", **_NO_EMBEDDER) as server:
        _run(server.port, [request_bytes("/memory/write", note, hostile) for note in notes], 1)
        _run(server.port, [request_bytes("/messages/append", said, hostile)], 1)
        asked = {"persona_id": "p", "query": "tea “ 刚"}
        theirs = [request_bytes("/memory/recall", asked, hostile)] * number
        measured = asyncio.run(_measure_beside(server.port, _recalls(number, 1, seed=6), theirs))
    return {**measured.summary(), "largest_delay_ms": round(1000 * max(measured.latencies_s), 1)}


async def _measure_beside(port: int, requests: list[bytes], others: list[bytes]) -> LoadResult:
    """Return the latencies of the first requests while the others are running."""
    measured, _ = await asyncio.gather(measure(port, requests, 1), measure(port, others, 2))
    return measured


def _measure_in_turns(port: int, texts: list[str], parts: BareParts) -> LoadResult:
    """Query the hub and the bare parts in turns: other load on the machine affects both."""
    started, latencies = time.perf_counter(), []
    with closing(Connection(port)) as connection:
        for text, request in zip(texts, _recall_bytes(texts), strict=True):
            body, seconds = connection.post(request)
            if b'"ok":true' not in body[:16]:
                raise SystemExit(f"A recall failed: {body[:300]!r}")
            latencies.append(seconds)
            parts.time_question(text)
    return LoadResult(time.perf_counter() - started, latencies)


def _run(port: int, requests: list[bytes], concurrency: int) -> LoadResult:
    measured = asyncio.run(measure(port, requests, concurrency))
    if measured.failures:
        raise SystemExit(f"{measured.failures} of {len(requests)} requests failed.")
    return measured


def _writes(number: int, prefix: str) -> list[bytes]:
    def body(index: int, text: str) -> dict[str, Any]:
        return {"persona_id": "p", "type": "note", "key": f"{prefix}{index}", "content": text}

    return [
        request_bytes("/memory/write", body(index, text), HEADERS)
        for index, text in enumerate(islice(sentences(1), number))
    ]


def _recalls(number: int, users: int, seed: int) -> list[bytes]:
    return _recall_bytes(list(islice(questions(seed), number)), users)


def _recall_bytes(texts: list[str], users: int = 1) -> list[bytes]:
    return [
        request_bytes(
            "/memory/recall",
            {"persona_id": "p", "query": text},
            {**HEADERS, "X-User-Id": f"user{index * 7919 % users}"},
        )
        for index, text in enumerate(texts)
    ]


def run(full: bool, scratch: Path | None, progress: Progress) -> Results:
    """Run every case; `scratch` keeps filled databases from one run to the next."""
    with tempfile.TemporaryDirectory() as temporary:
        place = scratch or Path(temporary)
        number = 4000 if full else 1500
        one_persona = {"1k": (1, 1_000), "10k": (1, 10_000)}
        beside_parts = {"10k": 10_000}
        many_users = {"10k of 100 users": (100, 100), "100k of 1,000 users": (1_000, 100)}
        if full:
            one_persona["100k"] = (1, 100_000)
            beside_parts["100k"] = 100_000
            many_users["1M of 10,000 users"] = (10_000, 100)
        steps: dict[str, Callable[[], Results]] = {
            "cold_start": lambda: cold_start(Path(temporary)),
            "durable_writes": lambda: durable_writes(Path(temporary), number),
            "batch_append": lambda: batch_append(Path(temporary), 100),
            "formation": lambda: formation(Path(temporary), number),
            "recall_one_persona": lambda: recalls(place, one_persona, number // 3, progress),
            "recall_parts": lambda: recall_parts(place, beside_parts, 200, progress),
            "recall_beside_hostile_texts": lambda: beside_hostile_texts(Path(temporary), 100),
            "recall_many_users": lambda: recalls(place, many_users, number // 3, progress),
        }
        results: Results = {}
        task = progress.add_task("speed", total=len(steps))
        for name, step in steps.items():
            progress.update(task, description=name.replace("_", " "))
            results[name] = step()
            progress.advance(task)
        return results
