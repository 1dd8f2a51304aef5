"""The command line against a server in a process of its own."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import pytest
from click.testing import CliRunner, Result

from plastic_memories.cli.main import main

_PROGRAM = [sys.executable, "-m", "plastic_memories.cli"]


@dataclass(frozen=True)
class Machine:
    """A folder that is somebody's home, and the programs that run there."""

    home: Path
    port: int

    @property
    def database(self) -> Path:
        return self.home / ".plastic_memories" / "plastic_memories.db"

    @property
    def env(self) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if "PLASTIC_MEMORIES" not in name}
        return {
            **own,
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "APPDATA": str(self.home),
            "PLASTIC_MEMORIES_DATA_DIR": str(self.home / ".plastic_memories"),
            "PLASTIC_MEMORIES_PORT": str(self.port),
            "PYTHONIOENCODING": "utf-8",
        }

    def run(self, *arguments: str) -> Result:
        cleared = {name: None for name in os.environ if "PLASTIC_MEMORIES" in name}
        return CliRunner().invoke(main, list(arguments), env={**cleared, **self.env})

    def told(self, *arguments: str) -> Any:
        done = self.run(*arguments, "--json")
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    def serve(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*_PROGRAM, "serve", *arguments],
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )


def free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        port: int = asked.getsockname()[1]
        return port


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path, free_port())


def welcome(server: subprocess.Popen[str]) -> list[str]:
    """Read what the server says until it can be used."""
    assert server.stdout is not None
    lines: list[str] = []
    for line in server.stdout:
        lines.append(line.rstrip("\n"))
        if line.startswith("Stop with"):
            return lines
    raise AssertionError("\n".join(lines))


@pytest.fixture
def hub(machine: Machine) -> Iterator[list[str]]:
    """A running hub; what it said when it started."""
    server = machine.serve()
    try:
        yield welcome(server)
    finally:
        server.terminate()
        server.communicate(timeout=20)


@pytest.mark.slow
def test_the_command_that_the_server_shows_works_as_it_stands(
    machine: Machine, hub: list[str]
) -> None:
    (shown,) = [line.strip() for line in hub if "curl" in line]
    key = (machine.home / ".plastic_memories" / "key").read_text(encoding="utf-8").strip()
    assert f"Your API key (kept in {machine.home / '.plastic_memories' / 'key'}): {key}" in "".join(
        hub
    )

    done = subprocess.run(["/bin/sh", "-c", shown], capture_output=True, check=False)

    assert shlex.split(shown)[0] == "curl"
    assert json.loads(done.stdout)["data"]["written"] == 1


@pytest.mark.slow
def test_commands_speak_to_the_running_hub(machine: Machine, hub: list[str]) -> None:
    machine.run("remember", "我对海鲜过敏")

    found = machine.told("recall", "海鲜")
    checks = {check["name"]: check for check in machine.told("doctor")["checks"]}
    log = (machine.home / ".plastic_memories" / "logs" / "plastic_memories.log").read_text("utf-8")

    assert [row["content"] for row in found["PERSONA_MEMORY"]] == ["我对海鲜过敏"]
    assert "is healthy" in checks["hub"]["found"]
    # The server has opened the database; the commands have not.
    assert log.count('"event":"db.init"') == 1


@pytest.mark.slow
def test_a_key_made_on_the_machine_opens_the_running_hub_until_it_is_revoked(
    machine: Machine, hub: list[str]
) -> None:
    made = machine.told("keys", "create", "--user", "bob")

    opened = machine.run("--key", made["key"], "list", "--json")
    machine.run("keys", "revoke", str(made["id"]))
    unknown = machine.run("--key", "wrong", "list", "--json")

    assert json.loads(opened.stdout)["items"] == []
    assert unknown.stderr.strip().endswith("(unauthorized)")
    assert machine.told("keys", "list", "--revoked")["items"][-1]["revoked_at"] is not None


@pytest.mark.slow
def test_a_second_server_on_the_same_port_says_so_in_one_line(
    machine: Machine, hub: list[str]
) -> None:
    second = machine.run("serve")

    assert second.exit_code == 1
    assert "port_in_use" in second.stderr
    assert "The hub of this database runs there already." in second.stderr
    assert "PLASTIC_MEMORIES_PORT" in second.stderr
    assert len(second.stderr.splitlines()) == 1


@pytest.mark.slow
def test_a_second_server_on_the_same_database_says_so_and_goes_on(
    machine: Machine, hub: list[str]
) -> None:
    second = machine.serve("--port", "0")
    try:
        said = welcome(second)
    finally:
        second.terminate()
        second.communicate(timeout=20)

    assert f"Another hub serves {machine.database} already" in said[0]
    assert f":{machine.port};" in said[0]


@pytest.mark.slow
def test_a_server_after_a_killed_one_is_alone(machine: Machine) -> None:
    first = machine.serve()
    welcome(first)
    first.kill()
    first.communicate(timeout=20)

    second = machine.serve()
    try:
        said = welcome(second)
    finally:
        second.terminate()
        second.communicate(timeout=20)

    assert not any("Another hub" in line for line in said)


@pytest.mark.slow
def test_a_foreign_hub_at_the_port_is_named_as_such(
    machine: Machine, hub: list[str], tmp_path: Path
) -> None:
    other = Machine(tmp_path / "other", machine.port)

    refused = other.run("serve")

    assert refused.exit_code == 1
    assert "A foreign hub listens there" in refused.stderr


def test_another_program_at_the_port_is_no_hub(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        machine = Machine(tmp_path, taken.getsockname()[1])

        refused = machine.run("serve")

    assert refused.exit_code == 1
    assert "Another program listens there." in refused.stderr
    assert "PLASTIC_MEMORIES_PORT" in refused.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are other things there")
def test_ctrl_c_ends_the_server_without_a_traceback(machine: Machine) -> None:
    server = machine.serve()
    welcome(server)

    server.send_signal(signal.SIGINT)
    rest, _ = server.communicate(timeout=20)

    assert server.returncode == 0
    assert rest == ""


@pytest.mark.slow
def test_with_json_the_server_names_the_port_it_was_given(machine: Machine) -> None:
    server = machine.serve("--json", "--port", "0")
    assert server.stdout is not None
    try:
        lines = iter(server.stdout.readline, "}\n")
        text = "".join(line for line in lines if "Your API key" not in line) + "}"
        url = json.loads(text)["url"]

        found = machine.told("--url", url, "list")
    finally:
        server.terminate()
        server.communicate(timeout=20)

    assert found["items"] == []
    assert not url.endswith(":0")


@pytest.mark.slow
def test_doctor_finds_a_broken_index_under_a_running_hub(machine: Machine, hub: list[str]) -> None:
    machine.run("remember", "The wifi box is under the stairs")
    db = apsw.Connection(str(machine.database))
    db.execute("DELETE FROM fts_memory_docsize WHERE id = 1")
    db.close()

    sick = machine.run("doctor")
    machine.run("doctor", "--fix")

    assert sick.exit_code == 1
    assert "1 active memories missing from the text index" in sick.stdout
    assert [row["id"] for row in machine.told("recall", "wifi")["PERSONA_MEMORY"]] == [1]
    assert machine.run("doctor").exit_code == 0
