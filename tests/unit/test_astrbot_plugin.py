"""The AstrBot plugin without AstrBot: what it keeps apart, and what happens without a hub."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from integrations.astrbot.answers import Answers
from integrations.astrbot.commands import HELP, TEXTS, Command
from integrations.astrbot.hub_link import HubLink, HubProblem
from integrations.astrbot.identity import (
    Identity,
)
from integrations.astrbot.options import Filters, Options
from integrations.astrbot.outbox import Outbox, Parcel
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
    assert "应用密钥" in await Answers(Options(), hub).to(LIN, Command("status"))


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
        assert "记忆中心暂时不可用" in await answers.to(LIN, Command(name))
    assert await answers.to(LIN, Command("help")) == HELP
