"""The plugin in a real AstrBot: two bots on OneBot, people who write to them, a real hub."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect

from astrbot_parts import AstrBot, Bot, online
from fake_model import FakeModel, fake_model
from harness import Server

pytestmark = [pytest.mark.external, pytest.mark.timeout(240)]
BOTS = {"qq1": 10001, "qq2": 10002}
FENCE = "<plastic_memories"


@dataclass(frozen=True)
class Scene:
    """One hub; one AstrBot whose bots are kept apart, and one whose bots share."""

    hub: Server
    model: FakeModel
    apart: AstrBot
    sharing: AstrBot

    @property
    def prompt(self) -> str:
        """What the model was told last, less AstrBot's own history."""
        *_, last = messages = self.model.asked[-1]["messages"]
        return str([one for one in messages if one["role"] == "system"] + [last])

    @property
    def history(self) -> str:
        return str(
            [one for one in self.model.asked[-1]["messages"] if one["role"] != "system"][:-1]
        )

    async def get(self, path: str, sender: int, **params: Any) -> Any:
        """Ask the hub as the application would."""
        async with httpx.AsyncClient(base_url=self.hub.url, headers=_as(sender)) as http:
            answer = await http.get(path, params={"persona_id": "default", **params})
            return answer.json()["data"]

    async def has_heard(self, sender: int) -> None:
        """Wait until something that somebody said has come to the hub."""
        url = f"{self.hub.url.replace('http', 'ws')}/ws/events?persona_id=default&resume_from=0"
        headers = _as(sender)
        async with (
            asyncio.timeout(60),
            connect(url, additional_headers=headers, open_timeout=None) as events,
        ):
            async for frame in events:
                if json.loads(frame).get("event") == "messages.append":
                    return


def _as(sender: int) -> dict[str, str]:
    return {"X-API-Key": "appkey", "X-User-Id": f"aiocqhttp:{sender}"}


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory, clients: Path) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("astrbot")
    (folder / "hub").mkdir()
    hub = Server(folder / "hub").start()
    python = clients / "astrbot" / "bin" / "python"

    def astrbot(name: str, **filters: bool) -> AstrBot:
        plugin = {
            "hub": {"url": hub.url, "api_key": "appkey"},
            "recall_settings": {"deadline_ms": 3000},
            "remember_settings": {"group_messages_without_reply": True},
            "filtering_settings": filters,
        }
        (folder / name / "data").mkdir(parents=True)
        return AstrBot(python, folder / name, model.url, plugin, BOTS)

    with fake_model() as model:
        model.says("好的")
        both = astrbot("apart"), astrbot("sharing", use_bot_isolation=False)
        try:
            for one in both:
                one.start()
            yield Scene(hub, model, *both)
        finally:
            for one in both:
                one.stop()
            hub.close()


async def learned(bot: Bot, sender: int, group: int = 0) -> str:
    """Have the hub learn from what was said, as a user would see it."""
    return await bot.asked("/mem list", sender, group)


async def test_two_bots_of_one_user_know_nothing_of_each_other(scene: Scene) -> None:
    async with online(scene.apart) as (one, two):
        await one.asked("我对海鲜过敏，请叫我阿明", 20001)
        seen = await learned(one, 20001)

        await one.asked("晚饭吃什么？", 20001)
        own = scene.prompt
        await two.asked("晚饭吃什么？", 20001)
        other = scene.prompt

        assert "海鲜" in seen
        assert "海鲜" in own
        assert FENCE not in other
        assert "海鲜" not in await two.asked("/mem list", 20001)
        assert "海鲜" not in await two.asked("/mem search 海鲜", 20001)


async def test_with_isolation_off_the_bots_share_what_either_knows(scene: Scene) -> None:
    async with online(scene.apart) as (one, _):
        await one.asked("I am allergic to peanuts", 20002)
        assert "peanuts" in await learned(one, 20002)

    async with online(scene.sharing) as (_, two):
        await two.asked("What may I eat?", 20002)

        assert "peanuts" in scene.prompt
        assert "bot=off" in await two.asked("/mem status", 20002)


async def test_what_is_injected_does_not_stay_in_the_history(scene: Scene) -> None:
    async with online(scene.apart) as (one, _):
        await one.asked("我喜欢喝乌龙茶", 20003)
        await learned(one, 20003)
        await one.asked("喝什么 tea 好？", 20003)
        assert FENCE in scene.prompt

        await one.asked("还有呢？", 20003)

        assert "喝什么 tea 好？" in scene.history
        assert FENCE not in scene.history


