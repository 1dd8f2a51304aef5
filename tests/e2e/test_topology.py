"""The services of deploy/docker-compose.yaml as processes: the same commands and settings."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="the image is a Linux one"),
]
COMPOSE = Path(__file__).parents[2] / "deploy" / "docker-compose.yaml"
FROM_THE_IMAGE = {"PLASTIC_MEMORIES_DATA_DIR": "/data", "PLASTIC_MEMORIES_HOST": "0.0.0.0"}


def services() -> dict[str, Any]:
    described: dict[str, Any] = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]
    return described


@dataclass
class Machine:
    """Runs what a container would, with the volume in a folder and the port a free one."""

    volume: Path
    port: int
    running: dict[str, subprocess.Popen[bytes]]

    def environment(self, name: str) -> dict[str, str]:
        own = {**FROM_THE_IMAGE, **services()[name]["environment"]}
        here = {key: value.replace("/data", str(self.volume)) for key, value in own.items()}
        if "PLASTIC_MEMORIES_HOST" in services()[name]["environment"]:
            here["PLASTIC_MEMORIES_HOST"] = "127.0.0.1"
        return {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.volume),
            "PLASTIC_MEMORIES_PORT": str(self.port),
            "PLASTIC_MEMORIES_EMBEDDER": "none",
            **here,
        }

    def start(self, name: str) -> None:
        command = services()[name]["command"]
        self.running[name] = subprocess.Popen(
            command, env=self.environment(name), stdout=subprocess.DEVNULL
        )

    def is_healthy(self, name: str) -> bool:
        kind, *command = services()[name]["healthcheck"]["test"]
        assert kind == "CMD"
        done = subprocess.run(
            command, env=self.environment(name), capture_output=True, timeout=30, check=False
        )
        return done.returncode == 0

    def stop(self, name: str) -> bool:
        """Ask it to end; say whether it did so in order."""
        process = self.running.pop(name)
        process.terminate()
        return process.wait(timeout=20) in (0, -signal.SIGTERM)

    def call(self, path: str, **body: Any) -> Any:
        key = (self.volume / "key").read_text(encoding="utf-8").strip()
        url = f"http://127.0.0.1:{self.port}{path}"
        answer = httpx.post(
            url, json={"persona_id": "p1", **body}, headers={"X-API-Key": key}, timeout=30
        )
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    made = Machine(tmp_path, port, {})
    yield made
    for process in made.running.values():
        process.kill()
        process.wait()


def until(machine: Machine, name: str) -> None:
    """Wait as an orchestrator does: by asking the health check again."""
    for _ in range(60):
        if machine.is_healthy(name):
            return
        assert machine.running[name].poll() is None, f"{name} has ended"
    pytest.fail(f"{name} did not become healthy")


def test_hub_and_worker_share_a_volume_and_remember(machine: Machine) -> None:
    machine.start("hub")
    until(machine, "hub")
    machine.start("worker")
    until(machine, "worker")

    machine.call("/messages/append", role="user", content="我对海鲜过敏", session_id="s1")
    machine.call("/sessions/end", session_id="s1")
    for _ in range(200):
        found = machine.call("/memory/recall", query="晚饭推荐什么？")
        if found["PERSONA_MEMORY"]:
            break
    assert any("海鲜" in row["content"] for row in found["PERSONA_MEMORY"])

    assert machine.stop("worker")
    assert machine.stop("hub")
    assert not machine.is_healthy("hub")


def test_the_compose_file_is_valid() -> None:
    docker = shutil.which("docker") or "docker"
    compose = [docker, "compose", "-f", str(COMPOSE), "--profile", "sillytavern", "config", "-q"]
    schema = ["check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(COMPOSE)]
    with_docker = shutil.which("docker") is not None and _runs([docker, "compose", "version"])

    command = compose if with_docker else [sys.executable, "-m", *schema]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


def _runs(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, timeout=60, check=False).returncode == 0


def test_nothing_is_open_to_the_network_and_nothing_has_a_password() -> None:
    for name, service in services().items():
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:"), name
        for variable in service.get("environment", {}):
            assert not any(word in variable for word in ("KEY", "PASSWORD", "SECRET")), name
        assert "healthcheck" in service, name
        assert service["cap_drop"] == ["ALL"], name


def test_the_image_does_not_run_as_root() -> None:
    lines = (COMPOSE.parent / "Dockerfile").read_text(encoding="utf-8").splitlines()

    assert [line.split()[1] for line in lines if line.startswith("USER ")] == ["plastic-memories"]


def test_the_image_is_built_from_what_is_there() -> None:
    root = COMPOSE.parents[1]
    for file in ("Dockerfile", "sillytavern.Dockerfile"):
        lines = (COMPOSE.parent / file).read_text(encoding="utf-8").splitlines()
        copied = [line.split()[1:-1] for line in lines if line.startswith("COPY ")]
        for source in (part for parts in copied for part in parts if not part.startswith("-")):
            if not source.startswith("/"):
                assert (root / source).exists(), f"{file} copies {source}"
