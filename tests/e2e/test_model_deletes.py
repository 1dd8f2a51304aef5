"""A model that reads the talk reads a deleted session no more, but for what is left of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fake_model import FakeModel, fake_model
from harness import Api, StartHub, StillClock
from talks import fact, reply

# The rules do not see the allergy in this; a model does.
SAID = "我对芒果一碰就过敏得厉害"


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with fake_model() as running:
        running.says(reply(fact(SAID, "constraint.allergy", "芒果")))
        yield running


@pytest.fixture
async def api(start_hub: StartHub, clock: StillClock, model: FakeModel) -> Api:
    """A hub that asks the model when the test lets it work."""
    opened: Api = await start_hub(
        clock, worker="off", judge="llm", llm_base_url=model.url, llm_model="small"
    )
    return opened


async def work(api: Api) -> None:
    assert api.hub is not None
    await api.hub.work.all_due("w")


async def told(api: Api, *sentences: str) -> list[int]:
    """Say something in a session, and let the model read it."""
    ids = [await api.say(sentence, session_id="s1") for sentence in sentences]
    await api.did("/sessions/end", session_id="s1")
    await work(api)
    return ids


async def quotes(api: Api) -> list[str]:
    found = await api.saw("/memory/list", type="profile", status="active")
    return [row["quote"] for row in found["items"]]


async def test_a_session_that_is_deleted_is_not_read_again(api: Api, model: FakeModel) -> None:
    await told(api, SAID)
    assert await quotes(api) == [SAID]
    asked = len(model.asked)

    done = await api.did("/messages/delete", session_id="s1", all=True)
    await work(api)

    assert (done["deleted"], done["job_id"]) == (1, None)
    assert await api.listed() == []
    assert len(model.asked) == asked


async def test_what_a_branch_keeps_is_read_again(api: Api, model: FakeModel) -> None:
    first, _ = await told(api, SAID, "Nice weather today")
    await api.did("/messages/branch", session_id="s1", from_message_id=first, branch_id="b")

    done = await api.did("/messages/delete", session_id="s1", all=True, keep_branches=["b"])
    await work(api)

    assert done["deleted"] == 1
    assert done["job_id"] is not None
    assert "weather" not in str(model.asked[-1])
    assert await quotes(api) == [SAID]
