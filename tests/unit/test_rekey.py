"""Another bot or session for what is there: nothing lost, nothing replaced, nobody else touched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness import Api, Json, environment
from plastic_memories.cli.main import main
from plastic_memories.errors import InvalidInput
from plastic_memories.hub.conversation.rekey import RekeyBots
from plastic_memories.hub.transactions.audit_events import hub_caller
from plastic_memories.model.owner import User
from plastic_memories.model.session import RekeyCounts
from plastic_memories.rules.conversation.session_address import (
    candidate_addresses,
    parse_session_address,
)

OLD = "qq1:FriendMessage:20001"
NEW = "bot_10001:qq1:FriendMessage:20001"
AT_NEW = {"bot_id": "10001", "session_id": "20001"}
TEA = "我喜欢 green tea"


async def moved(
    api: Api, old: str = OLD, new: str = NEW, *, user: str = "userA", dry_run: bool = False
) -> RekeyCounts:
    assert api.hub is not None
    caller = hub_caller(User("default", user))
    move = RekeyBots(api.hub.storage)
    return await move(caller, candidate_addresses(old), parse_session_address(new), dry_run=dry_run)


async def known(api: Api, **view: str) -> str:
    found: Json = await api.recall("green tea", **view)
    return str(found["injection_block"])


async def rows(api: Api, **view: str) -> list[Json]:
    items: list[Json] = (await api.saw("/memory/list", **view))["items"]
    return items


@pytest.mark.parametrize("session_id", [OLD, "20001"])
@pytest.mark.parametrize("kind", ["fact", "profile", "rule"])
async def test_rows_of_either_old_form_are_found_at_the_new_place_only(
    api: Api, session_id: str, kind: str
) -> None:
    await api.remember(TEA, kind, session_id=session_id)
    await api.say("green tea, 谢谢", session_id=session_id, client_msg_id="m1")
    assert "green tea" in await known(api)

    counts = await moved(api)

    assert counts == RekeyCounts(memories=1, messages=1, sessions=1)
    assert "green tea" not in await known(api)
    assert TEA in await known(api, bot_id="10001")
    assert TEA in await known(api, bot_id="10001", session_id="20001", only_session=True)  # type: ignore[arg-type]
    [message] = (await api.saw("/messages/recent", **AT_NEW))["messages"]
    assert message["client_msg_id"] == "m1"


async def test_a_dry_run_counts_and_moves_nothing(api: Api) -> None:
    await api.remember(TEA, session_id=OLD)

    assert await moved(api, dry_run=True) == RekeyCounts(memories=1)

    assert TEA in await known(api)
    assert await known(api, bot_id="10001") == ""


async def test_all_sessions_of_a_bot_are_moved_together_and_keep_their_names(api: Api) -> None:
    for session in ("s1", "s2"):
        await api.remember(f"{TEA} in {session}", key=session, bot_id="old", session_id=session)

    assert (await moved(api, "bot_old", "bot_new")).memories == 2

    assert {row["session_id"] for row in await rows(api, bot_id="new")} == {"s1", "s2"}
    assert await rows(api, bot_id="old") == []


async def test_what_holds_at_the_new_place_stays_and_the_other_waits(api: Api) -> None:
    there = await api.remember("我喜欢 black tea", **AT_NEW)
    coming = await api.remember(TEA, session_id=OLD)

    assert await moved(api) == RekeyCounts(memories=1, waiting=1)

    assert [row["id"] for row in await rows(api, bot_id="10001")] == [there]
    [waiting] = await rows(api, bot_id="10001", status="candidate")
    assert (waiting["id"], [one["memory_id"] for one in waiting["replaces"]]) == (coming, [there])


async def test_a_slot_goes_with_its_row(api: Api) -> None:
    number = await api.remember("dev", "identity", session_id=OLD)
    await api.did("/memory/confirm", memory_id=number)

    await moved(api)

    assert await api.slots(bot_id="10001") == {"identity": "dev"}
    assert await api.slots() == {}


async def test_talk_that_waits_in_both_is_digested_in_one(api: Api) -> None:
    await api.say("我对海鲜过敏", session_id=OLD, client_msg_id="m1")
    await api.say("我养了一只猫", **AT_NEW, client_msg_id="m1")

    assert (await moved(api)).sessions == 1
    await api.did("/jobs/run", **AT_NEW, wait=True)

    learned = str(await api.listed(bot_id="10001"))
    assert "海鲜" in learned
    assert "猫" in learned
    assert len((await api.saw("/messages/recent", **AT_NEW))["messages"]) == 2


async def test_another_users_rows_stay_where_they_are(api: Api) -> None:
    other = api.as_("devkey2")
    await other.remember(TEA, session_id=OLD)

    assert await moved(api) == RekeyCounts()

    assert TEA in await known(other)


async def test_the_log_says_what_was_moved(api: Api) -> None:
    number = await api.remember(TEA, session_id=OLD)

    await moved(api)

    [event] = [one for one in (await api.saw("/audit"))["items"] if one["event"] == "memory.rekey"]
    assert (event["data"]["memory_id"], event["data"]["to_bot"]) == (number, "10001")


@pytest.mark.parametrize(("old", "new"), [("bot_1", NEW), (NEW, "bot_1"), ("bot_1", "bot_1")])
async def test_both_sides_must_name_a_place_of_the_same_kind(api: Api, old: str, new: str) -> None:
    with pytest.raises(InvalidInput):
        await moved(api, old, new)


def test_the_command_line_moves_after_a_dry_run(tmp_path: Path) -> None:
    line = {"kind": "memory", "persona_id": "default", "id": 1, "type": "fact", "key": "tea",
            "content": TEA, "status": "active", "bot_id": "old"}  # fmt: skip
    file = tmp_path / "one.jsonl"
    file.write_text(json.dumps(line), encoding="utf-8")
    env = environment(tmp_path, api_keys="", port="1")

    def told(*arguments: str) -> Json:
        done = CliRunner().invoke(main, [*arguments, "--json"], env=env)
        assert done.exit_code == 0, done.output
        answer: Json = json.loads(done.stdout)
        return answer

    told("import", str(file))
    rekey = ("rekey", "--user", "local", "--from", "bot_old", "--to", "bot_new")
    counts = [told(*rekey, *more)["memories"] for more in (["--dry-run"], [], [])]

    assert counts == [1, 1, 0]
    assert told("list")["items"][0]["bot_id"] == "new"
