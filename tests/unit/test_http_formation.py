"""From talk to memory: jobs, triggers, sessions (contract, sections 4, 7 and 8)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from harness import Api, Json, StartHub, StillClock, refused
from plastic_memories.model.event import Event
from plastic_memories.model.key import KeyLimits
from plastic_memories.model.owner import User

USER = User("default", "userA")


async def talk(api: Api, *sentences: str, session_id: str = "s1", **more: Any) -> list[int]:
    """Let the user say some sentences, each answered."""
    messages = []
    for sentence in sentences:
        messages += [
            {"role": "user", "content": sentence},
            {"role": "assistant", "content": "好的。"},
        ]
    said = await api.did("/messages/append", messages=messages, session_id=session_id, **more)
    return [int(one) for one in said["message_ids"][::2]]


async def digest(api: Api, session_id: str | None = "s1", **more: Any) -> Json:
    run = await api.did("/jobs/run", session_id=session_id, wait=True, **more)
    job: Json = run["job"]
    return job


async def events_until(events: AsyncIterator[Event], start: str) -> AsyncIterator[Event]:
    """Yield events up to the first whose name starts so."""
    async for event in events:
        yield event
        if event.event.startswith(start):
            return


def archived(folder: Path, name: str = "*.json") -> list[Path]:
    return sorted(folder.rglob(name))


async def test_what_was_said_is_known_after_a_digest(api: Api) -> None:
    await talk(api, "叫我 tcmiku", "我海鲜过敏", "我生日是5月20日")

    job = await digest(api)

    assert (job["status"], job["trigger"], job["task_type"]) == ("completed", "explicit", "full")
    assert len(job["memory_ids"]) == 4  # three facts and a summary
    assert "我海鲜过敏" in await api.recalled("晚饭推荐什么")


async def test_each_item_names_its_message_and_its_words(api: Api) -> None:
    [said] = await talk(api, "我海鲜过敏")
    await digest(api)

    [row] = (await api.saw("/memory/list", type="profile"))["items"]

    assert row["source_message_ids"] == [said]
    assert row["quote"] == "我海鲜过敏"
    assert (row["status"], row["source_type"]) == ("active", "user_explicit")


async def test_small_talk_leaves_nothing(api: Api) -> None:
    await talk(api, "哈哈", "今天天气不错", "how are you?")

    job = await digest(api)

    assert (job["status"], job["memory_ids"]) == ("completed", [])
    assert await api.listed("all") == []


async def test_digesting_again_changes_nothing(api: Api) -> None:
    await talk(api, "叫我 tcmiku", "我海鲜过敏")
    await digest(api)
    before = (await api.saw("/memory/list", status="all"))["items"]

    again = await digest(api)

    assert again["memory_ids"] == []
    assert (await api.saw("/memory/list", status="all"))["items"] == before


async def test_ten_rounds_are_digested_by_themselves(start_hub: StartHub) -> None:
    api = await start_hub(worker="off")
    await talk(api, *["嗯"] * 9)
    assert (await api.saw("/jobs"))["items"] == []

    await talk(api, "我海鲜过敏")

    jobs = (await api.saw("/jobs"))["items"]
    assert {(job["task_type"], job["status"], job["trigger"]) for job in jobs} == {
        ("full", "pending", "threshold"),
        ("profile", "pending", "threshold"),
    }


async def test_the_worker_inside_the_server_does_it(api: Api) -> None:
    assert api.hub is not None
    async with asyncio.timeout(10), api.hub.storage.sink.listen(USER) as events:
        await talk(api, *["嗯"] * 9, "我喜欢爬山")
        assert "job.completed" in [event.event async for event in events_until(events, "job.")]

    assert await api.listed(type="profile") == ["我喜欢爬山"]
    [job] = (await api.saw("/jobs"))["items"]
    assert job["trigger"] == "threshold"


async def test_a_silent_session_is_digested_and_archived(
    start_hub: StartHub, clock: StillClock, tmp_path: Path
) -> None:
    api = await start_hub(clock, worker="off")
    assert api.hub is not None
    await talk(api, "我喜欢爬山")
    await api.hub.jobs.queue_idle_sessions()
    assert (await api.saw("/jobs"))["items"] == []

    clock.at += 1801
    await api.hub.jobs.queue_idle_sessions()
    done = await api.hub.job_runner.run_all_due("test")

    assert done == 2
    archive, full = (await api.saw("/jobs"))["items"]
    assert (full["trigger"], archive["task_type"]) == ("idle", "archive")
    assert len(archived(tmp_path, "s1.json")) == 1


async def test_talk_that_never_pauses_is_digested_on_schedule(
    start_hub: StartHub, clock: StillClock
) -> None:
    api = await start_hub(clock, worker="off", formation_threshold="1000")
    assert api.hub is not None
    for _ in range(25):
        await talk(api, "嗯")
        clock.at += 1000
        await api.hub.jobs.queue_idle_sessions()

    assert {job["trigger"] for job in (await api.saw("/jobs"))["items"]} == {"scheduled"}


async def test_the_end_of_a_session_is_a_job(start_hub: StartHub) -> None:
    api = await start_hub(worker="off")
    await talk(api, "我海鲜过敏")

    ended = await api.did("/sessions/end", session_id="s1")

    assert (ended["job"]["status"], ended["job"]["trigger"]) == ("pending", "session_end")


async def test_a_session_nobody_spoke_in_cannot_end(api: Api) -> None:
    refused(await api.post("/sessions/end", session_id="nowhere"), 404, "not_found")
    refused(await api.post("/jobs/run", session_id="nowhere"), 404, "not_found")


async def test_another_user_sees_no_jobs_and_replays_none(api: Api) -> None:
    await talk(api, "我海鲜过敏")
    job = await digest(api)

    other = api.as_("devkey2")

    assert (await other.saw("/jobs"))["items"] == []
    refused(await other.post("/jobs/replay", job_id=job["task_id"]), 404, "not_found")
    refused(await other.post("/jobs/run", session_id="s1"), 404, "not_found")
    refused(await other.post("/sessions/end", session_id="s1"), 404, "not_found")


async def test_two_bots_do_not_share_a_digest(api: Api) -> None:
    await talk(api, "我海鲜过敏", bot_id="b1")
    await talk(api, "叫我 tcmiku", bot_id="b2")

    await digest(api, bot_id="b1")

    assert await api.listed(type="profile", bot_id="b1") == ["我海鲜过敏"]
    assert "我海鲜过敏" not in await api.listed(type="profile", bot_id="b2")


async def test_what_must_never_be_learned_again_is_not(api: Api) -> None:
    await talk(api, "我海鲜过敏")
    await digest(api)
    await api.did(
        "/memory/forget", type="profile", key="constraint.allergy.seafood", never_again=True
    )

    await talk(api, "我对海鲜过敏", session_id="s2")
    await digest(api, "s2")

    assert await api.listed("all", type="profile") == []


async def test_what_the_hub_injected_is_not_learned(api: Api) -> None:
    await api.remember("我对花生过敏", "profile", "constraint.allergy.peanut")
    block = (await api.recall("晚饭"))["injection_block"]

    await talk(api, f"{block}\n叫我 tcmiku")
    await digest(api)

    assert sorted(await api.listed(type="profile")) == sorted(["我对花生过敏", "叫我 tcmiku"])


async def test_said_twice_is_one_memory_with_two_sources(api: Api) -> None:
    ids = await talk(api, "我海鲜过敏")
    await digest(api)
    ids += await talk(api, "我海鲜过敏", session_id="s2")
    await digest(api, "s2")

    [row] = (await api.saw("/memory/list", type="profile"))["items"]

    assert row["source_message_ids"] == ids


async def test_what_was_said_later_holds_whenever_it_is_digested(
    start_hub: StartHub, clock: StillClock
) -> None:
    api = await start_hub(clock, worker="off")
    await talk(api, "我叫小红", session_id="early")
    clock.at += 10
    await talk(api, "我叫小明", session_id="late")

    await digest(api, "late")
    await digest(api, "early")

    assert await api.listed(type="profile") == ["我叫小明"]
    assert await api.listed("revoked", type="profile") == ["我叫小红"]


async def test_formation_can_be_switched_off_and_catches_up(
    start_hub: StartHub, clock: StillClock
) -> None:
    api = await start_hub(clock, formation="off")
    await talk(api, "我海鲜过敏")
    refused(await api.post("/jobs/run", session_id="s1"), 503, "unavailable")

    again = await start_hub(clock, worker="off")

    assert (await digest(again))["status"] == "completed"
    assert await again.listed(type="profile") == ["我海鲜过敏"]


async def test_a_story_stays_a_story(api: Api) -> None:
    updated = await api.did("/sessions/update", session_id="s1", realm="story")
    assert updated["session"]["realm"] == "story"
    await talk(api, "我海鲜过敏")
    await digest(api)

    assert await api.listed(type="profile", realm="story") == ["我海鲜过敏"]
    assert await api.listed(type="profile", realm="real") == []
    assert "我海鲜过敏" not in (await api.recall("晚饭"))["injection_block"]
    assert "我海鲜过敏" in (await api.recall("晚饭", session_id="s1"))["injection_block"]
    assert "过敏" not in (await api.saw("/persona/profile"))["profile_markdown"]


async def test_metrics_count_jobs(api: Api) -> None:
    await talk(api, "我喜欢爬山")
    await digest(api)

    answer = await api.http.get("/metrics", headers=api.all_headers)

    assert 'memory_generation_tasks_total{status="completed"} 1.0' in answer.text
    assert "memory_generation_latency_seconds_bucket" in answer.text
    assert "memory_jobs_waiting 0.0" in answer.text


async def test_a_conversation_is_archived_where_the_contract_says(
    start_hub: StartHub, clock: StillClock, tmp_path: Path
) -> None:
    api = await start_hub(clock, worker="off")
    ids = await talk(api, "我海鲜过敏", "明天我要去面试")
    await api.did("/sessions/end", session_id="s1")
    await digest(api)

    file = tmp_path / "conversations/userA/p1/2025/06/15/s1.json"
    kept = json.loads(file.read_text(encoding="utf-8"))

    assert (kept["session_id"], kept["user_id"], kept["character_id"]) == ("s1", "userA", "p1")
    assert (kept["start_time"], kept["end_time"]) == ("2025-06-15T15:06:40Z",) * 2
    assert [one["msg_id"] for one in kept["messages"]][::2] == ids
    assert kept["messages"][0] == {
        "msg_id": ids[0],
        "role": "user",
        "content": "我海鲜过敏",
        "timestamp": "2025-06-15T15:06:40Z",
    }
    assert "我海鲜过敏" in kept["summary"]["text"]
    assert [one["key"] for one in kept["extracted_profiles"]] == ["constraint.allergy.seafood"]
    assert [one["attributes"]["date"] for one in kept["extracted_events"]] == ["2025-06-16"]
    [summary] = (await api.saw("/memory/list", type="summary"))["items"]
    assert summary["attributes"]["archive_path"] == "conversations/userA/p1/2025/06/15/s1.json"


@pytest.mark.parametrize("user", ["../../etc", "a/b", "CON", "x" * 200, "小明"])
async def test_no_id_leads_out_of_the_archive(api: Api, tmp_path: Path, user: str) -> None:
    theirs = api.as_("appkey", user).of("../..")
    await talk(theirs, "我海鲜过敏", session_id="..")
    await theirs.did("/sessions/end", session_id="..")
    await digest(theirs, "..")

    [file] = archived(tmp_path)
    assert file.is_relative_to(tmp_path / "conversations")
    assert len(file.relative_to(tmp_path / "conversations").parts) == 6


async def test_forget_reaches_into_the_archive(api: Api, tmp_path: Path) -> None:
    await talk(api, "我海鲜过敏", "叫我 tcmiku")
    await api.did("/sessions/end", session_id="s1")
    await digest(api)
    [file] = archived(tmp_path, "s1.json")

    forgotten = await api.did("/memory/forget", type="profile", key="constraint.allergy.seafood")

    assert forgotten["receipt"]["archive"] == {"rewritten": 1, "waiting": 0}
    text = file.read_text(encoding="utf-8")
    assert "海鲜" not in text
    assert "tcmiku" in text


async def test_talk_without_a_summary_is_archived_too(api: Api, tmp_path: Path) -> None:
    await talk(api, "哈哈")
    await api.did("/sessions/end", session_id="s1")
    await digest(api)

    [file] = archived(tmp_path)
    kept = json.loads(file.read_text(encoding="utf-8"))
    assert kept["summary"] == {"text": "", "topics": [], "emotion": "neutral"}
    assert (kept["extracted_profiles"], kept["extracted_events"]) == ([], [])


async def test_a_persona_takes_its_archive_with_it(api: Api, tmp_path: Path) -> None:
    await talk(api, "我海鲜过敏")
    await api.did("/sessions/end", session_id="s1")
    await digest(api)

    deleted = await api.did("/persona/delete", confirm="p1")

    assert deleted["receipt"]["archive"] == {"removed": 1, "waiting": 0}
    assert archived(tmp_path) == []


async def test_messages_go_only_after_they_were_archived(
    start_hub: StartHub, clock: StillClock, tmp_path: Path
) -> None:
    api = await start_hub(clock, worker="off", message_retention_days="7")
    assert api.hub is not None
    await talk(api, "我海鲜过敏")
    clock.at += 8 * 86_400

    await api.hub.upkeep.run_once()

    assert (await api.saw("/messages/recent"))["messages"] == []
    [file] = archived(tmp_path, "s1.json")
    assert "我海鲜过敏" in file.read_text(encoding="utf-8")
    assert await api.listed(type="profile") == ["我海鲜过敏"]


async def test_an_archive_that_is_gone_waits_as_a_job(
    start_hub: StartHub, clock: StillClock, tmp_path: Path
) -> None:
    (tmp_path / "conversations").write_text("in the way")
    api = await start_hub(clock, worker="off")
    assert api.hub is not None
    await talk(api, "我海鲜过敏")
    await api.did("/sessions/end", session_id="s1")
    await api.hub.job_runner.run_all_due("test")
    [job] = (await api.saw("/jobs", status="failed"))["items"]
    assert job["task_type"] == "archive"

    (tmp_path / "conversations").unlink()
    clock.at += 60
    await api.hub.job_runner.run_all_due("test")

    assert len(archived(tmp_path, "s1.json")) == 1
    assert (await api.saw("/jobs", status="failed"))["items"] == []


async def test_upcoming_events_are_counted_where_the_user_lives(
    timed: Api, clock: StillClock
) -> None:
    await talk(timed, "我生日是6月20日", "明天我要去面试")
    await digest(timed)

    found = (await timed.saw("/events/upcoming", days=10))["items"]
    near = (await timed.saw("/events/upcoming", days=1))["items"]

    assert [(one["next_date"], one["days_away"]) for one in found] == [
        ("2025-06-16", 1),
        ("2025-06-20", 5),
    ]
    assert [one["next_date"] for one in near] == ["2025-06-16"]


async def test_what_is_purged_leaves_the_archive_too(
    start_hub: StartHub, clock: StillClock, tmp_path: Path
) -> None:
    api = await start_hub(clock, worker="off")
    assert api.hub is not None
    await talk(api, "我海鲜过敏")
    await api.did("/sessions/end", session_id="s1")
    await api.hub.job_runner.run_all_due("test")
    assert len(archived(tmp_path)) == 1

    await api.did("/messages/purge", all=True)
    await api.hub.job_runner.run_all_due("test")

    assert archived(tmp_path) == []


async def test_a_key_bound_to_a_persona_replays_only_its_jobs(api: Api) -> None:
    assert api.hub is not None
    limits = KeyLimits(persona_id="p2")
    await api.hub.keys.create("default", "userA", "bound", limits, key="bound-key")
    await talk(api, "嗯")
    job = await digest(api)

    bound = api.as_("bound-key").of("p2")

    assert (await bound.saw("/jobs"))["items"] == []
    refused(await bound.post("/jobs/replay", job_id=job["task_id"]), 404, "not_found")
    refused(await bound.of("p1").post("/jobs/run", session_id="s1"), 403, "forbidden")


@pytest.mark.parametrize("is_recalled", [True, False])
async def test_an_echo_of_what_was_recalled_makes_nothing_new(
    api: Api, *, is_recalled: bool
) -> None:
    assert api.hub is not None
    await api.remember("我喜欢喝乌龙茶，也喜欢绿茶")
    if is_recalled:
        await api.recall("喜欢喝什么茶")
        await api.hub.upkeep.run_once()  # writes down what was recalled

    await talk(api, "我喜欢喝乌龙茶")
    await digest(api)

    assert bool(await api.listed(type="profile")) is not is_recalled


async def test_said_again_after_a_recall_it_is_one_more_source(api: Api) -> None:
    assert api.hub is not None
    ids = await talk(api, "我海鲜过敏")
    await digest(api)
    await api.recall("晚饭")
    await api.hub.upkeep.run_once()
    ids += await talk(api, "我海鲜过敏", session_id="s2")
    await digest(api, "s2")

    await api.did("/messages/delete", message_id=ids[0])

    assert await api.listed(type="profile") == ["我海鲜过敏"]


async def test_what_the_persona_says_of_itself_is_kept_apart(api: Api) -> None:
    await api.did("/persona/create", display_name="小忆")
    await api.did(
        "/messages/append",
        session_id="s1",
        messages=[
            {"role": "user", "content": "我海鲜过敏"},
            {"role": "assistant", "content": "我最喜欢喝乌龙茶。我答应你明天陪你练琴"},
        ],
    )
    await digest(api)

    rows = (await api.saw("/memory/list"))["items"]
    own = [row for row in rows if row["key"].startswith("persona.")]
    assert own
    assert all(row["speaker"] for row in own)
    assert [row["content"] for row in rows if row["type"] == "profile"] == ["我海鲜过敏"]
    assert "乌龙茶" not in (await api.saw("/persona/profile"))["profile_markdown"]


async def test_members_of_a_group_are_kept_apart_by_name(api: Api) -> None:
    said = [
        {"role": "user", "speaker": "小红", "content": "我海鲜过敏"},
        {"role": "user", "speaker": "小明", "content": "我对花生过敏"},
        {"role": "user", "speaker": "p1", "content": "我对牛奶过敏"},
    ]
    await api.did("/messages/append", session_id="g", message_type="group", messages=said)
    await digest(api, "g")

    rows = [row for row in (await api.saw("/memory/list"))["items"] if row["type"] != "summary"]

    assert {(row["speaker"], row["type"]) for row in rows} == {("小红", "fact"), ("小明", "fact")}


async def test_a_story_told_in_a_real_session_is_a_story(api: Api) -> None:
    await talk(api, "*拔出剑* 我叫亚瑟，我海鲜过敏", "我对花生过敏")
    await digest(api)

    assert await api.listed(type="profile", realm="real") == ["我对花生过敏"]
    assert "亚瑟" not in (await api.recall("名字"))["stable_block"]["text"]
