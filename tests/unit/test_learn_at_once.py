"""What must always be known is learned right after its message, not at the next digest."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from harness import Api, StartHub, StillClock
from plastic_memories.hub.hub import Hub
from plastic_memories.language.reading.always_known import is_always_known, may_tell_always_known
from plastic_memories.model.job import JobStatus, TaskType
from plastic_memories.model.owner import User
from talk_table import SAYING, learned

USER = User("default", "userA")


@pytest.fixture
async def api(start_hub: StartHub, clock: StillClock) -> Api:
    opened: Api = await start_hub(clock, worker="off")
    return opened


def hub_of(api: Api) -> Hub:
    assert api.hub is not None
    return api.hub


async def work(api: Api) -> int:
    return await hub_of(api).job_runner.run_all_due("test")


@pytest.mark.parametrize(
    "said",
    [
        "我对海鲜过敏😭",
        "叫我阿航就行哈哈哈",
        "我生日是5月20号",
        "我每晚十点吃舍曲林",
        "我爸的事以后别问了",
        "别每句都加感叹号行不",
        "到点喊我吃药",
        "im vegan btw",
        "stop ending every msg w a question",
        "i take lithium every night",
    ],
)
async def test_it_is_known_after_one_message(api: Api, said: str) -> None:
    await api.say(said, session_id="s1")

    await work(api)

    assert len(await api.listed(type="profile")) == 1


async def test_the_rest_waits_for_the_digest(api: Api) -> None:
    await api.say("我喜欢爬山", session_id="s1")

    await work(api)

    assert await api.listed() == []


async def test_chatter_opens_no_job(api: Api) -> None:
    await api.say("哈哈哈哈", session_id="s1")

    assert await work(api) == 0


async def test_the_digest_changes_nothing_twice(api: Api) -> None:
    await api.say("我对海鲜过敏", session_id="s1")
    await work(api)
    before = (await api.saw("/memory/list", type="profile", status="all"))["items"]

    await api.did("/jobs/run", session_id="s1", wait=True)

    assert (await api.saw("/memory/list", type="profile", status="all"))["items"] == before


async def test_a_job_that_runs_twice_changes_nothing(api: Api, clock: StillClock) -> None:
    await api.say("叫我阿航就行", session_id="s1")
    await work(api)
    before = (await api.saw("/memory/list", type="profile", status="all"))["items"]

    jobs = hub_of(api).jobs
    [job] = await jobs.find(USER, None, 10)
    again = replace(job, id=0, status=JobStatus.PENDING, next_try_at=clock.at, lease_owner="")
    await jobs.storage.write(lambda stores: stores.jobs.open(again))
    await work(api)

    assert (await api.saw("/memory/list", type="profile", status="all"))["items"] == before


async def test_what_is_said_while_the_job_runs_is_read_by_the_next_one(
    api: Api, clock: StillClock
) -> None:
    await api.say("我对海鲜过敏", session_id="s1")
    jobs = hub_of(api).jobs
    leased = await jobs.lease("slow", TaskType.PROFILE)
    assert leased is not None
    clock.at += 1
    await api.say("叫我阿航就行", session_id="s1")
    await jobs.release(leased)

    await work(api)

    keys = {row["key"] for row in (await api.saw("/memory/list", type="profile"))["items"]}
    assert keys == {"constraint.allergy.seafood", "basic_info.address"}


async def test_a_message_deleted_before_the_job_ran_teaches_nothing(api: Api) -> None:
    said = await api.say("我对海鲜过敏", session_id="s1")
    await api.did("/messages/delete", message_id=said)

    await work(api)

    assert await api.listed() == []


async def test_an_answer_is_read_with_its_question(api: Api) -> None:
    turns = [
        {"role": "assistant", "content": "你叫什么名字？"},
        {"role": "user", "content": "我叫江晚"},
    ]
    await api.did("/messages/append", messages=turns, session_id="s1")

    await work(api)

    assert await api.listed(type="profile") == ["我叫江晚"]


async def test_the_worker_of_the_server_learns_it_by_itself(start_hub: StartHub) -> None:
    api: Api = await start_hub()
    hub = hub_of(api)

    async with asyncio.timeout(20), hub.storage.sink.listen(USER) as events:
        await api.say("我对海鲜过敏😭", session_id="s1")
        async for event in events:
            if event.event == "memory.write":
                break

    assert await api.listed(type="profile") == ["我对海鲜过敏"]


def test_no_sentence_that_tells_it_is_passed_over() -> None:
    passed_over = [
        sentence
        for sentence in SAYING
        if any(is_always_known(draft.key) for draft in learned(sentence))
        and not may_tell_always_known(sentence)
    ]

    assert passed_over == []
