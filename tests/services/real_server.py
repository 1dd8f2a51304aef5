"""Starts a database server for tests: in a folder of its own, never as root, on a free port."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Whom a database server may run as, if the tests run as root: it refuses to be root itself.
_NOBODY = "nobody"
START_S = 30.0


def not_root() -> dict[str, Any]:
    """Return what makes a child process somebody else than root."""
    return {"user": _NOBODY, "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}


@contextmanager
def private_folder() -> Iterator[Path]:
    """A short folder that the server's user owns (the socket's path may not be long)."""
    folder = Path(tempfile.mkdtemp(prefix="pm-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, _NOBODY, "nogroup")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def running_server(
    command: Sequence[str],
    folder: Path,
    answers: Callable[[], bool],
    stop: signal.Signals = signal.SIGTERM,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until the end of the block; enter it when the server answers."""
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **not_root()
        )
    try:
        _wait_until(answers, server, folder / "server.log")
        yield server
    finally:
        server.send_signal(stop)
        try:
            server.wait(START_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait_until(answers: Callable[[], bool], server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_S
    while not answers():
        if server.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"The server does not start:\n{log.read_text(errors='replace')}")
        time.sleep(0.05)
