"""The panel: what is remembered, what was injected, what waits, and the settings."""

from __future__ import annotations

import pytest

from fake_upstream import FakeUpstream
from tavern_parts import Desk, Known, Meet

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
    waiting = desk.page.locator("#pm_inbox .pm-item")
    waiting.filter(has_text="后端工程师").locator(".fa-check").click()
    waiting.filter(has_text="后端工程师").wait_for(state="detached")
    waiting.filter(has_text="不对的").locator(".fa-xmark").click()
    waiting.filter(has_text="不对的").wait_for(state="detached")
    waiting.filter(has_text="诗人").locator(".fa-check").click()
    waiting.filter(has_text="诗人").locator(".fa-right-left").click()
    waiting.filter(has_text="诗人").wait_for(state="detached")

    desk.close_panel()
    assert "诗人" in known.memories(persona)
    assert "后端工程师" not in known.memories(persona)


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
