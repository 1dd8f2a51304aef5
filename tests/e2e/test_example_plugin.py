"""A stranger's plug-in is installed, chosen by its name, and used; an unknown name is refused."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from plastic_memories.errors import InvalidSetting
from plastic_memories.settings import load_settings
from plastic_memories.wiring import build_app

PLUGIN = Path(__file__).resolve().parents[2] / "examples" / "plugin"
PYTHON = [sys.executable, "-W", "error"]
UVICORN = [*PYTHON, "-m", "uvicorn", "plastic_memories.api:app", "--port", "0"]
SERVE_CODE = "import sys; from plastic_memories.cli.main import main; main(sys.argv[1:])"
STARTS = {"uvicorn": UVICORN, "serve": [*PYTHON, "-c", SERVE_CODE, "serve", "--port", "0"]}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the example as a user would, into a folder of its own."""
    target = tmp_path_factory.mktemp("plugin")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-cache-dir"]
    if importlib.util.find_spec("hatchling"):
        command.append("--no-build-isolation")  # needs no network
    subprocess.run([*command, "--target", str(target), str(PLUGIN)], check=True, timeout=300)
    return target


@pytest.fixture
def hub(installed: Path, tmp_path: Path) -> Iterator[httpx.Client]:
    """Start a hub that has chosen the plug-in; give a client of it."""
    environment = _environment(tmp_path, installed, PROFILE="plain")
    process = subprocess.Popen(
        UVICORN, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    try:
        base_url = _address(process)
        with httpx.Client(base_url=base_url, headers={"X-API-Key": "devkey"}) as client:
            yield client
    finally:
        process.terminate()
        process.communicate(timeout=30)


@pytest.mark.timeout(300)
def test_an_installed_plugin_is_used_by_its_name(hub: httpx.Client) -> None:
    _post(hub, "/persona/create", persona_id="p1", display_name="小雨")
    _post(hub, "/memory/write", persona_id="p1", type="rule", key="r1", content="Be kind.")

    capabilities = _data(hub.get("/capabilities"))
    profile = _data(hub.get("/persona/profile", params={"persona_id": "p1"}))
    recalled = _post(hub, "/memory/recall", persona_id="p1", query="")

    assert capabilities["plugged_in"]["profile"] == "plain"
    assert profile["profile_markdown"] == "小雨\nBe kind."
    assert recalled["PERSONA_PROFILE"] == "小雨\nBe kind."


@pytest.mark.timeout(300)
def test_the_plugin_keeps_the_published_contract(installed: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(PLUGIN)]

    done = subprocess.run(
        command,
        env=_environment(tmp_path, installed),
        cwd=PLUGIN,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stdout


@pytest.mark.timeout(300)
@pytest.mark.parametrize("start", STARTS)
def test_an_unknown_name_stops_the_start_with_one_clear_line(
    installed: Path, tmp_path: Path, start: str
) -> None:
    done = _failed_start(STARTS[start], _environment(tmp_path, installed, PROFILE="plane"))

    [line] = done.stderr.strip().splitlines()
    assert "PLASTIC_MEMORIES_PROFILE" in line
    assert "'plane'" in line
    assert "markdown, plain" in line


@pytest.mark.parametrize("port", ["BACKEND", "RECALL", "JUDGE", "SENSITIVE", "EVENTS"])
def test_every_port_refuses_an_unknown_name(tmp_path: Path, port: str) -> None:
    with pytest.raises(InvalidSetting, match=f"PLASTIC_MEMORIES_{port}='nonsense'"):
        build_app(load_settings(_environment(tmp_path, **{port: "nonsense"})))


def _environment(folder: Path, installed: Path | None = None, **settings: str) -> dict[str, str]:
    """Return an environment without anything of the machine this runs on."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    return {
        **kept,
        "HOME": str(folder),
        "PYTHONPATH": str(installed or ""),
        "PLASTIC_MEMORIES_DATA_DIR": str(folder / "data"),
        "PLASTIC_MEMORIES_API_KEYS": "devkey:lin",
        **{f"PLASTIC_MEMORIES_{name}": value for name, value in settings.items()},
    }


def _failed_start(
    command: list[str], environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode != 0, done.stdout
    return done


def _address(process: subprocess.Popen[str]) -> str:
    """Read the log until the server says where it listens; the system chose the port."""
    assert process.stderr
    said = []
    for line in process.stderr:
        said.append(line)
        if match := re.search(r"running on (http://\S+)", line):
            return match[1]
    raise AssertionError("".join(said))


def _post(hub: httpx.Client, path: str, **body: Any) -> Any:
    return _data(hub.post(path, json=body))


def _data(response: httpx.Response) -> Any:
    assert response.status_code == 200, response.text
    return response.json()["data"]
