"""Another bot or session for what is there: nothing lost, nothing replaced, nobody else touched."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness import Api, Json, environment
from plastic_memories.cli.main import main
from plastic_memories.errors import InvalidInput, NotFound
from plastic_memories.hub.conversation.rekey import RekeyBots
from plastic_memories.hub.transactions.audit_events import hub_caller
from plastic_memories.model.owner import Owner, User
from plastic_memories.model.session import RekeyCounts
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.rules.conversation.session_address import (
    candidate_addresses,
    parse_session_address,
)

OLD = "qq1:FriendMessage:20001"
NEW = "bot_10001:qq1:FriendMessage:20001"
SESSION = {"platform": "qq1", "message_type": "FriendMessage", "session_id": "20001"}
AT_NEW = {"bot_id": "10001", **SESSION}
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

    assert counts == RekeyCounts(users=1, memories=1, messages=1, sessions=1)
    assert "green tea" not in await known(api)
    assert TEA in await known(api, bot_id="10001")
    assert TEA in await known(api, **AT_NEW, only_session=True)  # type: ignore[arg-type]
    [message] = (await api.saw("/messages/recent", **AT_NEW))["messages"]
    assert message["client_msg_id"] == "m1"


async def test_a_dry_run_counts_and_moves_nothing(api: Api) -> None:
    await api.remember(TEA, session_id=OLD)

    assert await moved(api, dry_run=True) == RekeyCounts(users=1, memories=1)

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

    assert await moved(api) == RekeyCounts(users=1, memories=1, waiting=1)

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

    await api.remember("别的", key="other")

    assert await moved(api) == RekeyCounts()

    assert TEA in await known(other)


async def test_the_log_says_what_was_moved(api: Api) -> None:
    number = await api.remember(TEA, session_id=OLD)

    await moved(api)

    [event] = [one for one in (await api.saw("/audit"))["items"] if one["event"] == "memory.rekey"]
    assert (event["data"]["memory_id"], event["data"]["to_bot"]) == (number, "10001")


async def test_rows_without_a_bot_get_one(api: Api) -> None:
    await api.remember(TEA, session_id="")

    counts = await moved(api, "no-bot", "bot_10001")

    assert counts.memories == 1
    assert TEA in await known(api, **AT_NEW, only_session=True)  # type: ignore[arg-type]


async def test_of_one_number_only_the_named_type_is_moved(api: Api) -> None:
    group = {"platform": "qq1", "message_type": "GroupMessage", "session_id": "20001"}
    await api.say("群里的 green tea", **group)

    assert await moved(api) == RekeyCounts()

    assert len((await api.saw("/messages/recent", **group))["messages"]) == 1


async def test_a_session_of_an_earlier_version_is_divided_by_message_type(api: Api) -> None:
    # Earlier versions stored the session id as it came.
    group = {"platform": "qq1", "message_type": "GroupMessage", "session_id": "20001"}
    await api.say("我对海鲜过敏", **AT_NEW)
    await api.say("我养了一只猫", bot_id="10001", **group)
    assert api.hub is not None
    await api.hub.storage.write(_as_before)

    counts = await moved(api, "bot_10001", "bot_10001")
    for place in (AT_NEW, {"bot_id": "10001", **group}):
        await api.did("/jobs/run", **place, wait=True)

    assert (counts.messages, counts.sessions) == (2, 1)
    assert "海鲜" in str(await api.listed(**AT_NEW))
    assert "海鲜" not in str(await api.listed(bot_id="10001", **group))
    assert "猫" in str(await api.listed(bot_id="10001", **group))


def _as_before(stores: Stores) -> None:
    owner = Owner("default", "userA", "p1")
    for message in stores.messages.find(owner, MessageFilter()):
        stores.messages.move(replace(message, session_id="20001"))
    for session in stores.sessions.find(owner):
        stores.sessions.move(session, replace(session.place, session_id="20001"))


async def test_an_unknown_user_is_an_error(api: Api) -> None:
    with pytest.raises(NotFound):
        await moved(api, user="nobody")


@pytest.mark.parametrize(("old", "new"), [("bot_1", NEW), (NEW, "bot_1")])
async def test_both_sides_must_name_a_place_of_the_same_kind(api: Api, old: str, new: str) -> None:
    with pytest.raises(InvalidInput):
        await moved(api, old, new)


def command_line(folder: Path, api_keys: str = "") -> Callable[..., Json]:
    env = environment(folder, api_keys=api_keys, port="1")

    def told(*arguments: str) -> Json:
        done = CliRunner().invoke(main, [*arguments, "--json"], env=env)
        assert done.exit_code == 0, done.output
        answer: Json = json.loads(done.stdout)
        return answer

    return told


def export_with(bot_id: str, folder: Path) -> str:
    line = {"kind": "memory", "persona_id": "default", "id": 1, "type": "fact", "key": "tea",
            "content": TEA, "status": "active", "bot_id": bot_id}  # fmt: skip
    file = folder / "one.jsonl"
    file.write_text(json.dumps(line), encoding="utf-8")
    return str(file)


def test_the_command_line_moves_after_a_dry_run(tmp_path: Path) -> None:
    told = command_line(tmp_path)
    told("import", export_with("old", tmp_path))

    rekey = ("rekey", "--user", "local", "--from", "bot_old", "--to", "bot_new")
    counts = [told(*rekey, *more)["memories"] for more in (["--dry-run"], [], [])]

    assert counts == [1, 1, 0]
    assert told("list")["items"][0]["bot_id"] == "new"


def test_the_command_line_moves_the_rows_of_all_users_at_once(tmp_path: Path) -> None:
    told = command_line(tmp_path, "appkey:*")
    for user in ("aiocqhttp:1", "aiocqhttp:2"):
        told("import", export_with("", tmp_path), "--key", "appkey", "--user", user)

    counts = told("rekey", "--all-users", "--from", "no-bot", "--to", "bot_new")

    assert (counts["users"], counts["memories"]) == (2, 2)


@pytest.mark.parametrize(
    ("which", "said"),
    [(["--user", "nobody"], "no user 'nobody'"), ([], "--all-users"),
     (["--user", "local", "--all-users"], "--all-users")],
)  # fmt: skip
def test_the_command_line_refuses_a_user_it_does_not_know(
    tmp_path: Path, which: list[str], said: str
) -> None:
    command = ["rekey", *which, "--from", "bot_old", "--to", "bot_new"]

    done = CliRunner().invoke(main, command, env=environment(tmp_path, api_keys="", port="1"))

    assert done.exit_code != 0
    assert said in done.output
