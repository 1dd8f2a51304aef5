"""Every example in the documents does what it says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from harness import Api, StartHub
from plastic_memories.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
HTTP_FILES = ("docs/requests.http", "examples/requests.http")
READMES = ("README.md", "README.zh-CN.md")
_PRINTED_PORT = "8007"
_EXPECT = re.compile(r"^(?P<path>\S+) (?P<how>=|contains|lacks|exists)(?: (?P<value>.+))?$")
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass
class Example:
    """One request as it stands in a `.http` file."""

    title: str
    expect: list[str] = field(default_factory=list)
    method: str = ""
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""


def examples_of(name: str) -> Iterator[Example]:
    """Read a file as a REST client does: variables, `###` between requests, `#` for comments."""
    text = (ROOT / name).read_text(encoding="utf-8")
    variables = dict(re.findall(r"^@(\w+)\s*=\s*(\S+)\s*$", text, re.MULTILINE))
    for variable, value in variables.items():
        text = text.replace(f"{{{{{variable}}}}}", value)
    for part in re.split(r"^###", text, flags=re.MULTILINE)[1:]:
        yield _example(part)


def _example(part: str) -> Example:
    head, _, body = part.strip().partition("\n\n")
    title, *lines = head.splitlines()
    example = Example(title.strip(), body=body)
    for line in lines:
        if line.startswith("# expect: "):
            example.expect.append(line.removeprefix("# expect: "))
        elif not line.startswith("#") and not example.method:
            example.method, _, example.url = line.partition(" ")
        elif not line.startswith("#"):
            name, _, value = line.partition(":")
            example.headers[name] = value.strip()
    return example


def value_at(answer: httpx.Response, path: str) -> Any:
    """Return what a path such as `data.items[0].key` leads to; None where it leads nowhere."""
    if path in ("status", "body"):
        return answer.status_code if path == "status" else answer.text
    found = answer.json()
    for step in re.findall(r"[^.\[\]]+", path):
        place = int(step) if isinstance(found, list) else step
        try:
            found = found[place]
        except (KeyError, IndexError, TypeError):
            return None
    return found


def holds(found: Any, how: str, value: Any) -> bool:
    if how == "=":
        return bool(found == value)
    if found is None or how == "exists":
        return found is not None
    return (value in found) is (how == "contains")


def check(example: Example, answer: httpx.Response) -> None:
    for wanted in example.expect:
        match = _EXPECT.match(wanted)
        assert match, f"{example.title}: cannot read {wanted!r}"
        found = value_at(answer, match["path"])
        value = json.loads(match["value"]) if match["value"] else None
        told = f"{example.title}: {wanted}, and it was {found!r}\n{answer.text}"
        assert holds(found, match["how"], value), told


@pytest.mark.parametrize("name", HTTP_FILES)
async def test_every_request_gives_what_it_says(name: str, start_hub: StartHub) -> None:
    api: Api = await start_hub(API_KEYS="devkey:userA")

    for example in examples_of(name):
        answer = await api.http.request(
            example.method,
            example.url,
            headers=example.headers,
            content=example.body.encode() or None,
        )

        check(example, answer)


def test_the_examples_of_the_contract_are_all_there() -> None:
    numbers = {example.title[:2] for example in examples_of("docs/requests.http")}

    assert numbers >= {f"E{number}" for number in range(1, 9)}


def test_every_example_says_what_it_expects() -> None:
    examples = list(examples_of("docs/requests.http"))

    assert len(examples) > 40
    assert all(example.expect and example.method and example.url for example in examples)


@contextmanager
def first_start(home: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Start the hub as a new user does, on a port of its own; yield the port and an environment.

    The data folder is the default one: the home folder is a new one.
    """
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("PLASTIC_")}
    env = {**inherited, "HOME": str(home), "USERPROFILE": str(home), "APPDATA": str(home)}
    env["PYTHONIOENCODING"] = "utf-8"
    program = Path(sys.executable).parent / "plastic-memories"
    # Another hub may run on this machine, so the port is any that is free.
    command = [str(program), "serve", "--port", "0", "--json"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield _port_of(server), env
        finally:
            server.terminate()
            server.communicate(timeout=30)


def _port_of(server: subprocess.Popen[str]) -> str:
    """Wait until the server says where it listens."""
    assert server.stdout is not None
    said = ""
    for line in server.stdout:
        said += line
        try:
            return str(json.loads(said)["url"]).rpartition(":")[2]
        except ValueError:
            continue
    raise AssertionError(f"The server has not started: {said}")


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    with first_start(tmp_path) as started:
        yield started


def blocks(readme: str, language: str, containing: str) -> list[str]:
    text = (ROOT / readme).read_text(encoding="utf-8")
    found = [body for kind, body in _BLOCK.findall(text) if kind == language]
    return [body for body in found if containing in body]


def run(command: list[str], env: dict[str, str]) -> str:
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, timeout=60, check=False, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_printed_port_is_the_default_one() -> None:
    assert str(Settings.model_fields["port"].default) == _PRINTED_PORT


@pytest.mark.parametrize("readme", READMES)
def test_the_sdk_sample_of_the_readme_runs_as_it_stands(
    readme: str, hub: tuple[str, dict[str, str]]
) -> None:
    port, env = hub
    [sample] = blocks(readme, "python", "PlasticMemoriesClient(")

    said = run([sys.executable, "-c", sample.replace(_PRINTED_PORT, port)], env)

    assert all(text in said for text in ("tcmiku", "请用默认中文", "回答工程化"))


@pytest.mark.skipif(not shutil.which("curl"), reason="the commands call curl")
@pytest.mark.parametrize("readme", READMES)
def test_the_first_commands_of_the_readme_work_as_printed(
    readme: str, hub: tuple[str, dict[str, str]]
) -> None:
    port, env = hub
    commands = blocks(readme, "bash", "curl ")

    said = [run(["bash", "-c", text.replace(_PRINTED_PORT, port)], env) for text in commands]

    remembered, recalled = said
    assert json.loads(remembered)["data"]["written"] == 2
    assert "我对海鲜过敏" in recalled


def test_the_sdk_demo_runs(hub: tuple[str, dict[str, str]]) -> None:
    port, env = hub

    said = run([sys.executable, "examples/client_sdk_demo.py", f"http://127.0.0.1:{port}"], env)

    assert "tcmiku" in said
    assert "('Learn Rust', 'done')" in said
