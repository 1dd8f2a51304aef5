"""Jobs that fail are tried again, given up and replayed; talk may change meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from harness import Api, StartHub, StillClock
from plastic_memories.errors import Conflict, Unavailable
from plastic_memories.hub.formation.jobs import complete_job
from plastic_memories.hub.hub import Hub
from plastic_memories.model.formation import Proposal, Summary, TalkWindow
from plastic_memories.model.job import Job, JobStatus, TaskType, Trigger
from plastic_memories.model.memory import Draft, MemoryType, SourceType
from plastic_memories.model.owner import User

USER = User("default", "userA")


@dataclass
class Model:
    """An extractor that does what the test says."""

    answer: Callable[[TalkWindow], Proposal]
    asked: list[TalkWindow] = field(default_factory=list)

    async def propose(self, window: TalkWindow) -> Proposal:
        self.asked.append(window)
        return self.answer(window)


def with_model(hub: Hub, model: Model) -> Hub:
    """Return the hub with a model behind its jobs."""
    digest = replace(hub.job_runner.digest, extractor=model)
    return replace(hub, job_runner=replace(hub.job_runner, digest=digest))


def gone(_: TalkWindow) -> Proposal:
    raise Unavailable("The model does not answer.")


def refusing(_: TalkWindow) -> Proposal:
    raise Unavailable("The model answered with status 400.", {"status": 400, "refused": True})


@pytest.fixture
async def api(start_hub: StartHub, clock: StillClock) -> Api:
    opened: Api = await start_hub(clock, worker="off")
    return opened


async def waiting(api: Api, *said: str, read_at_once: bool = True) -> Hub:
    """Say something in a session that ends, and return its hub."""
    assert api.hub is not None
    for content in said:
        await api.say(content, session_id="s1")
    if read_at_once:
        await api.hub.job_runner.run_all_due("light")
    await api.did("/sessions/end", session_id="s1")
    return api.hub


async def jobs(hub: Hub, status: JobStatus | None = None) -> list[Job]:
    """Return the jobs, without the light ones that read what must always be known."""
    found = await hub.jobs.find(USER, status, 50)
    return [job for job in found if job.task_type is not TaskType.PROFILE]


async def test_what_the_model_adds_is_written_by_the_same_rules(api: Api) -> None:
    def answer(window: TalkWindow) -> Proposal:
        [message] = window.messages
        inferred = Draft(
            type=MemoryType.PROFILE,
            key="personality.shy",
            content="有点害羞",
            source_type=SourceType.MODEL_INFERRED,
            source_message_ids=(message.id,),
            quote="我海鲜过敏",
        )
        return Proposal(drafts=(inferred,), summary=Summary("谈到过敏。", ("健康",), "neutral"))

    hub = with_model(await waiting(api, "我海鲜过敏"), Model(answer))

    await hub.job_runner.run_all_due("w")

    assert await api.listed(type="profile") == ["我海鲜过敏"]
    assert await api.listed("candidate") == ["有点害羞"]
    [summary] = (await api.saw("/memory/list", type="summary"))["items"]
    assert (summary["content"], summary["status"]) == ("谈到过敏。", "active")
    assert summary["attributes"]["topics"] == ["健康"]


async def test_the_model_is_told_what_it_needs(api: Api) -> None:
    await api.did("/user/settings", time_zone="Asia/Shanghai")
    await api.did("/persona/create", display_name="小忆")
    model = Model(lambda _: Proposal())
    hub = with_model(await waiting(api, "我海鲜过敏"), model)

    await hub.job_runner.run_all_due("w")

    [window] = model.asked
    assert (window.persona_name, window.time_zone, window.language) == (
        "小忆",
        "Asia/Shanghai",
        "zh",
    )


async def test_the_rules_serve_until_the_model_can_be_asked(api: Api, clock: StillClock) -> None:
    model = Model(gone)
    hub = with_model(await waiting(api, "我海鲜过敏"), model)
    await hub.job_runner.run_all_due("w")

    [job] = await jobs(hub)
    assert (job.status, job.retry_count) == (JobStatus.FAILED, 0)
    assert job.error_message == "The model does not answer."
    assert await api.listed(type="profile") == ["我海鲜过敏"]
    assert await hub.job_runner.run_all_due("w") == 0  # not before its time

    model.answer = lambda _: Proposal()
    clock.at += 60
    await hub.job_runner.run_all_due("w")

    assert {job.status for job in await jobs(hub)} == {JobStatus.COMPLETED}
    assert await api.listed("all", type="profile") == ["我海鲜过敏"]


async def test_a_job_that_always_fails_is_given_up_and_replayed(
    api: Api, clock: StillClock
) -> None:
    model = Model(refusing)
    hub = with_model(await waiting(api, "我海鲜过敏"), model)
    for _ in range(4):
        await hub.job_runner.run_all_due("w")
        clock.at += 3600
    [dead] = (await api.saw("/jobs", status="dead"))["items"]
    assert (len(model.asked), dead["retry_count"], dead["max_retries"]) == (4, 3, 3)
    assert await hub.jobs.queue_idle_sessions() == 0  # given up until something new is said

    replayed = await api.did("/jobs/replay", job_id=dead["task_id"])
    model.answer = lambda _: Proposal()
    await hub.job_runner.run_all_due("w")

    assert replayed["replayed"] == 1
    assert (await api.saw("/jobs", status="dead"))["items"] == []


async def test_after_a_job_was_given_up_the_next_full_stretch_is_a_new_one(
    api: Api, clock: StillClock
) -> None:
    assert api.hub is not None
    hub = with_model(api.hub, Model(refusing))
    for said in ("我海鲜过敏", *["嗯"] * 9):
        await api.say(said, session_id="s1")
    for _ in range(4):
        await hub.job_runner.run_all_due("w")
        clock.at += 3600
    assert [job.status for job in await jobs(hub)] == [JobStatus.DEAD]

    for _ in range(9):
        await api.say("嗯", session_id="s1")
    assert await jobs(hub, JobStatus.PENDING) == []
    await api.say("嗯", session_id="s1")

    [again] = await jobs(hub, JobStatus.PENDING)
    assert again.trigger is Trigger.THRESHOLD


async def test_each_try_waits_longer_than_the_last(api: Api, clock: StillClock) -> None:
    hub = with_model(await waiting(api, "嗯"), Model(gone))
    waits = []
    for _ in range(3):
        await hub.job_runner.run_all_due("w")
        [job] = await jobs(hub)
        waits.append(job.next_try_at - clock.at)
        clock.at = job.next_try_at

    for n, wait in enumerate(waits):
        assert 2.5 * 2**n <= wait <= 7.5 * 2**n


async def test_a_job_outlives_an_outage_of_days(api: Api, clock: StillClock) -> None:
    model = Model(gone)
    hub = with_model(await waiting(api, "我海鲜过敏"), model)
    until = clock.at + 3 * 86_400
    waits = []
    while clock.at < until:
        await hub.job_runner.run_all_due("w")
        [job] = await jobs(hub)
        assert (job.status, job.retry_count) == (JobStatus.FAILED, 0)
        waits.append(job.next_try_at - clock.at)
        clock.at = job.next_try_at

    model.answer = lambda _: Proposal()
    await hub.job_runner.run_all_due("w")

    assert {job.status for job in await jobs(hub)} == {JobStatus.COMPLETED}
    assert max(waits) <= 300  # it goes on soon after the outage
    assert min(waits[10:]) >= 100  # and does not knock all the time
    failures = [row for row in await audit(hub) if row == "job.failed"]
    assert len(failures) == 1


async def test_after_an_outage_a_job_has_all_its_attempts(api: Api, clock: StillClock) -> None:
    model = Model(gone)
    hub = with_model(await waiting(api, "嗯"), model)
    for _ in range(6):
        await hub.job_runner.run_all_due("w")
        clock.at += 3600

    model.answer = refusing
    await hub.job_runner.run_all_due("w")

    [job] = await jobs(hub)
    assert (job.status, job.retry_count) == (JobStatus.FAILED, 1)


async def test_archiving_outlives_an_outage_of_its_disk(api: Api, clock: StillClock) -> None:
    hub = await waiting(api, "我海鲜过敏")
    archive = replace(hub.job_runner.archive, archive=UnreachableArchive())
    unlucky = replace(hub.job_runner, archive=archive)
    for _ in range(200):
        await unlucky.run_all_due("w")
        clock.at += 600
    [job] = await jobs(hub, JobStatus.FAILED)
    assert (job.task_type, job.retry_count) == (TaskType.ARCHIVE, 0)

    await hub.job_runner.run_all_due("w")

    assert {job.status for job in await jobs(hub)} == {JobStatus.COMPLETED}


class UnreachableArchive:
    is_enabled = True

    async def get(self, path: str) -> str | None:
        raise Unavailable("The archive cannot be reached.")

    async def put(self, path: str, text: str) -> None:
        raise Unavailable("The archive cannot be reached.")


async def audit(hub: Hub) -> list[str]:
    found = await hub.storage.read(lambda stores: stores.audit.find(USER, limit=1000))
    return [event.event for event in found]


async def test_a_model_may_say_when_to_come_back(api: Api, clock: StillClock) -> None:
    def busy(_: TalkWindow) -> Proposal:
        raise Unavailable("Too many requests.", {"retry_after_s": 77.0})

    hub = with_model(await waiting(api, "嗯"), Model(busy))
    await hub.job_runner.run_all_due("w")

    [job] = await jobs(hub)
    assert job.next_try_at == clock.at + 77


async def test_a_bug_in_one_job_does_not_stop_the_others(api: Api) -> None:
    def broken(window: TalkWindow) -> Proposal:
        if "坏" in window.messages[0].content:
            raise ZeroDivisionError("我海鲜过敏")
        return Proposal()

    hub = with_model(await waiting(api, "坏"), Model(broken))
    await api.say("叫我 tcmiku", session_id="s2")
    await api.did("/sessions/end", session_id="s2")

    await hub.job_runner.run_all_due("w")

    [failed] = await jobs(hub, JobStatus.FAILED)
    assert failed.error_message == "A bug: ZeroDivisionError."
    assert await api.listed(type="profile") == ["叫我 tcmiku"]


async def test_a_worker_that_lost_its_lease_changes_nothing(api: Api, clock: StillClock) -> None:
    hub = await waiting(api, "我喜欢爬山")
    slow = await hub.jobs.lease("slow")
    assert slow is not None
    clock.at += 61
    quick = await hub.jobs.lease("quick")
    assert quick is not None
    assert (quick.id, quick.retry_count) == (slow.id, 1)

    with pytest.raises(Conflict):
        await hub.job_runner.digest(slow)
    with pytest.raises(Conflict):
        await hub.jobs.extend(slow)
    with pytest.raises(Conflict):
        await hub.storage.write(lambda stores: complete_job(stores, slow, (), clock.at))
    assert await api.listed("all") == []

    await hub.job_runner.digest(quick)
    assert await api.listed(type="profile") == ["我喜欢爬山"]


async def test_only_one_worker_gets_a_job(api: Api) -> None:
    hub = await waiting(api, "我海鲜过敏")

    first, second = await hub.jobs.lease("one"), await hub.jobs.lease("two")

    assert first is not None
    assert second is None


async def test_a_job_that_kills_its_worker_is_given_up_in_the_end(
    api: Api, clock: StillClock
) -> None:
    hub = await waiting(api, "嗯")
    for _ in range(4):
        assert await hub.jobs.lease("w") is not None
        clock.at += 61

    assert await hub.jobs.lease("w") is None
    [dead] = await jobs(hub, JobStatus.DEAD)
    assert dead.error_message == "The worker that had it went away."


async def test_a_job_that_is_given_back_has_not_been_tried(api: Api) -> None:
    hub = await waiting(api, "嗯")
    job = await hub.jobs.lease("w")
    assert job is not None

    await hub.jobs.release(job)

    [free] = await jobs(hub)
    assert (free.status, free.retry_count, free.lease_owner) == (JobStatus.PENDING, 0, "")


@pytest.mark.parametrize("change", ["edit", "delete", "forget"])
async def test_talk_that_changes_while_it_is_read_is_read_again(api: Api, change: str) -> None:
    message_id = await api.say("我喜欢爬山", session_id="s1")
    hub = await waiting(api, "叫我 tcmiku")
    model = Interrupting(api, message_id, change)

    await with_model(hub, model).job_runner.run_all_due("w")  # type: ignore[arg-type]

    assert "我喜欢爬山" not in await api.listed("all", type="profile")
    assert "叫我 tcmiku" in await api.listed(type="profile")
    assert model.times == 2


@dataclass
class Interrupting:
    """A model during whose first answer somebody changes what was said."""

    api: Api
    message_id: int
    change: str
    times: int = 0

    async def propose(self, window: TalkWindow) -> Proposal:
        self.times += 1
        which: dict[str, Any] = {"message_id": self.message_id}
        if self.times > 1:
            return Proposal()
        if self.change == "edit":
            await self.api.did("/messages/edit", content="没有", **which)
        elif self.change == "delete":
            await self.api.did("/messages/delete", **which)
        else:
            memory_id = await self.api.remember("x", source_message_ids=[self.message_id])
            await self.api.did("/memory/forget", memory_id=memory_id)
        return Proposal()


async def test_a_long_talk_is_digested_piece_by_piece(api: Api) -> None:
    hub = await waiting(api, *[f"我喜欢第{n}种茶" for n in range(5)], "我海鲜过敏")
    small = replace(hub.job_runner.digest, options=replace(hub.job_runner.digest.options, window=2))

    done = await replace(hub.job_runner, digest=small).run_all_due("w")

    assert done == 4  # three pieces and the archive
    assert await api.listed(type="profile", q="海鲜") == ["我海鲜过敏"]
    reconciled = await hub.storage.read(lambda stores: stores.formation.reconcile())
    assert (reconciled.digested, reconciled.waiting, reconciled.lost) == (6, 0, 0)
