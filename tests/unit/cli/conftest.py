"""The command line, in one process with the hub and over a folder of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from plastic_memories.cli.main import main

Run = Callable[..., Result]
Parsed = Callable[[Result], Any]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a command of an installation that lies in `tmp_path`, with no hub running."""
    env = {
        "HOME": str(tmp_path),
        "PLASTIC_MEMORIES_DATA_DIR": str(tmp_path / "data"),
        "PLASTIC_MEMORIES_PORT": "1",
        "PLASTIC_MEMORIES_API_KEYS": None,
        "PLASTIC_MEMORIES_API_KEY": None,
        "PLASTIC_MEMORIES_URL": None,
        "NO_COLOR": "1",
    }

    def invoke(*arguments: str, answers: str | None = None, **more: str) -> Result:
        return CliRunner().invoke(main, list(arguments), input=answers, env={**env, **more})

    return invoke


@pytest.fixture
def parsed() -> Parsed:
    """Return the JSON document that is all of a command's standard output."""

    def parse(result: Result) -> Any:
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return parse
