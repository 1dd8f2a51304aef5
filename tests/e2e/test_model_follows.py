"""A model reads later what the rules answered at once, and reads again what was changed.

A deleted session it reads no more, but for what is left of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fake_model import FakeModel, Says, fake_model
from harness import BASE_URL, Api, Json, StartHub, StillClock, refused
from plastic_memories_client import AsyncPlasticMemoriesClient, Message
from talks import fact, reply

# The rules do not see the allergy in this; a model does.
SAID = "我对芒果一碰就过敏得厉害"
SAID_NOW = "我对腰果一碰就过敏得厉害"
LEARNED = reply(fact(SAID, "constraint.allergy", "芒果"))
LEARNED_NOW = reply(fact(SAID_NOW, "constraint.allergy", "腰果"))
NOTHING = reply()


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with fake_model() as running:
        running.says(LEARNED)
        yield running


@pytest.fixture
async def api(start_hub: StartHub, clock: StillClock, model: FakeModel) -> Api:
    """A hub that asks the model when the test lets it work."""
    opened: Api = await start_hub(
        clock, worker="off", judge="llm", llm_base_url=model.url, llm_model="small"
    )
    return opened


async def work(api: Api) -> int:
    assert api.hub is not None
    return await api.hub.job_runner.run_all_due("w")


async def profile(api: Api, status: str = "active", **more: Any) -> list[Json]:
    page = await api.saw("/memory/list", type="profile", status=status, **more)
    return list(page["items"])


async def quotes(api: Api, status: str = "active") -> list[str]:
    return sorted(row["quote"] for row in await profile(api, status))


async def told(api: Api, *sentences: str) -> list[int]:
    """Say something in a session, and let the model read it."""
    ids = [await api.say(sentence, session_id="s1") for sentence in sentences]
    await api.did("/sessions/end", session_id="s1")
    await work(api)
    return ids


async def test_the_rules_answer_at_once_and_a_job_follows(api: Api, model: FakeModel) -> None:
    written = await api.learn("叫我 tcmiku", SAID)

    keys = [item["key"] for item in written["items"] if ".unread." not in item["key"]]
    assert keys == ["basic_info.address"]
    assert model.asked == []
    [job] = (await api.saw("/jobs"))["items"]
    assert (job["task_id"], job["status"]) == (written["job_id"], "pending")

    await work(api)

    assert await quotes(api) == sorted(["叫我 tcmiku", SAID])
    assert all(row["source_message_ids"] for row in await profile(api))


async def test_the_same_talk_handed_in_again_changes_nothing(
    api: Api, clock: StillClock, model: FakeModel
) -> None:
    first = await api.learn("叫我 tcmiku", SAID, "嗯", "嗯")
    await work(api)
    before = await profile(api, "all")
    clock.at += 60

    again = await api.learn("叫我 tcmiku", SAID, "嗯", "嗯")
    await work(api)

    assert again["job_id"] != first["job_id"]
    assert await profile(api, "all") == before
    assert len((await api.saw("/messages/recent"))["messages"]) == 4
    assert len(model.asked) == 1


async def test_the_client_is_told_of_the_job(api: Api) -> None:
    transport = api.http._transport
    client = AsyncPlasticMemoriesClient(
        BASE_URL, persona_id="p1", api_key="devkey", transport=transport
    )

    written = await client.write([Message(role="user", content="叫我 tcmiku")])

    [job] = (await api.saw("/jobs"))["items"]
    assert (written.written, written.job_id) == (1, job["task_id"])


async def test_what_a_branch_holds_is_not_what_the_main_line_holds(api: Api) -> None:
    root = await api.say("哈哈", session_id="s1")
    made = await api.did("/messages/branch", session_id="s1", from_message_id=root)
    await api.say(SAID, session_id="s1", branch_id=made["branch_id"])

    await api.learn(SAID, session_id="s1")

    kept = (await api.saw("/messages/recent"))["messages"]
    assert [one["content"] for one in kept] == [SAID, SAID, "哈哈"]


async def test_talk_that_was_appended_is_not_kept_twice(api: Api) -> None:
    [message_id] = [await api.say(SAID, session_id="s1")]

    written = await api.learn(SAID, session_id="s1")
    await work(api)

    assert written["job_id"] is not None
    assert len((await api.saw("/messages/recent"))["messages"]) == 1
    [row] = await profile(api)
    assert row["source_message_ids"] == [message_id]


async def test_handed_in_talk_is_masked_where_it_is_kept(api: Api) -> None:
    await api.learn("我的密码是 hunter2abc")

    [message] = (await api.saw("/messages/recent"))["messages"]

    assert "hunter2abc" not in message["content"]


async def test_handed_in_talk_is_nobody_elses(api: Api) -> None:
    written = await api.learn(SAID)
    await work(api)

    other = api.as_("devkey2")

    assert (await other.saw("/jobs"))["items"] == []
    assert (await other.saw("/messages/recent"))["messages"] == []
    assert await profile(other, "all") == []
    refused(await other.post("/jobs/replay", job_id=written["job_id"]), 404, "not_found")


async def test_talk_handed_into_a_story_is_a_story(api: Api) -> None:
    await api.did("/sessions/update", session_id="s1", realm="story")

    await api.learn("叫我 tcmiku", SAID, session_id="s1")
    await work(api)

    assert await profile(api, realm="real") == []
    assert len(await profile(api, realm="story")) == 2


async def test_while_the_model_is_gone_handed_in_talk_waits(
    api: Api, clock: StillClock, model: FakeModel
) -> None:
    model.says(Says(status=500, body=b"down"))
    written = await api.learn("叫我 tcmiku", SAID)
    await work(api)
    [failed] = (await api.saw("/jobs", status="failed"))["items"]
    assert failed["task_id"] == written["job_id"]

    model.says(LEARNED)
    clock.at += 3600
    await work(api)

    assert await quotes(api) == sorted(["叫我 tcmiku", SAID])


async def test_with_formation_off_no_job_follows(
    start_hub: StartHub, clock: StillClock, model: FakeModel
) -> None:
    api: Api = await start_hub(
        clock, formation="off", judge="llm", llm_base_url=model.url, llm_model="small"
    )

    written = await api.learn("叫我 tcmiku")

    assert (written["written"], written["job_id"]) == (1, None)


async def test_no_talk_is_no_job(api: Api) -> None:
    assert (await api.did("/memory/write", messages=[]))["job_id"] is None


@pytest.mark.parametrize("route", ["edit", "replace"])
async def test_what_only_the_model_learned_follows_an_edit(
    api: Api, model: FakeModel, route: str
) -> None:
    [message_id] = await told(api, SAID)
    assert await quotes(api) == [SAID]
    model.says(LEARNED_NOW)

    done = await api.did(f"/messages/{route}", message_id=message_id, content=SAID_NOW)

    assert await quotes(api) == []
    assert len(done["retracted"]) == 3  # the fact, its unread clause, and the summary
    waiting = (await api.saw("/jobs", status="pending"))["items"]
    assert done["job_id"] in [job["task_id"] for job in waiting]

    await work(api)

    assert await quotes(api) == [SAID_NOW]
    assert "芒果" not in (await api.recall("吃什么水果"))["injection_block"]


async def test_a_deleted_message_is_not_read_again_and_the_rest_is(
    api: Api, model: FakeModel
) -> None:
    message_id, _ = await told(api, SAID, "叫我 tcmiku")
    model.says(NOTHING)

    done = await api.did("/messages/delete", message_id=message_id)
    await work(api)

    assert done["job_id"] is not None
    assert await quotes(api) == ["叫我 tcmiku"]
    assert SAID not in str(model.asked[-1])
    assert "tcmiku" in str(model.asked[-1])
    assert await api.listed(type="summary") == ["聊到：叫我 tcmiku"]


async def test_a_talk_read_again_has_one_summary(api: Api, model: FakeModel) -> None:
    [first] = await told(api, SAID)
    await told(api, "叫我 tcmiku")
    assert len(await api.listed(type="summary")) == 2
    model.says(LEARNED_NOW)

    await api.did("/messages/edit", message_id=first, content=SAID_NOW)
    await work(api)

    [summary] = await api.listed(type="summary")
    assert "腰果" in summary
    assert "tcmiku" in summary


@pytest.mark.parametrize(
    "repeated",
    ["用户说自己对芒果过敏。", f"{SAID}。", "芒果一碰就过敏；", "用户對芒果過敏得厉害。"],
)
async def test_a_summary_of_the_model_leaves_out_what_must_never_be_learned_again(
    api: Api, model: FakeModel, repeated: str
) -> None:
    await told(api, SAID)
    [row] = await profile(api)
    await api.did("/memory/forget", memory_id=row["id"], never_again=True, include_messages=True)
    text = f"喜欢茶。{repeated}叫我 tcmiku。"
    said_again = fact(SAID, "constraint.allergy", "芒果")
    model.says(reply(said_again, summary={"text": text, "topics": ["茶", "芒果过敏"]}))

    await told(api, SAID, "我喜欢茶", "叫我 tcmiku")

    [summary] = (await api.saw("/memory/list", type="summary"))["items"]
    assert summary["content"] == "喜欢茶。叫我 tcmiku。"
    assert "芒果" not in str(summary)


async def test_a_summary_is_read_for_what_only_it_repeats(api: Api, model: FakeModel) -> None:
    await told(api, SAID)
    [row] = await profile(api)
    await api.did("/memory/forget", memory_id=row["id"], never_again=True, include_messages=True)
    text = "用户对芒果过敏。叫用户 tcmiku。"
    model.says(reply(summary={"text": text, "topics": []}))

    await told(api, SAID, "叫我 tcmiku")

    assert await api.listed("all", type="summary") == ["叫用户 tcmiku。"]


async def test_what_was_revoked_stays_revoked_when_the_talk_is_read_again(
    api: Api, model: FakeModel
) -> None:
    first, *_ = await told(api, "哈哈", SAID, "叫我 tcmiku")
    for row in await profile(api):
        await api.did("/memory/revoke", memory_id=row["id"])
    before = await profile(api, "all")

    await api.did("/messages/edit", message_id=first, content="呵呵")
    await work(api)

    assert len(model.asked) == 2
    assert await profile(api, "all") == before


async def test_an_edit_while_the_model_is_gone_takes_the_old_words_along(
    api: Api, clock: StillClock, model: FakeModel, tmp_path: Path
) -> None:
    [message_id] = await told(api, SAID)
    model.says(Says(status=500, body=b"down"))

    await api.did("/messages/edit", message_id=message_id, content=SAID_NOW)
    await work(api)

    assert await quotes(api) == []
    [file] = await asyncio.to_thread(lambda: sorted(tmp_path.rglob("s1.json")))
    assert "芒果" not in file.read_text("utf-8")
    assert SAID_NOW in file.read_text("utf-8")

    model.says(LEARNED_NOW)
    clock.at += 3600
    await work(api)

    assert await quotes(api) == [SAID_NOW]
    assert file.read_text("utf-8").count("腰果") > 1  # the message, and what was learned
    assert api.hub is not None
    standing = await api.hub.storage.read(lambda stores: stores.formation.reconcile())
    assert (standing.waiting, standing.lost) == (0, 0)


async def test_an_edit_before_the_digest_needs_no_job(api: Api) -> None:
    message_id = await api.say(SAID, session_id="s1")

    done = await api.did("/messages/edit", message_id=message_id, content=SAID_NOW)

    assert (done["waiting"], done["job_id"]) == (True, None)


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
