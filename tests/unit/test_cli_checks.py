"""`worker --check` and `serve --check`, as a health check calls them."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness import Api, StartHub, StillClock, environment
from plastic_memories.cli.main import main


async def checked(folder: Path, *command: str) -> Result:
    """Run a command beside the hub of this test, which must not stand still meanwhile."""
    env = {**environment(folder), "PLASTIC_MEMORIES_PORT": "1"}
    return await asyncio.to_thread(CliRunner().invoke, main, [*command, "--check"], env=env)


@pytest.mark.parametrize(("seconds_ago", "code"), [(0.0, 0), (600.0, 1)])
async def test_a_job_that_nobody_takes_is_reported(
    start_hub: StartHub, tmp_path: Path, seconds_ago: float, code: int
) -> None:
    clock = StillClock(time.time() - seconds_ago)
    api: Api = await start_hub(clock, worker="off")
    await api.say("叫我小林", session_id="s1")
    await api.did("/sessions/end", session_id="s1")

    done = await checked(tmp_path, "worker")

    assert done.exit_code == code, done.output
    assert ("is a worker running?" in done.output) is bool(code)


async def test_a_hub_that_does_not_answer_is_not_well(tmp_path: Path) -> None:
    done = await checked(tmp_path, "serve")

    assert done.exit_code == 1
    assert "No hub answers at http://127.0.0.1:1" in done.output
