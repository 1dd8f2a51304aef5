"""The metrics before Prometheus's own judge."""

from __future__ import annotations

import asyncio
import shutil
from asyncio.subprocess import PIPE, STDOUT

import pytest

from harness import Api, StartHub

pytestmark = pytest.mark.external
PROMTOOL = shutil.which("promtool")


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is missing: apt-get install prometheus")
async def test_promtool_has_nothing_to_object_to(start_hub: StartHub) -> None:
    assert PROMTOOL is not None
    api: Api = await start_hub(metrics_public="1")
    await api.say("叫我小林", session_id="s1")
    await api.did("/jobs/run", session_id="s1", wait=True)
    await api.recall("怎么称呼我")
    texts = [
        (await api.http.get("/metrics", headers=headers)).content
        for headers in (api.all_headers, {})
    ]

    for text in texts:
        judge = await asyncio.create_subprocess_exec(
            PROMTOOL, "check", "metrics", stdin=PIPE, stdout=PIPE, stderr=STDOUT
        )
        said, _ = await judge.communicate(text)

        assert judge.returncode == 0, said.decode()
