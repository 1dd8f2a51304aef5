"""Measure the latency that the proxy adds, against direct calls to the same upstream."""

from __future__ import annotations

import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from bench.corpus import questions, sentences
from bench.fill import fill
from bench.load import request_bytes
from bench.server import HEADERS, running

Results = dict[str, Any]
_PATH = "/v1/chat/completions"
_MEMORIES = 10_000
# People and models take their time; messages are stored during this pause.
_PAUSE_S = 0.05


class Caller:
    """One keep-alive connection that records the time of the first and last byte of a body."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def call(self, request: bytes) -> tuple[float, float]:
        """Send a request; return the seconds to the first byte of the body and to the last."""
        started = time.perf_counter()
        self._socket.sendall(request)
        got, first = b"", 0.0
        while not first or not _is_whole(got):
            part = self._socket.recv(65536)
            if not part:
                raise SystemExit("The connection was closed in the middle of an answer.")
            got += part
            if not first and got.partition(b"\r\n\r\n")[2]:
                first = time.perf_counter() - started
        if b" 200 " not in got[:16]:
            raise SystemExit(f"A call failed: {got[:300]!r}")
        return first, time.perf_counter() - started

    def close(self) -> None:
        self._socket.close()


def _is_whole(answer: bytes) -> bool:
    head, _, body = answer.partition(b"\r\n\r\n")
    if b"chunked" in head.lower():
        return body.endswith(b"0\r\n\r\n")
    return len(body) >= int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])


def run(number: int, scratch: Path | None, progress: Progress) -> Results:
    """Call in turns, directly and through hubs with and without an embedder."""
    with tempfile.TemporaryDirectory() as temporary, _upstream() as port:
        data = (scratch or Path(temporary)) / "proxy"
        data.mkdir(parents=True, exist_ok=True)
        fill(data, 1, _MEMORIES, progress)
        upstream = f"http://127.0.0.1:{port}/v1"
        found: Results = {}
        for name, embedder in (("with the default embedder", "auto"), ("without one", "none")):
            with running(data, PROXY_UPSTREAM_URL=upstream, EMBEDDER=embedder) as hub:
                hub.wait_until_ready()
                found[name] = _measured(port, hub.port, number, progress)
    return found


def _measured(direct: int, proxied: int, number: int, progress: Progress) -> Results:
    callers = {"direct": Caller(direct), "proxied": Caller(proxied)}
    taken: dict[tuple[str, str], list[float]] = {}
    task = progress.add_task("proxy", total=number)
    for place, (plain, streamed) in enumerate(_requests(number + 20)):
        for name, caller in callers.items():
            whole = caller.call(plain)[1]
            time.sleep(_PAUSE_S)
            first = caller.call(streamed)[0]
            time.sleep(_PAUSE_S)
            if place >= 20:
                taken.setdefault((name, "call"), []).append(whole)
                taken.setdefault((name, "first_byte"), []).append(first)
        progress.advance(task)
    progress.remove_task(task)
    for caller in callers.values():
        caller.close()
    return {what: _compared(taken, what) for what in ("call", "first_byte")}


def _compared(taken: dict[tuple[str, str], list[float]], what: str) -> Results:
    direct, proxied = (
        1000 * statistics.median(taken[name, what]) for name in ("direct", "proxied")
    )
    return {
        "direct_p50_ms": round(direct, 3),
        "proxied_p50_ms": round(proxied, 3),
        "added_ms": round(proxied - direct, 3),
        "ratio": round(proxied / direct, 1),
    }


def _requests(number: int) -> Iterator[tuple[bytes, bytes]]:
    said = sentences(7)
    for place, question in enumerate(islice(questions(5), number)):
        history = [
            {"role": role, "content": text}
            for role, text in zip(("user", "assistant") * 4, said, strict=False)
        ]
        messages = [
            {"role": "system", "content": "You are kind."},
            *history,
            {"role": "user", "content": question},
        ]
        headers = {**HEADERS, "X-Persona-Id": "p", "X-Session-Id": f"s{place}"}
        for_stream = {**headers, "X-Session-Id": f"t{place}"}
        body = {"model": "m", "messages": messages}
        yield (
            request_bytes(_PATH, body, headers),
            request_bytes(_PATH, {**body, "stream": True}, for_stream),
        )


@contextmanager
def _upstream() -> Iterator[int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with subprocess.Popen([sys.executable, "-m", "bench.upstream", str(port)]) as process:
        try:
            _wait(port)
            yield port
        finally:
            process.terminate()
            process.wait(timeout=10)


def _wait(port: int) -> None:
    until = time.perf_counter() + 20
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.perf_counter() > until:
                raise SystemExit("The upstream did not start.") from None
            time.sleep(0.01)
        else:
            return


def show(console: Console, found: Results) -> None:
    """Print the added latency."""
    table = Table(title=f"Through the proxy, {_MEMORIES:,} memories, p50")
    for heading in ("hub", "measured", "direct", "proxied", "added", "ratio"):
        table.add_column(heading, justify="right" if heading not in ("hub", "measured") else "left")
    for hub, measured in found.items():
        for what, row in measured.items():
            times = [f"{row[f'{name}_p50_ms']:.2f} ms" for name in ("direct", "proxied")]
            added = f"{row['added_ms']:.2f} ms"
            table.add_row(hub, what.replace("_", " "), *times, added, f"{row['ratio']}×")
    console.print(table)
