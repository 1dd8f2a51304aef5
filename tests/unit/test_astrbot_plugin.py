"""The AstrBot plugin without AstrBot: what it keeps apart, and what happens without a hub."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from integrations.astrbot.answers import Answers
from integrations.astrbot.commands import HELP, TEXTS, Command
from integrations.astrbot.hub_link import HubLink
from integrations.astrbot.hub_problem import EXPLANATIONS, HubProblem
from integrations.astrbot.identity import (
    Identity,
)
from integrations.astrbot.options import Filters, Options
from integrations.astrbot.outbox import Outbox
from integrations.astrbot.parcel import Parcel
from integrations.astrbot.turns import Recalled, Turns, recent_of

from harness import Api

SHARED = Filters(use_bot_isolation=False)
LIN = Identity(
    bot_id="10001",
    bot_id_is_the_adapters=False,
    platform="aiocqhttp",
    platform_id="qq1",
    message_type="FriendMessage",
    session_id="20001",
    sender_id="20001",
)
OTHER_BOT = replace(LIN, bot_id="10002", platform_id="qq2")
IN_GROUP = replace(LIN, message_type="GroupMessage", session_id="777")
CHEN = replace(LIN, sender_id="20002", session_id="20002")


def link(api: Api, options: Options | None = None) -> HubLink:
    chosen = options or Options()
    return HubLink(replace(chosen, api_key=chosen.api_key or "appkey"), api.http._transport)


async def told(hub: HubLink, who: Identity, *sentences: str) -> None:
    """Let somebody say something, and the hub learn from it."""
    for number, sentence in enumerate(sentences):
        said = {"role": "user", "content": sentence, "client_msg_id": f"{sentence}{number}"}
        await hub.append(who, [said])
    await hub.catch_up(who)


async def known(hub: HubLink, who: Identity, query: str = "海鲜") -> str:
    return str((await hub.recall(who, query))["injection_block"])


async def test_two_bots_of_one_user_know_nothing_of_each_other(api: Api) -> None:
    hub = link(api)
    await told(hub, LIN, "我对海鲜过敏")

    assert "海鲜" in await known(hub, LIN)
    assert await known(hub, OTHER_BOT) == ""
    assert await hub.memories(OTHER_BOT) == []


async def test_with_isolation_off_they_share_what_either_knows(api: Api) -> None:
    await told(link(api), LIN, "我对海鲜过敏")

    shared = link(api, Options(filters=SHARED))

    assert "海鲜" in await known(shared, OTHER_BOT)
    assert len(await shared.memories(OTHER_BOT)) == len(await link(api).memories(LIN)) > 0
    assert await known(link(api), OTHER_BOT) == ""


async def test_what_was_said_in_private_stays_out_of_the_group(api: Api) -> None:
    hub = link(api)
    await told(hub, LIN, "我对海鲜过敏")

    assert await known(hub, IN_GROUP) == ""
    assert await hub.memories(IN_GROUP) == []
    free = link(api, Options(filters=Filters(use_session_filtering=False)))
    assert "海鲜" in await known(free, IN_GROUP)


async def test_a_group_with_the_number_of_its_member_hears_nothing_private(api: Api) -> None:
    hub = link(api)
    lin = replace(LIN, sender_id="555555", session_id="555555")
    group = replace(lin, message_type="GroupMessage")
    await told(hub, lin, "我对海鲜过敏")
    await told(hub, group, "我喜欢爬山")

    assert "海鲜" not in await known(hub, group)
    assert "海鲜" not in str(await hub.memories(group))
    assert "爬山" not in await known(hub, lin, "爬山")
    await hub.reset(group)
    assert "海鲜" in await known(hub, lin)


async def test_personas_share_only_if_they_are_told_to(api: Api) -> None:
    free = link(api, Options(filters=Filters(use_persona_filtering=False)))
    butler = replace(LIN, persona_id="管家")
    await told(free, butler, "我喜欢爬山")

    assert "爬山" in await known(free, replace(LIN, persona_id="cat girl"), "爬山")
    assert await known(link(api), butler, "爬山") == ""


async def test_a_member_of_a_group_is_the_user_of_what_they_say(api: Api) -> None:
    hub = link(api)
    other = replace(IN_GROUP, sender_id="20002")
    turns = Turns(Options(), hub, outbox := Outbox(hub.append))
    turns.remember(IN_GROUP, "我对海鲜过敏", "记住了", "m1")
    turns.remember(other, "我喜欢爬山 and coffee", "", "m2")
    await outbox.drained()

    await hub.catch_up(IN_GROUP)

    lin = api.as_("appkey", IN_GROUP.user_id).of("default")
    [reply, said] = (await lin.saw("/messages/recent", bot_id="10001"))["messages"]
    assert (said["content"], said["speaker"]) == ("我对海鲜过敏", IN_GROUP.user_id)
    assert (reply["role"], reply["client_msg_id"]) == ("assistant", "m1:reply")
    assert {row["type"] for row in await hub.memories(IN_GROUP)} >= {"profile"}
    assert await known(hub, other, "爬山") != ""
    assert "海鲜" not in await known(hub, other, "海鲜")


async def test_every_part_of_an_identity_has_a_column(api: Api) -> None:
    hub = link(api)
    await told(hub, IN_GROUP, "我叫阿明")
    assert api.hub is not None

    owner = api.as_("appkey", IN_GROUP.user_id)
    exported = [json.loads(line) for line in (await owner.export()).decode().splitlines()]

    [row] = [one for one in exported if one.get("kind") == "message"]
    columns = ("bot_id", "platform", "message_type", "session_id", "persona_id", "source_app")
    assert [row[name] for name in columns] == [
        "10001", "aiocqhttp", "GroupMessage", "777", "default", "astrbot",
    ]  # fmt: skip


async def test_a_key_of_one_user_is_refused(api: Api) -> None:
    hub = link(api, Options(api_key="devkey"))

    with pytest.raises(HubProblem) as problem:
        await hub.recall(LIN, "海鲜")

    assert problem.value.code == "not_an_app_key"
    status = await Answers(Options(), hub).to(LIN, Command("status"), is_operator=True)
    assert "应用密钥" in status


def gone(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("stopped", request=request)


async def hanging(request: httpx.Request) -> httpx.Response:
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.parametrize("answer", [gone, hanging, lambda _: httpx.Response(502, text="<html>")])
async def test_without_the_hub_a_reply_goes_ahead_and_the_log_says_so(
    answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    options = Options(deadline_s=0.05)
    hub = HubLink(options, httpx.MockTransport(answer))
    turns = Turns(options, hub, Outbox(hub.append))

    with caplog.at_level(logging.WARNING, "astrbot"):
        assert await turns.recall(LIN, "晚饭吃什么？", [], "c1") == Recalled()

    assert "id=bot_10001:qq1:FriendMessage:20001" in caplog.text
    assert "bot=on,persona=on,session=on" in caplog.text
    assert "晚饭" not in caplog.text


async def test_history_that_astrbot_sends_itself_is_not_recalled_again(api: Api) -> None:
    hub = link(api)
    turns = Turns(Options(), hub, outbox := Outbox(hub.append))
    turns.remember(LIN, "今天下雨了", "带伞吧", "m1", conversation="c1")
    await outbox.drained()

    same = await turns.recall(LIN, "天气", [], "c1")
    new = await turns.recall(LIN, "天气", [], "c2")

    assert same == Recalled()
    assert "今天下雨了" in new.turn


def test_recent_lines_are_read_whatever_their_form() -> None:
    contexts = [
        {"role": "user", "content": "旧"},
        {"role": "system", "content": "x"},
        {"role": "user", "content": [{"type": "text", "text": "你好"}, {"type": "image_url"}]},
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": "hello"},
    ]

    assert recent_of(contexts) == [
        {"role": "user", "content": "你好"},
        {"role": "assistant", "content": "hello"},
    ]


@dataclass
class Post:
    """A hub that takes or refuses what it is sent."""

    refusals: list[HubProblem]
    taken: list[str]

    async def append(self, who: Identity, messages: Sequence[Any]) -> list[int]:
        if self.refusals:
            raise self.refusals.pop(0)
        self.taken += [one["content"] for one in messages]
        return [len(self.taken)]


async def test_what_was_said_while_the_hub_was_away_arrives_later_in_order() -> None:
    post = Post([HubProblem("unreachable", "stopped")] * 3, [])
    outbox = Outbox(post.append, first_wait_s=0.001)

    for text in ("一", "二", "three"):
        outbox.put(Parcel(LIN, [{"content": text}]))
    await outbox.drained()

    assert post.taken == ["一", "二", "three"]


async def test_what_the_hub_will_never_take_does_not_hold_up_the_rest() -> None:
    post = Post([HubProblem("validation_error", "no")], [])
    outbox = Outbox(post.append)

    outbox.put(Parcel(LIN, [{"content": "坏"}]))
    outbox.put(Parcel(LIN, [{"content": "good"}]))
    await outbox.drained()

    assert post.taken == ["good"]


async def test_a_hub_that_stays_away_does_not_fill_the_memory() -> None:
    post = Post([HubProblem("unreachable", "stopped")] * 10_000, [])
    outbox = Outbox(post.append)

    for number in range(600):
        outbox.put(Parcel(LIN, [{"content": str(number)}]))

    assert len(outbox) == 500
    await outbox.close()


async def test_what_waits_survives_a_reload_and_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "outbox.jsonl"
    away = Post([HubProblem("unreachable", "stopped")] * 1000, [])
    before = Outbox(away.append, path=file)
    for text in ("一", "二", "three"):
        before.put(Parcel(LIN, [{"content": text}], "c1"))
    delivered: list[str] = []

    post = Post([], [])
    after = Outbox(post.append, path=file)
    after.on_delivered = lambda conversation, _: delivered.append(conversation)
    after.start()
    await after.drained()

    assert post.taken == ["一", "二", "three"]
    assert delivered == ["c1"] * 3
    assert len(Outbox(post.append, path=file)) == 0
    assert file.stat().st_mode & 0o077 == 0


async def test_what_has_arrived_is_not_sent_again_after_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "outbox.jsonl"
    post = Post([], [])
    outbox = Outbox(post.append, path=file)
    outbox.put(Parcel(LIN, [{"content": "一"}]))
    await outbox.drained()
    post.refusals += [HubProblem("unreachable", "stopped")] * 1000
    outbox.put(Parcel(LIN, [{"content": "二"}]))

    assert len(Outbox(post.append, path=file)) == 1


@pytest.mark.parametrize("damage", ["{", '{"number": "1"}', "[]", "\x00"])
async def test_a_damaged_file_loses_only_the_damaged_line(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "outbox.jsonl"
    away = Post([HubProblem("unreachable", "stopped")] * 1000, [])
    Outbox(away.append, path=file).put(Parcel(LIN, [{"content": "一"}]))
    with file.open("a", encoding="utf-8") as lines:
        lines.write(damage)

    assert len(Outbox(away.append, path=file)) == 1


async def test_a_disk_that_refuses_costs_no_message(tmp_path: Path) -> None:
    post = Post([], [])
    outbox = Outbox(post.append, path=tmp_path / "no such folder" / "outbox.jsonl")

    outbox.put(Parcel(LIN, [{"content": "一"}]))
    await outbox.drained()

    assert post.taken == ["一"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (Options(), "还没有填写密钥"),
        (Options(api_key="wrong"), "不认识这个密钥"),
        (Options(api_key="devkey"), "属于某一个用户"),
        (Options(api_key="appkey", hub_url="http://[nowhere"), "不是有效的网址"),
        (Options(api_key="appkey", hub_url="http://hub:port"), "不是有效的网址"),
        (Options(api_key="appkey", hub_url="http://my hub"), "不是有效的网址"),
    ],
)
async def test_what_is_wrong_is_told_to_the_operator_and_to_nobody_else(
    api: Api, options: Options, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    hub = HubLink(options, api.http._transport)
    answers = Answers(options, hub)

    member = await answers.to(LIN, Command("list"))
    in_group = await answers.to(IN_GROUP, Command("status"), is_operator=True)
    operator = await answers.to(LIN, Command("status"), is_operator=True)

    assert member == TEXTS["zh"]["down"]
    assert says not in in_group
    assert says in operator
    assert says in caplog.text
    await hub.close()


def test_both_languages_explain_the_same_problems() -> None:
    assert EXPLANATIONS["zh"].keys() == EXPLANATIONS["en"].keys()


async def test_talk_waits_until_the_operator_has_put_in_a_key() -> None:
    post = Post([HubProblem(code, "") for code in ("no_key", "unauthorized", "bad_address")], [])
    outbox = Outbox(post.append, first_wait_s=0.001)

    outbox.put(Parcel(LIN, [{"content": "一"}]))
    await outbox.drained()

    assert post.taken == ["一"]


async def test_the_status_says_how_rows_without_a_bot_get_one(api: Api) -> None:
    await api.as_("appkey", LIN.user_id).of("default").remember("喝绿茶")
    answers = Answers(Options(), link(api))

    told = await answers.to(LIN, Command("status"))

    assert "rekey --user aiocqhttp:20001 --from no-bot --to bot_10001" in told
    assert "rekey" not in await answers.to(IN_GROUP, Command("status"))


async def test_somebody_sees_and_forgets_only_their_own(api: Api) -> None:
    hub = link(api)
    answers = Answers(Options(), hub)
    await told(hub, LIN, "我对海鲜过敏")
    [row] = [row for row in await hub.memories(LIN) if row["type"] == "profile"]
    forget = Command("forget", (f"#{row['id']}",))

    assert f"#{row['id']}" in await answers.to(LIN, Command("list"))
    assert f"#{row['id']}" in await answers.to(LIN, Command("search", ("海鲜",)))
    for stranger in (CHEN, OTHER_BOT):
        assert await answers.to(stranger, Command("list")) == TEXTS["zh"]["nothing"]
        assert await answers.to(stranger, Command("search", ("海鲜",))) == TEXTS["zh"]["not_found"]
        assert await answers.to(stranger, forget) == TEXTS["zh"]["not_yours"]
    assert "1" in await answers.to(LIN, forget)
    assert row["id"] not in [left["id"] for left in await hub.memories(LIN)]


async def test_a_candidate_is_confirmed_and_takes_the_place_of_another(api: Api) -> None:
    hub, lin = link(api), api.as_("appkey", LIN.user_id).of("default")
    answers = Answers(Options(language="en"), hub)
    session = {"platform": LIN.platform, "message_type": LIN.message_type}
    place = {"bot_id": LIN.bot_id, "session_id": LIN.session_id, **session}
    first = await lin.remember("software developer", "identity", **place)
    second = await lin.remember("工程师", "identity", "k2", **place)

    assert "software developer" in await answers.to(LIN, Command("confirm"))
    assert await answers.to(LIN, Command("confirm", (str(first),))) == f"Confirmed #{first}."
    conflict = await answers.to(LIN, Command("confirm", (str(second),)))
    replaced = await answers.to(LIN, Command("confirm", (str(second), "replace")))

    assert f"#{first}" in conflict
    assert replaced == f"Confirmed #{second}."
    assert [row["content"] for row in await hub.memories(LIN)] == ["工程师"]


async def test_a_reset_is_asked_for_twice_and_spares_everybody_else(api: Api) -> None:
    hub = link(api)
    clock = SimpleNamespace(now=0.0)
    answers = Answers(Options(), hub, clock=lambda: clock.now)
    for who in (LIN, OTHER_BOT, CHEN):
        await told(hub, who, "我对海鲜过敏")
    await told(hub, IN_GROUP, "我喜欢吃辣")
    sure = Command("reset", ("confirm",))

    assert await answers.to(LIN, sure) == TEXTS["zh"]["late"]
    await answers.to(LIN, Command("reset"))
    assert await answers.to(CHEN, sure) == TEXTS["zh"]["late"]
    clock.now = 61.0
    assert await answers.to(LIN, sure) == TEXTS["zh"]["late"]
    await answers.to(LIN, Command("reset"))
    assert "已忘记" in await answers.to(LIN, sure)

    assert await known(hub, LIN) == ""
    assert "吃辣" in await known(hub, IN_GROUP, "吃辣")
    for other in (OTHER_BOT, CHEN):
        assert "海鲜" in await known(hub, other)


async def test_a_group_does_not_hear_what_its_members_said_elsewhere(api: Api) -> None:
    options = Options(filters=Filters(use_session_filtering=False))
    hub = link(api, options)
    await told(hub, LIN, "我对海鲜过敏")

    for command in (Command("list"), Command("search", ("海鲜",)), Command("confirm")):
        assert await Answers(options, hub).to(IN_GROUP, command) == TEXTS["zh"]["private"]
    assert "海鲜" in await Answers(options, hub).to(LIN, Command("list"))


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_a_command_that_lacks_something_says_what(api: Api, language: str) -> None:
    answers = Answers(Options(language=language), link(api))

    assert "/mem forget 12" in await answers.to(LIN, Command("forget"))
    assert "/mem search" in await answers.to(LIN, Command("search"))
    assert await answers.to(LIN, Command("confirm")) == TEXTS[language]["no_candidates"]


async def test_a_sender_may_have_a_chinese_name(api: Api) -> None:
    hub, ming = link(api), replace(LIN, sender_id="阿明")
    await told(hub, ming, "我对海鲜过敏")

    assert "海鲜" in await known(hub, ming)


async def test_commands_answer_when_the_hub_is_stopped() -> None:
    answers = Answers(Options(), HubLink(Options(), httpx.MockTransport(gone)))

    for name in ("status", "list", "confirm"):
        assert "记忆中枢暂时不可用" in await answers.to(LIN, Command(name))
    assert await answers.to(LIN, Command("help")) == HELP
