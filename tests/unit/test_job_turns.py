"""Jobs of several users take turns, and several run at once where they wait for a model."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from harness import Api, StartHub, StillClock
from plastic_memories.hub.hub import Hub
from plastic_memories.model.formation import Proposal, TalkWindow
from plastic_memories.model.job import JobStatus, TaskType, Trigger
from plastic_memories.model.owner import User


@dataclass
class SlowModel:
    """A model that answers when the test says so, and notes whom it reads."""

    may_answer: asyncio.Event = field(default_factory=asyncio.Event)
    read: list[str] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    async def propose(self, window: TalkWindow) -> Proposal:
        self.read.append(window.owner.user_id)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await self.may_answer.wait()
        self.at_once -= 1
        return Proposal()


def with_model(hub: Hub, model: SlowModel) -> Hub:
    digest = replace(hub.job_runner.digest, extractor=model)
    return replace(hub, job_runner=replace(hub.job_runner, digest=digest))


@pytest.fixture
async def api(start_hub: StartHub, clock: StillClock) -> Api:
    opened: Api = await start_hub(clock, worker="off")
    return opened


async def end_sessions(api: Api, count: int) -> Hub:
    for number in range(count):
        await api.say("嗯", session_id=f"s{number}")
        await api.did("/sessions/end", session_id=f"s{number}")
    assert api.hub is not None
    return api.hub


async def test_a_user_with_many_jobs_does_not_keep_another_waiting(
    api: Api, clock: StillClock
) -> None:
    await end_sessions(api, 30)
    clock.at += 5
    hub = await end_sessions(api.as_("devkey2"), 2)

    leased = [await hub.jobs.lease("w") for _ in range(4)]

    users = [job.owner.user_id for job in leased if job is not None]
    assert sorted(users[:2]) == sorted(users[2:]) == ["userA", "userB"]


async def until_read(model: SlowModel, count: int) -> None:
    async with asyncio.timeout(20):
        while len(model.read) < count:  # noqa: ASYNC110 - the model is polled, not changed
            await asyncio.sleep(0.01)


async def test_jobs_that_wait_for_a_model_run_at_the_same_time(api: Api) -> None:
    model = SlowModel()
    hub = with_model(await end_sessions(api, 6), model)

    work = asyncio.create_task(hub.job_runner.run_all_due("w"))
    await until_read(model, 4)
    await asyncio.sleep(0.2)
    assert len(model.read) == 4  # the default of PLASTIC_MEMORIES_JOB_CONCURRENCY
    model.may_answer.set()
    await work

    assert (len(model.read), model.most_at_once) == (6, 4)
    assert await hub.jobs.find(User("default", "userA"), JobStatus.FAILED, 50) == []


async def test_a_job_that_comes_while_others_wait_for_the_model_is_begun(api: Api) -> None:
    model = SlowModel()
    hub = with_model(await end_sessions(api, 1), model)
    work = asyncio.create_task(hub.job_runner.run_all_due("w"))
    await until_read(model, 1)

    await end_sessions(api.as_("devkey2"), 1)
    await until_read(model, 2)

    assert model.read == ["userA", "userB"]
    model.may_answer.set()
    await work


async def test_jobs_of_one_session_never_run_at_the_same_time(api: Api, clock: StillClock) -> None:
    hub = await end_sessions(api, 1)
    user = User("default", "userA")
    [digest] = await hub.jobs.find(user, None, 50)
    archiving = replace(digest, id=0, task_type=TaskType.ARCHIVE, trigger=Trigger.IDLE)
    archiving = await hub.storage.write(lambda stores: stores.jobs.open(archiving))

    first = await hub.jobs.lease("one")
    second = await hub.jobs.lease("two")
    by_caller = [await hub.jobs.lease_job("three", job) for job in (digest, archiving)]

    assert first is not None
    assert (second, *by_caller) == (None, None, None)


async def test_a_worker_that_stops_returns_all_its_jobs(api: Api) -> None:
    model = SlowModel()
    hub = with_model(await end_sessions(api, 3), model)
    work = asyncio.create_task(hub.job_runner.run_all_due("w"))
    await until_read(model, 3)

    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work

    left = await hub.jobs.find(User("default", "userA"), None, 50)
    assert {(job.status, job.retry_count) for job in left} == {(JobStatus.PENDING, 0)}
