"""The panel: what is remembered, what was injected, what waits, and the settings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from fake_upstream import FakeUpstream
from tavern_parts import Desk, Known, Meet

if TYPE_CHECKING:  # only those who test with real clients have it
    from playwright.sync_api import Locator

pytestmark = [pytest.mark.external, pytest.mark.timeout(300)]


def test_what_was_said_before_the_memory_was_on_is_told_only_when_asked(
    desk: Desk, known: Known, meet: Meet
) -> None:
    avatar = meet("从前")
    desk.show_panel("settings")
    desk.page.uncheck("[data-setting=enabled]")
    desk.close_panel()
    desk.send("这是秘密花园的故事")
    desk.show_panel("settings")
    desk.page.check("[data-setting=enabled]")
    desk.close_panel()
    desk.say("现在开始")
    persona = desk.persona(avatar)
    assert [one["content"] for one in known.messages(persona)] == desk.texts[2:]

    desk.show_panel("memories")
    with desk.change():
        desk.page.click("#pm_whole_chat")
    desk.close_panel()

    stored = sorted(one["content"] for one in known.messages(persona))
    assert stored == sorted(desk.texts)


def test_a_story_stays_a_story(desk: Desk, known: Known, meet: Meet) -> None:
    avatar = meet("说书人")
    desk.say("我们开始吧")
    desk.show_panel("memories")
    with desk.change():
        desk.page.check("#pm_story")
    desk.close_panel()
    desk.say("我叫龙王")
    persona = desk.persona(avatar)
    known.digest(persona)

    told = known.ask("GET", "/memory/list", persona_id=persona)["items"]

    assert {row["realm"] for row in told if "龙王" in row["content"]} == {"story"}


def test_the_panel_shows_what_was_injected_with_its_tokens(
    desk: Desk, known: Known, model: FakeUpstream, meet: Meet
) -> None:
    avatar = meet("看见")
    desk.say("我对海鲜过敏")
    known.digest(desk.persona(avatar))
    desk.say("晚饭吃什么？")

    desk.show_panel("injected")

    shown = desk.page.inner_text("#pm_injected")
    desk.close_panel()
    assert "海鲜" in shown
    assert "tokens" in shown


def test_memories_are_edited_pinned_forgotten_and_brought_back(
    desk: Desk, known: Known, meet: Meet
) -> None:
    avatar = meet("清单")
    desk.say("我叫小明，我对海鲜过敏")
    persona = desk.persona(avatar)
    known.digest(persona)
    desk.show_panel("memories")

    desk.memory("我对海鲜过敏").locator(".fa-pencil").click()
    field = desk.page.locator("#pm_memories textarea")
    field.fill("我对贝类过敏")
    field.press("Enter")
    desk.memory("我对贝类过敏").wait_for()
    assert "贝类" in known.memories(persona)
    desk.memory("我对贝类过敏").locator(".fa-rotate-left").click()
    desk.memory("我对海鲜过敏").wait_for()
    assert "贝类" not in known.memories(persona)

    name = desk.memory("我叫小明")
    name.locator(".fa-thumbtack").click()
    desk.page.locator("#pm_memories .pm-pinned").wait_for()
    name.locator(".fa-trash-can").click()
    name.locator(".pm-undo").click()
    name.locator(".fa-trash-can").wait_for()
    assert "小明" in known.memories(persona)
    name.locator(".fa-trash-can").click()
    name.wait_for(state="detached", timeout=20_000)
    desk.close_panel()
    assert "小明" not in known.memories(persona)


def test_the_inbox_asks_and_the_user_decides(desk: Desk, known: Known, meet: Meet) -> None:
    avatar = meet("信箱")
    desk.say("你好")
    persona = desk.persona(avatar)
    for number, content in enumerate(("后端工程师", "诗人", "不对的")):
        write = {"type": "identity", "key": f"id{number}", "content": content}
        known.ask("POST", "/memory/write", persona_id=persona, **write)

    desk.show_panel("inbox")

    def card(text: str) -> Locator:
        told = desk.page.locator(".pm-text", has_text=text)  # not what it would replace
        return desk.page.locator("#pm_inbox .pm-item", has=told)

    card("后端工程师").locator(".fa-check").click()
    card("后端工程师").wait_for(state="detached")
    card("不对的").locator(".fa-xmark").click()
    card("不对的").wait_for(state="detached")
    card("诗人").locator(".fa-check").click()
    card("诗人").locator(".fa-right-left").click()
    card("诗人").wait_for(state="detached")

    desk.close_panel()
    assert "诗人" in known.memories(persona)
    assert "后端工程师" not in known.memories(persona)


def test_a_card_in_the_inbox_says_where_it_comes_from_and_what_it_ends(
    desk: Desk, known: Known, meet: Meet
) -> None:
    avatar = meet("来历")
    desk.say("你好")
    persona = desk.persona(avatar)
    place = {"persona_id": persona, "type": "profile", "key": "basic_info.city"}
    known.ask("POST", "/memory/write", content="住在杭州", **place)
    guessed = {"source_type": "model_inferred", "source_app": "ide", "content": "住在上海"}
    known.ask("POST", "/memory/write", **place, **guessed)

    desk.show_panel("inbox")
    card = desk.page.locator("#pm_inbox .pm-item", has_text="住在上海")
    card.wait_for()
    told = card.inner_text()
    card.locator(".fa-ban").click()
    card.wait_for(state="detached")

    desk.close_panel()
    assert "concluded from the talk · ide" in told
    assert "住在杭州" in told
    assert re.search(r"\d{4}.*\d:\d\d", told)
    known.ask("POST", "/memory/write", **place, **guessed)
    waiting = known.ask("GET", "/memory/list", persona_id=persona, status="candidate")
    assert waiting["items"] == []


def test_what_waits_is_not_called_nothing(desk: Desk, known: Known, meet: Meet) -> None:
    avatar = meet("等待")
    desk.say("你好")
    slot = {"persona_id": desk.persona(avatar), "type": "identity", "key": "id", "content": "诗人"}
    known.ask("POST", "/memory/write", **slot)

    desk.show_panel("memories")
    shown = desk.page.locator("#pm_memories", has_text="Waiting for your word: 1")
    shown.wait_for()
    shown.locator("button").click()

    desk.page.locator("#pm_inbox .pm-item", has_text="诗人").wait_for()
    desk.close_panel()


def test_learning_now_says_what_came_of_it(desk: Desk, meet: Meet) -> None:
    meet("马上")
    desk.say("我对芒果过敏")
    desk.show_panel("memories")

    desk.page.click("#pm_learn_now")
    desk.page.locator("#pm_learned", has_text=re.compile(r"Learned: \d|nothing new")).wait_for()
    desk.page.click("#pm_learn_now")
    desk.page.locator("#pm_learned", has_text="nothing new").wait_for()

    assert "芒果" in desk.page.inner_text("#pm_memories")
    desk.close_panel()


def test_an_edit_can_be_cancelled(desk: Desk, known: Known, meet: Meet) -> None:
    avatar = meet("算了")
    desk.say("你好")
    persona = desk.persona(avatar)
    tea = {"type": "fact", "key": "tea", "content": "喝绿茶"}
    known.ask("POST", "/memory/write", persona_id=persona, **tea)
    desk.show_panel("memories")
    desk.memory("喝绿茶").locator(".fa-pencil").click()
    desk.page.locator("#pm_memories textarea").fill("喝红茶")

    desk.page.click("#pm_memories .pm-cancel")

    desk.memory("喝绿茶").wait_for()
    desk.close_panel()
    assert "红茶" not in known.memories(persona)


def test_the_panel_links_to_the_console_at_this_character(
    desk: Desk, known: Known, meet: Meet
) -> None:
    avatar = meet("链接")
    desk.say("你好")

    desk.show_panel("memories")
    link = desk.page.get_attribute("#pm_console", "href")

    desk.close_panel()
    assert link == f"{desk.get('baseUrl')}/console#persona={quote(desk.persona(avatar))}"


def test_without_a_key_the_dot_is_not_green(desk: Desk, meet: Meet) -> None:
    meet("钥匙")
    desk.show_panel("settings")
    dot = desk.page.locator("#pm_dot")
    key = desk.page.locator("[data-setting=apiKey]")

    states = []
    for given in ("", "wrong", "devkey"):
        key.fill(given)
        states.append(dot.get_attribute("data-state"))
        key.blur()
        wanted = {"": "off", "wrong": "bad", "devkey": "ok"}[given]
        desk.page.locator(f"#pm_dot[data-state={wanted}]").wait_for()

    desk.close_panel()
    assert states == ["off", "off", "off"]


@pytest.mark.parametrize(
    ("setting", "value", "says"),
    [
        ("apiKey", "devkey", "Connected"),
        ("apiKey", "wrong", "does not know this key"),
        ("baseUrl", "http://127.0.0.1:9", "cannot be reached"),
    ],
)
def test_the_connection_can_be_tested(desk: Desk, setting: str, value: str, says: str) -> None:
    before = desk.get(setting)
    desk.show_panel("settings")
    desk.page.fill(f"[data-setting={setting}]", value)

    desk.page.click("#pm_test")

    result = desk.page.locator("#pm_test_result", has_text=says)
    result.wait_for(timeout=10_000)
    desk.page.fill(f"[data-setting={setting}]", before)
    desk.close_panel()


def test_no_key_is_ever_logged(desk: Desk) -> None:
    assert desk.console
    assert "devkey" not in str(desk.console)
