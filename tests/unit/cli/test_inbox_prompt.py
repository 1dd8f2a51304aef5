"""How `inbox` and `forget` take answers from the keyboard."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Run = Callable[..., Result]
Parsed = Callable[[Result], Any]
SLOT = ("remember", "likes tea", "--type", "preferences", "--mkey", "drink")


def test_y_confirms(run: Run, parsed: Parsed) -> None:
    run(*SLOT)

    result = run("inbox", answers="y\n")

    assert result.exit_code == 0, result.output
    assert [row["content"] for row in parsed(run("list", "--json"))["items"]] == ["likes tea"]


def test_a_question_mark_explains_and_asks_again(run: Run, parsed: Parsed) -> None:
    run(*SLOT)

    result = run("inbox", answers="?\nr\n")

    assert result.exit_code == 0, result.output
    assert "it waits; you are asked another time" in result.output
    assert "rejected" in result.output
    assert parsed(run("inbox", "--json"))["items"] == []


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal of POSIX")
@pytest.mark.parametrize("command", [("inbox",), ("forget", "1")], ids=lambda one: one[0])
def test_one_interrupt_ends_the_question(run: Run, tmp_path: Path, command: tuple[str]) -> None:
    run(*SLOT)
    env = {
        **os.environ,
        "HOME": str(tmp_path),
        "PLASTIC_MEMORIES_DATA_DIR": str(tmp_path / "data"),
        "PLASTIC_MEMORIES_PORT": "1",
        "PLASTIC_MEMORIES_EMBEDDER": "none",
        "PYTHONUNBUFFERED": "1",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "plastic_memories.cli", *command],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as asking:
        try:
            assert asking.stdout is not None
            shown = b""
            while not shown.endswith(b": "):  # the end of the question
                piece = os.read(asking.stdout.fileno(), 1)
                assert piece, shown.decode()
                shown += piece
            time.sleep(1)  # the question is shown a moment before its answer is waited for

            asking.send_signal(signal.SIGINT)

            assert asking.wait(timeout=20) == 1
        finally:
            asking.kill()
