"""A language model behind the jobs: what it finds is kept, and while it is gone nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fake_model import FakeModel, Says, fake_model
from harness import Api, StartHub, StillClock
from talks import fact, reply

SAID = "我对芒果一碰就过敏得厉害"


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with fake_model() as running:
        yield running


async def talked(start_hub: StartHub, clock: StillClock, model: FakeModel) -> Api:
    """Open a hub that asks the model, and leave a conversation that has ended."""
    api: Api = await start_hub(
        clock, worker="off", judge="llm", llm_base_url=model.url, llm_model="small"
    )
    await api.say(SAID, session_id="s1")
    await api.say("叫我 tcmiku", session_id="s1")
    await api.did("/sessions/end", session_id="s1")
    return api


async def test_what_the_model_finds_is_kept_with_its_words(
    start_hub: StartHub, clock: StillClock, model: FakeModel
) -> None:
    model.says(reply(fact(SAID, "constraint.allergy", "芒果")))
    api = await talked(start_hub, clock, model)
    assert api.hub is not None

    await api.hub.job_runner.run_all_due("w")

    rows = (await api.saw("/memory/list", type="profile", status="all"))["items"]
    assert {row["quote"] for row in rows} >= {SAID, "叫我 tcmiku"}
    assert "芒果" in (await api.recall("吃什么水果"))["injection_block"]


async def test_while_the_model_is_gone_the_rules_serve_and_the_job_waits(
    start_hub: StartHub, clock: StillClock, model: FakeModel
) -> None:
    model.says(Says(status=500, body=b"down"))
    api = await talked(start_hub, clock, model)
    assert api.hub is not None
    await api.hub.job_runner.run_all_due("w")
    assert "叫我 tcmiku" in await api.listed(type="profile")
    [failed] = (await api.saw("/jobs", status="failed"))["items"]
    assert failed["retry_count"] == 0  # an outage is no attempt

    model.says(reply(fact(SAID, "constraint.allergy", "芒果")))
    clock.at += 3600
    await api.hub.job_runner.run_all_due("w")

    rows = (await api.saw("/memory/list", type="profile", status="all"))["items"]
    assert SAID in {row["quote"] for row in rows}
    assert len([row for row in rows if row["quote"] == "叫我 tcmiku"]) == 1
    assert (await api.saw("/jobs", status="failed"))["items"] == []
