"""A small HTTP load generator: keep-alive connections, one request after another on each."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class LoadResult:
    """Latencies of a run of requests."""

    seconds: float
    latencies_s: list[float] = field(repr=False)
    failures: int = 0

    @property
    def rate(self) -> float:
        return len(self.latencies_s) / self.seconds

    def percentile_ms(self, share: float) -> float:
        ordered = sorted(self.latencies_s)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    def summary(self) -> dict[str, float]:
        return {
            "requests": len(self.latencies_s),
            "failures": self.failures,
            "per_second": round(self.rate, 1),
            "p50_ms": round(self.percentile_ms(0.50), 3),
            "p95_ms": round(self.percentile_ms(0.95), 3),
            "p99_ms": round(self.percentile_ms(0.99), 3),
        }


def request_bytes(path: str, body: Any, headers: dict[str, str]) -> bytes:
    """Return one POST request as bytes."""
    payload = json.dumps(body, ensure_ascii=False).encode()
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines += [f"Content-Length: {len(payload)}", "", ""]
    return "\r\n".join(lines).encode() + payload


class Connection:
    """One keep-alive connection, used by one caller that waits for every response."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=300)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answers = self._socket.makefile("rb")

    def post(self, request: bytes) -> tuple[bytes, float]:
        """Send a request; return the body of its response, and the seconds until it arrived."""
        started = time.perf_counter()
        self._socket.sendall(request)
        length = 0
        while (line := self._answers.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        body = self._answers.read(length)
        return body, time.perf_counter() - started

    def close(self) -> None:
        self._answers.close()
        self._socket.close()


async def measure(port: int, requests: list[bytes], concurrency: int) -> LoadResult:
    """Send all requests over `concurrency` connections and time each."""
    waiting = iter(requests)
    latencies: list[float] = []
    failures = [0]
    started = time.perf_counter()
    await asyncio.gather(
        *(_connection(port, waiting, latencies, failures) for _ in range(concurrency))
    )
    return LoadResult(time.perf_counter() - started, latencies, failures[0])


async def _connection(
    port: int, waiting: Iterator[bytes], latencies: list[float], failures: list[int]
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
    for request in waiting:
        before = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        latencies.append(time.perf_counter() - before)
        if b" 200 " not in head[:16]:
            failures[0] += 1
    writer.close()
    await writer.wait_closed()