async def test_members_of_a_group_are_told_apart(scene: Scene) -> None:
    async with online(scene.apart) as (one, _):
        await one.asked("我对花生过敏", 20004, group=777)
        await one.asked("我喜欢爬山", 20005, group=777)
        seen = [await learned(one, sender, group=777) for sender in (20004, 20005)]

        await one.asked("你知道我什么？", 20005, group=777)

        assert ["花生" in text for text in seen] == [True, False]
        assert ["爬山" in text for text in seen] == [False, True]
        assert "花生" not in scene.prompt
    rows = (await scene.get("/messages/recent", 20004, bot_id="10001"))["messages"]
    assert [row["content"] for row in rows if row["role"] == "user"] == ["我对花生过敏"]
    assert {row["session_id"] for row in rows} == {"777"}
    assert rows[-1]["speaker"] == "aiocqhttp:20004"


async def test_what_members_say_to_each_other_is_theirs_too(scene: Scene) -> None:
    async with online(scene.apart) as (one, _):
        await one.hears("我养了一只猫叫团子", 20006, group=777, at=False)
        await scene.has_heard(20006)

        assert "团子" in await learned(one, 20006, group=777)
        assert "团子" not in await learned(one, 20005, group=777)


async def test_what_was_said_in_private_stays_out_of_the_group(scene: Scene) -> None:
    async with online(scene.apart) as (one, _):
        await one.asked("我住在杭州", 20007)
        assert "杭州" in await learned(one, 20007)

        await one.asked("我住在哪里？", 20007, group=777)

        assert "杭州" not in scene.prompt
        assert "杭州" not in await one.asked("/mem search 杭州", 20007, group=777)


async def test_a_group_with_the_number_of_its_member_hears_nothing_private(scene: Scene) -> None:
    async with online(scene.apart) as (one, _):
        await one.asked("我住在苏州", 20011)
        assert "苏州" in await learned(one, 20011)

        await one.asked("我住在哪里？", 20011, group=20011)

        assert "苏州" not in scene.prompt
        assert "苏州" not in await one.asked("/mem list", 20011, group=20011)


async def test_somebody_looks_at_their_memories_and_has_them_forgotten(scene: Scene) -> None:
    async with online(scene.apart) as (one, _):
        await one.asked("我对海鲜过敏，我喜欢 jazz", 20008)
        seen = await learned(one, 20008)
        number = next(line.split()[0] for line in seen.splitlines() if "海鲜" in line)

        assert "bot_10001:qq1:FriendMessage:20008" in await one.asked("/mem status", 20008)
        assert "没有这个编号" in await one.asked(f"/mem forget {number}", 20001)
        assert "1" in await one.asked(f"/mem forget {number}", 20008)
        assert number not in await learned(one, 20008)
        assert "60" in await one.asked("/mem reset", 20008)
        assert "已忘记" in await one.asked("/mem reset confirm", 20008)
        assert "还没有" in await learned(one, 20008)
        assert "/mem confirm" in await one.asked("/mem help", 20008)


async def test_log_lines_show_the_id_and_the_filters_and_no_memory(scene: Scene) -> None:
    async with online(scene.apart) as (one, _):
        await one.asked("你好", 20009)

    [line] = [
        line for line in scene.apart.log.splitlines() if "recall id=" in line and "20009" in line
    ]
    assert "id=bot_10001:qq1:FriendMessage:20009 user=aiocqhttp:20009 persona=default" in line
    assert "bot=on,persona=on,session=on" in line


async def test_a_reply_comes_when_the_hub_is_stopped_and_the_talk_is_kept_for_later(
    scene: Scene,
) -> None:
    async with online(scene.apart) as (one, _):
        scene.hub.kill()

        assert await one.asked("我喜欢下雪天", 20010) == "好的"

        assert "no memories id=bot_10001:qq1:FriendMessage:20010" in scene.apart.log
        scene.hub.start()
        await scene.has_heard(20010)
        assert "下雪" in await learned(one, 20010)


async def test_what_waits_is_sent_after_a_restart_of_astrbot(scene: Scene) -> None:
    async with online(scene.apart) as (one, _):
        scene.hub.kill()
        assert await one.asked("我喜欢听雨", 20012) == "好的"
        told = await one.asked("/mem list", 20012)

    scene.apart.stop()
    scene.hub.start()
    scene.apart.start()

    async with online(scene.apart) as (one, _):
        await scene.has_heard(20012)
        assert "听雨" in await learned(one, 20012)
    assert "Error" not in told
    assert scene.hub.url not in told
    assert "连不上记忆中枢" in scene.apart.log
