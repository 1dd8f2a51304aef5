"""A first evening with the console: talk, confirm, ask why, connect, forget; and its safety."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from clients.console.conftest import Caller, Visit
from fake_upstream import FakeUpstream
from harness import Server, environment

pytestmark = [pytest.mark.external, pytest.mark.timeout(180)]


def test_a_one_time_link_signs_in_and_leaves_no_trace_in_the_address(
    visit: Visit, hub: Server
) -> None:
    inherited = {name: text for name, text in os.environ.items() if "PLASTIC" not in name}
    port = hub.url.rpartition(":")[2]
    made = subprocess.run(
        [sys.executable, "-m", "plastic_memories.cli", "console", "--no-open", "--json"],
        env={**inherited, **environment(hub.folder, port=port)},
        capture_output=True,
        text=True,
        check=True,
    )
    visitor = visit(key=None)

    visitor.page.goto(json.loads(made.stdout)["url"])
    visitor.page.wait_for_selector(".sidebar")

    assert "link=" not in visitor.page.url
    assert visitor.page.locator(".links [data-view=operations]").count() == 1
    assert visitor.open("operations").text(".verdict") == "一切正常"


def test_what_is_said_is_kept_and_shown_at_once(visit: Visit) -> None:
    visitor = visit().open("say")

    visitor.page.fill(".composer textarea", "叫我小林，我对海鲜过敏。今天天气不错。")
    visitor.page.keyboard.press("Enter")
    visitor.page.wait_for_selector(".outcome")
    visitor.page.wait_for_selector(".prompt-now pre")

    assert "小林" in visitor.text(".outcome .kept")
    assert "今天天气不错" in visitor.text(".left-out")
    assert "海鲜" in visitor.text(".prompt-now")


def test_a_password_is_refused_and_the_reason_is_shown(visit: Visit) -> None:
    visitor = visit().open("say")

    visitor.page.fill(".composer textarea", "我喜欢喝茶。我的密码是 hunter2secret。")
    visitor.page.keyboard.press("Enter")
    visitor.page.wait_for_selector(".outcome")

    assert "hunter2secret" not in visitor.text(".outcome .kept")
    assert "敏感信息" in visitor.text(".left-out")


def test_with_an_upstream_it_is_a_chat_with_memory_beside_it(
    visit: Visit, hub: Server, model: FakeUpstream
) -> None:
    hub.kill()
    hub.settings = {"proxy_upstream_url": model.url, "proxy_upstream_key": "upstream-key"}
    hub.start()
    model.says("那就别点虾了。")
    Caller(hub, "devkey").remember("对海鲜过敏", "profile", "allergy.seafood")
    visitor = visit().open("say")

    visitor.page.fill(".model input", "some-model")
    visitor.page.fill(".composer textarea", "晚饭能点虾吗？")
    visitor.page.keyboard.press("Enter")
    visitor.page.wait_for_selector(".answer")

    assert visitor.text(".answer") == "那就别点虾了。"
    assert "条记忆" in visitor.text(".reply")


def test_a_candidate_is_confirmed_with_the_keyboard(visit: Visit, hub: Server) -> None:
    caller = Caller(hub, "devkey")
    caller.remember("先说结论", "values", "style")
    visitor = visit().open("inbox")

    visitor.page.keyboard.press("j")
    visitor.page.keyboard.press("c")
    visitor.page.wait_for_selector(".empty")

    slots = caller.post("/persona/slots/get")["items"]
    assert [slot["slot_name"] for slot in slots] == ["values"]


def test_a_rejection_can_be_taken_back(visit: Visit, hub: Server) -> None:
    Caller(hub, "devkey").remember("先说结论", "values", "style")
    visitor = visit().open("inbox")

    visitor.page.keyboard.press("j")
    visitor.page.keyboard.press("x")
    visitor.page.wait_for_selector(".empty")
    visitor.page.click(".toast .link")

    visitor.page.wait_for_selector(".candidate")


def test_what_another_program_writes_appears_by_itself(visit: Visit, hub: Server) -> None:
    visitor = visit().open("memories")
    visitor.page.wait_for_selector(".connection[data-status=open]")

    Caller(hub, "devkey").remember("刚刚从桌宠来")

    visitor.page.wait_for_selector("text=刚刚从桌宠来")


def test_a_lost_connection_shows_and_heals(visit: Visit, hub: Server) -> None:
    visitor = visit().open("memories")
    visitor.page.wait_for_selector(".connection[data-status=open]")

    hub.kill()
    visitor.page.wait_for_selector(".connection[data-status=reconnecting]")
    hub.start()
    visitor.page.wait_for_selector(".connection[data-status=open]", timeout=40_000)
    Caller(hub, "devkey").remember("断线之后")

    visitor.page.wait_for_selector("text=断线之后")


def test_search_waits_for_the_input_method(visit: Visit, hub: Server) -> None:
    Caller(hub, "devkey").remember("喜欢乌龙茶")
    Caller(hub, "devkey").remember("讨厌下雨", key="k2")
    visitor = visit().open("memories")
    asked: list[str] = []
    visitor.page.on("request", lambda one: asked.append(one.url) if "q=" in one.url else None)
    field = visitor.page.locator("[data-search]")

    field.focus()
    client = visitor.page.context.new_cdp_session(visitor.page)
    for text in ("w", "wu", "wulong"):
        client.send(
            "Input.imeSetComposition",
            {"text": text, "selectionStart": len(text), "selectionEnd": len(text)},
        )
    visitor.page.wait_for_timeout(500)  # longer than the pause that starts a search
    while_composing = list(asked)
    client.send("Input.insertText", {"text": "乌龙"})
    visitor.rows(1)

    assert while_composing == []
    assert "喜欢乌龙茶" in visitor.text(".memory-list")


def test_a_memory_is_edited_in_place_and_shows_its_history(visit: Visit, hub: Server) -> None:
    Caller(hub, "devkey").remember("喜欢乌龙茶")
    visitor = visit().open("memories")

    visitor.page.click(".row-actions [aria-label=修改]")
    visitor.page.fill(".editor textarea", "喜欢白茶")
    visitor.page.keyboard.press("Enter")
    visitor.page.wait_for_selector(".memory-row >> text=喜欢白茶")
    visitor.page.click(".memory-row .opener")
    visitor.page.wait_for_selector(".history del")

    assert "白" in visitor.text(".history ins")
    visitor.picture("memory-zh-light")


def test_forgetting_shows_a_receipt_and_never_again_is_listed(visit: Visit, hub: Server) -> None:
    Caller(hub, "devkey").remember("怕打针", "profile", "health.fear")
    visitor = visit().open("memories")

    visitor.page.click(".row-actions [aria-label=忘记]")
    visitor.page.check("dialog input >> nth=0")
    visitor.page.click("dialog .danger")
    visitor.page.wait_for_selector("dialog dl")
    receipt = visitor.text("dialog")
    visitor.picture("receipt-zh-light")
    visitor.page.click("dialog .primary")
    visitor.page.click("text=永不再记")
    visitor.page.wait_for_selector(".never li")

    assert "已忘记 1 条" in receipt
    assert visitor.page.locator(".never li").count() == 1


def test_a_selection_is_revoked_and_comes_back(visit: Visit, hub: Server) -> None:
    for number in range(3):
        Caller(hub, "devkey").remember(f"第{number}件事", key=f"k{number}")
    visitor = visit().open("memories")

    visitor.page.check(".memory-row input >> nth=0")
    visitor.page.check(".memory-row input >> nth=1")
    visitor.page.click(".bulk >> text=撤回")
    visitor.rows(1)
    visitor.page.click(".toast .link")

    visitor.rows(3)


def test_the_lab_shows_why_and_compares_two_budgets(visit: Visit, hub: Server) -> None:
    caller = Caller(hub, "devkey")
    for number in range(8):
        caller.remember(f"第{number}次一起吃晚饭，点了一桌子好菜，聊得很开心", key=f"k{number}")
    visitor = visit().open("lab?q=晚饭吃什么")
    visitor.page.wait_for_selector(".hit .bar")

    visitor.page.click(".lab-results .actions .button")
    visitor.page.fill("#lab-budget", "60")
    visitor.page.click(".lab-form .primary")
    visitor.page.wait_for_selector(".compare .run >> nth=1")

    assert visitor.page.locator(".compare .hit.differs").count() > 0
    assert "预算用完" in visitor.text(".compare")
    visitor.picture("compare-zh-light")


def test_connect_makes_a_key_and_sees_the_first_call(visit: Visit, hub: Server) -> None:
    visitor = visit().open("connect")

    visitor.page.click(".client .primary >> nth=0")
    visitor.page.wait_for_selector(".first-call")
    [key] = re.findall(r"pm_[\w-]{20,}", visitor.text(".copy-box >> nth=0"))
    Caller(hub, key).remember("从酒馆来")

    visitor.page.wait_for_selector(".first-call.arrived")
    assert hub.url in visitor.text(".copy-box >> nth=1")


def test_conflicting_personas_are_merged(visit: Visit, hub: Server) -> None:
    caller = Caller(hub, "devkey")
    caller.remember("喜欢喝茶", "profile", "preference.drink")
    caller.remember("喜欢咖啡", "profile", "preference.drink", persona_id="小忆")
    visitor = visit().open("about")

    visitor.page.click(".conflict .side:has-text('喜欢咖啡') .button")
    visitor.page.wait_for_selector(".conflict", state="detached")

    assert "喜欢喝茶" not in visitor.text(".groups")
    assert "喜欢咖啡" in visitor.text(".groups")


def test_two_people_see_nothing_of_each_other(visit: Visit, hub: Server) -> None:
    Caller(hub, "devkey").remember("甲的秘密", "profile", "secret.one")
    Caller(hub, "devkey").post("/messages/append", role="user", content="甲的秘密")
    other = visit("devkey2")

    views = (
        "memories",
        "inbox",
        "about",
        "lab?q=甲的秘密",
        "timeline",
        "persona",
        "activity",
        "connect",
    )
    seen = {view: other.open(view).text() for view in views}
    Caller(hub, "devkey").remember("甲的另一个秘密", key="k2")
    other.page.wait_for_timeout(500)

    assert [view for view, text in seen.items() if "秘密" in text] == []
    assert "秘密" not in other.open("memories").text()


def test_an_app_key_chooses_a_person_by_name(visit: Visit, hub: Server) -> None:
    caller = Caller(hub, "devkey")
    caller.post("/memory/write", messages=[{"role": "user", "content": "叫我小林"}])
    visitor = visit("appkey")

    visitor.page.fill("[data-search]", "小林")
    visitor.page.wait_for_selector(".people button:has-text('userA')")
    visitor.picture("people-zh-light")
    visitor.page.click(".people button >> nth=0")
    visitor.page.wait_for_selector(".sidebar")

    assert "小林" in visitor.open("memories").text()


def test_the_demo_is_loaded_and_taken_away(visit: Visit) -> None:
    visitor = visit().open("say")
    visitor.page.locator(".empty .button").last.click()
    visitor.page.wait_for_selector(".memory-row")

    visitor.open("persona").page.click("text=移除演示")
    visitor.page.wait_for_selector("dialog dl")

    assert "不留痕迹" in visitor.text("dialog")
    visitor.page.click("dialog .primary")
    assert "还没有记忆" in visitor.open("memories").text()


def test_signing_out_ends_the_session(visit: Visit, hub: Server) -> None:
    visitor = visit().open("memories")
    [cookie] = visitor.page.context.cookies()

    visitor.page.click(".foot [aria-label=退出]")
    visitor.page.click("dialog .primary")
    visitor.page.wait_for_selector(".gate")

    headers = {"Cookie": f"{cookie['name']}={cookie['value']}", "X-Console": "1"}
    answer = httpx.get(f"{hub.url}/console/session", headers=headers, trust_env=False)
    assert answer.status_code == 401
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"


def test_the_keyboard_goes_everywhere(visit: Visit) -> None:
    visitor = visit().open("say")
    visitor.page.locator("main").focus()

    visitor.page.keyboard.press("g")
    visitor.page.keyboard.press("i")
    visitor.page.wait_for_selector(".links [data-view=inbox][aria-current=page]")
    visitor.page.keyboard.press("?")

    assert "快捷键" in visitor.text("dialog")


def test_a_chat_is_previewed_imported_and_taken_back(
    visit: Visit, hub: Server, tmp_path: Path
) -> None:
    lines = [
        {"user_name": "me", "character_name": "小忆"},
        {"name": "me", "is_user": True, "mes": "叫我小林", "send_date": "June 19, 2026 4:13pm"},
        {"name": "小忆", "is_user": False, "mes": "<b>好的</b>，小林"},
    ]
    chat = tmp_path / "chat.jsonl"
    chat.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    visitor = visit().open("transfer")

    visitor.page.set_input_files("#chat-file", chat)
    card = ".card:has(#chat-file)"
    visitor.page.click(f"{card} .primary")
    visitor.page.wait_for_selector(f"{card} .kept")
    before = visitor.text(f"{card} .kept")
    visitor.page.click(f"{card} .actions .button >> nth=1")
    visitor.page.wait_for_selector(f"{card} .verdict")
    learned = Caller(hub, "devkey").post("/memory/recall", query="怎么称呼")["injection_block"]
    visitor.page.click(f"{card} .log .text-button")
    visitor.page.click("dialog .danger")
    visitor.page.wait_for_selector(f"{card} .log", state="detached")
    after = Caller(hub, "devkey").post("/memory/recall", query="怎么称呼")["injection_block"]

    assert "叫我小林" in before
    assert "叫我小林" in learned
    assert "小林" not in after
