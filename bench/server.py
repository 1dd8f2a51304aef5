"""Start and stop a hub for a measurement."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KEYS = "benchkey:*"
HEADERS = {"X-API-Key": "benchkey", "X-User-Id": "user0"}
_START_LIMIT_S = 60
_BACKLOG_LIMIT_S = 900
# Polling takes processor time from the hub while it gets ready: poll less often over time.
_LOOK_EVERY_S = 0.02
_LOOK_SHARE = 0.02
_LOOK_AT_LEAST_EVERY_S = 0.25
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Server:
    port: int
    pid: int
    start_seconds: float

    def memory_mb(self) -> float:
        """Return the resident memory of the server process."""
        return resident_mb(self.pid)

    def wait_until_ready(self) -> float:
        """Wait until the embedder is loaded and every memory has a vector; return the seconds."""
        started = time.perf_counter()
        while waiting := self._waiting_for():
            passed = time.perf_counter() - started
            if passed > _BACKLOG_LIMIT_S:
                raise StillEmbedding(f"The hub is not ready: {waiting}.")
            time.sleep(min(_LOOK_EVERY_S + _LOOK_SHARE * passed, _LOOK_AT_LEAST_EVERY_S))
        return time.perf_counter() - started

    def get(self, path: str) -> dict[str, Any]:
        """Return the data of a GET response."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=HEADERS)
        with urllib.request.urlopen(request, timeout=60) as answer:
            found: dict[str, Any] = json.load(answer)["data"]
        return found

    def _waiting_for(self) -> str:
        health = self.get("/health")
        if health["components"]["embedder"]["status"] == "loading":
            return "its embedder is loading"
        backlog = health["embedding_backlog"]
        return f"{backlog} entries wait for their vectors" if backlog else ""


class StillEmbedding(SystemExit):
    """The hub did not embed every memory in time."""


class DidNotStart(SystemExit):
    """The hub failed to start, or did not answer in time."""


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process; NaN where the system does not report it."""
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    return float("nan")


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process; NaN where the system does not report it."""
    tasks = Path(f"/proc/{pid}/task")
    if not tasks.exists():
        return float("nan")
    # Nanoseconds for each thread; the process's own sum is in hundredths of a second.
    used = (task / "schedstat" for task in tasks.iterdir())
    return sum(int(one.read_text().split()[0]) for one in used) / 1e9


@contextmanager
def running(data: Path, **settings: str) -> Iterator[Server]:
    """Run a hub on a data folder; settings are given without their prefix."""
    port = _free_port()
    env = {name: value for name, value in os.environ.items() if "PLASTIC_MEMORIES" not in name}
    env |= {"PLASTIC_MEMORIES_API_KEYS": KEYS, "PLASTIC_MEMORIES_DATA_DIR": str(data)}
    env |= {f"PLASTIC_MEMORIES_{name}": value for name, value in settings.items()}
    # The measured backends of this folder are ordinary plug-ins. The source beside it is measured,
    # even if another copy is installed.
    paths = (_HERE, _HERE.parent, _HERE.parent / "src")
    env["PYTHONPATH"] = os.pathsep.join(map(str, paths))
    command = [sys.executable, "-m", "uvicorn", "plastic_memories.api:app", "--port", str(port)]
    command += ["--log-level", "warning", "--no-access-log"]
    started = time.perf_counter()
    with subprocess.Popen(command, env=env) as process:
        try:
            _wait(port, process)
            yield Server(port, process.pid, time.perf_counter() - started)
        finally:
            process.terminate()
            process.wait(timeout=30)


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.perf_counter() + _START_LIMIT_S
    while time.perf_counter() < until:
        if process.poll() is not None:
            raise DidNotStart("The hub did not start; its message stands above.")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.005)
    raise DidNotStart(f"The hub did not answer within {_START_LIMIT_S} seconds.")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
