"""The optional SillyTavern of deploy/docker-compose.yaml, started as its container would be."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml

pytestmark = [pytest.mark.external, pytest.mark.timeout(240)]
ROOT = Path(__file__).parents[2]
SERVICE = yaml.safe_load((ROOT / "deploy" / "docker-compose.yaml").read_text("utf-8"))["services"][
    "sillytavern"
]


@pytest.fixture
def address(clients: Path, tmp_path: Path) -> Iterator[str]:
    """Where the started service listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    env = {
        **os.environ,
        **SERVICE["environment"],
        "DATA": str(tmp_path),
        "EXTENSION": str(ROOT / "integrations" / "sillytavern"),
        "PROGRAM": str(clients / "sillytavern" / "node_modules" / "sillytavern"),
        "PORT": str(port),
        # A test opens nothing to the network.
        "SILLYTAVERN_LISTENADDRESS_IPV4": "127.0.0.1",
    }
    process = subprocess.Popen(
        ["sh", str(ROOT / "deploy" / "sillytavern.sh")],
        env=env,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    yield f"http://127.0.0.1:{port}"
    os.killpg(process.pid, signal.SIGTERM)
    process.wait(timeout=20)


def is_healthy(address: str) -> bool:
    _, *command = SERVICE["healthcheck"]["test"]
    here = [part.replace("http://127.0.0.1:8000", address) for part in command]
    return subprocess.run(here, timeout=30, check=False).returncode == 0


def test_it_becomes_healthy_with_the_extension_in_place(address: str) -> None:
    until = time.monotonic() + 180
    while not is_healthy(address):
        assert time.monotonic() < until, "SillyTavern did not become healthy"

    found = httpx.get(f"{address}/api/extensions/discover", timeout=30).json()

    assert "third-party/plastic-memories" in {extension["name"] for extension in found}
