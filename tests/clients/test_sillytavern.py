"""The extension in a real SillyTavern, in a real browser, before a real hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from chat_upstream import Upstream, upstream
from harness import Json, Server
from tavern_parts import Desk, settings_of, sillytavern

pytestmark = [pytest.mark.external, pytest.mark.timeout(300)]

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
# What single tests change, and every test may rely on.
_USUAL = {
    "enabled": True,
    "timeoutMs": 5000,
    "perChat": False,
    "mem0_query_rewrite_enabled": False,
}


@pytest.fixture(scope="module")
def model() -> Iterator[Upstream]:
    with upstream() as served:
        yield served


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("hub")).start()
    yield server
    server.close()


@pytest.fixture(scope="module")
def desk(
    clients: Path, hub: Server, model: Upstream, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Desk]:
    """One SillyTavern and one browser for all tests; each has characters of its own."""
    # Installed with the real clients only.
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    home = clients / "sillytavern" / "node_modules" / "sillytavern"
    settings = settings_of(home, model.url, {"baseUrl": hub.url, "apiKey": "devkey", **_USUAL})
    with (
        sillytavern(home, tmp_path_factory.mktemp("sillytavern"), settings) as url,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=_FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        sitting = Desk(page, url)
        page.on(
            "request",
            lambda one: sitting.hub_calls.append(one.url) if hub.url in one.url else None,
        )
        page.on("console", lambda line: sitting.console.append(line.text))
        yield sitting.open()
        browser.close()


class Known:
    """What the hub knows, asked past SillyTavern."""

    def __init__(self, hub: Server) -> None:
        self.http = httpx.Client(base_url=hub.url, headers={"X-API-Key": "devkey"}, timeout=30)

    def ask(self, method: str, path: str, **more: Any) -> Json:
        given = {"params": more} if method == "GET" else {"json": more}
        answer = self.http.request(method, path, **given)  # type: ignore[arg-type]
        assert answer.status_code == 200, answer.text
        data: Json = answer.json()["data"]
        return data

    def digest(self, persona: str) -> None:
        self.ask("POST", "/jobs/run", persona_id=persona, wait=True)

    def memories(self, persona: str, **more: Any) -> str:
        found = self.ask("GET", "/memory/list", persona_id=persona, limit=200, **more)
        return "\n".join(row["content"] for row in found["items"] if row["type"] != "summary")

    def messages(self, persona: str, **more: Any) -> list[Json]:
        """Return what was said, oldest first."""
        found = self.ask("GET", "/messages/recent", persona_id=persona, limit=100, **more)
        return [*reversed(found["messages"])]


@pytest.fixture(scope="module")
def known(hub: Server) -> Iterator[Known]:
    asking = Known(hub)
    yield asking
    asking.http.close()


@pytest.fixture
def meet(desk: Desk, model: Upstream) -> Callable[..., str]:
    """Return a function that makes a character and opens a chat with it."""

    def start(name: str, greeting: str = "") -> str:
        model.reply = "好的。"
        for name_of, value in _USUAL.items():
            desk.set(name_of, value)
        avatar = desk.new_character(name, greeting)
        desk.sit_with(avatar)
        return avatar

    return start


Meet = Callable[..., str]


def test_a_fact_told_in_one_chat_is_in_the_prompt_of_the_next(
    desk: Desk, known: Known, model: Upstream, meet: Meet
) -> None:
    avatar = meet("小雨", "你好，我是小雨。")
    desk.say("我对海鲜过敏，记住哦")

    desk.new_chat()  # which ends the first one, and has it digested
    known.digest(desk.persona(avatar))
    desk.say("Where shall we have 晚饭?")

    assert "海鲜" in model.last_prompt
    assert "海鲜" not in "".join(desk.texts)


def test_messages_arrive_once_with_the_ids_they_carry(desk: Desk, known: Known, meet: Meet) -> None:
    avatar = meet("一次", "欢迎")
    desk.say("我叫小明")
    desk.page.reload()
    desk.open().sit_with(avatar)
    desk.say("and I live in Kyoto")

    stored = known.messages(desk.persona(avatar))

    assert [one["content"] for one in stored] == desk.texts
    ids = desk.run("(context) => context.chat.map((one) => one.extra.plastic_memories)")
    assert [one["client_msg_id"] for one in stored] == ids
    assert {one["source_app"] for one in stored} == {"sillytavern"}


def test_a_swipe_takes_back_what_the_reply_had_taught(
    desk: Desk, known: Known, model: Upstream, meet: Meet
) -> None:
    avatar = meet("养猫的人")
    model.reply = "我养了一只猫，叫团子。"
    desk.say("你养宠物吗？")
    persona = desk.persona(avatar)
    known.digest(persona)
    assert "团子" in known.memories(persona)

    model.reply = "我住在杭州。"
    desk.swipe()

    assert desk.texts[-1] == "我住在杭州。"
    assert "团子" not in known.memories(persona)
    assert "团子" not in str(known.messages(persona))

    desk.swipe("left")

    assert desk.texts[-1] == "我养了一只猫，叫团子。"
    assert "团子" in known.memories(persona)


def test_an_edit_changes_what_is_remembered(desk: Desk, known: Known, meet: Meet) -> None:
    avatar = meet("改口")
    desk.say("我叫小明")
    persona = desk.persona(avatar)
    known.digest(persona)
    assert "小明" in known.memories(persona)

    desk.edit(0, "我叫小红")

    assert "小红" in known.memories(persona)
    assert "小明" not in known.memories(persona)


def test_a_deleted_message_is_forgotten(desk: Desk, known: Known, meet: Meet) -> None:
    avatar = meet("删除")
    desk.say("我对花生过敏")
    desk.say("天气不错")
    persona = desk.persona(avatar)
    known.digest(persona)
    assert "花生" in known.memories(persona)

    with desk.change():
        desk.command("/cut 0-1")

    assert [one["content"] for one in known.messages(persona)] == desk.texts
    assert "花生" not in known.memories(persona)


def test_a_regenerated_reply_replaces_the_old_one(
    desk: Desk, known: Known, model: Upstream, meet: Meet
) -> None:
    avatar = meet("重来")
    desk.say("你好")

    model.reply = "你也好。"
    with desk.change():
        desk.page.evaluate("document.getElementById('option_regenerate').click()")
        desk.until("() => SillyTavern.getContext().chat.at(-1)?.mes === '你也好。'")
        desk.idle()

    stored = [one["content"] for one in known.messages(desk.persona(avatar))]
    assert stored == ["你好", "你也好。"]


def test_a_branch_knows_its_past_and_not_what_it_left_behind(
    desk: Desk, known: Known, meet: Meet
) -> None:
    avatar = meet("岔路")
    desk.say("我叫小红")
    desk.say("我对海鲜过敏")
    main = desk.chat_id

    desk.branch_at(1)
    desk.say("我对花生过敏")

    persona, session = desk.persona(avatar), desk.session
    branch = desk.run("(context) => context.chatMetadata.plastic_memories.branch")
    line = known.messages(persona, session_id=session, branch_id=branch)
    assert [one["content"] for one in line] == desk.texts
    assert "海鲜" not in str(line)
    desk.run("(context, chat) => context.openCharacterChat(chat)", main)
    assert "花生" not in str(known.messages(persona, session_id=session, branch_id=""))


def test_the_hub_may_stop_in_mid_chat(
    desk: Desk, hub: Server, known: Known, model: Upstream, meet: Meet
) -> None:
    avatar = meet("断线")
    desk.say("我叫小明")
    desk.set("timeoutMs", 500)
    hub.kill()  # whoever calls now waits, and gets no answer

    desk.send("我喜欢喝乌龙茶")

    assert desk.texts[-1] == model.reply
    hub.start()
    desk.settled()
    stored = [one["content"] for one in known.messages(desk.persona(avatar))]
    assert stored == desk.texts
    assert desk.page.locator(".toast").count() <= 1


def test_two_characters_of_one_name_do_not_mix(
    desk: Desk, known: Known, model: Upstream, meet: Meet
) -> None:
    first = meet("双胞胎")
    desk.say("我叫小明，我对芒果过敏")
    known.digest(desk.persona(first))

    second = meet("双胞胎")
    desk.say("你还记得吗？")

    assert desk.persona(first) != desk.persona(second)
    assert "双胞胎" in desk.persona(first)
    assert known.memories(desk.persona(second)) == ""


def test_a_renamed_character_keeps_its_memory(desk: Desk, known: Known, meet: Meet) -> None:
    avatar = meet("旧名")
    desk.say("我叫小明")
    persona = desk.persona(avatar)

    desk.command("/rename-char silent=true chats=false 新名")
    desk.page.wait_for_function(
        "(() => { const c = SillyTavern.getContext();"
        " return c.characters[c.characterId]?.name === '新名' && c.chat.length > 1; })()"
    )
    desk.say("还是我")

    assert desk.persona("新名.png") == persona
    assert [one["content"] for one in known.messages(persona)] == desk.texts
    personas = known.ask("GET", "/persona/list")["items"]
    assert "新名" in [one["display_name"] for one in personas if one["persona_id"] == persona]


def test_each_chat_alone_if_so_wished(
    desk: Desk, known: Known, model: Upstream, meet: Meet
) -> None:
    meet("分开")
    desk.set("perChat", value=True)
    desk.say("我最喜欢的茶是铁观音")
    first = desk.persona(desk.avatar) + "~" + desk.session
    known.digest(first)

    desk.new_chat()
    desk.say("我最喜欢什么茶？")

    assert "铁观音" in known.memories(first)
    assert "铁观音" not in model.last_prompt


@pytest.mark.parametrize("kind", ["quiet", "impersonate", "dry"])
def test_only_real_replies_are_given_memories(
    desk: Desk, known: Known, model: Upstream, meet: Meet, kind: str
) -> None:
    avatar = meet(f"安静{kind}")
    desk.say("我对海鲜过敏")
    known.digest(desk.persona(avatar))
    desk.say("晚饭吃什么？")
    assert "海鲜过敏" in model.last_prompt
    marks = model.last_prompt.count("海鲜")
    desk.hub_calls.clear()

    ways = {
        "quiet": "(context) => context.generateQuietPrompt({ quietPrompt: 'Sum up' })",
        "impersonate": "(context) => context.generate('impersonate')",
        "dry": "(context) => context.generate('normal', {}, true)",
    }
    desk.run(ways[kind])

    assert not [call for call in desk.hub_calls if call.endswith("/memory/recall")]
    if kind != "dry":
        assert model.last_prompt.count("海鲜") < marks


def test_a_streamed_reply_is_kept_whole(
    desk: Desk, known: Known, model: Upstream, meet: Meet
) -> None:
    avatar = meet("流")
    model.reply = "慢慢地说，一个字 one word 一个字。"
    desk.run("(context) => { context.chatCompletionSettings.stream_openai = true; }")

    desk.say("说吧")

    desk.run("(context) => { context.chatCompletionSettings.stream_openai = false; }")
    assert [one["content"] for one in known.messages(desk.persona(avatar))] == ["说吧", model.reply]
    assert model.asked[-1]["stream"]


def test_in_a_group_everybody_hears_who_says_what(
    desk: Desk, known: Known, model: Upstream, meet: Meet
) -> None:
    first, second = meet("甲"), meet("乙")
    desk.sit_with_group([first, second])
    model.reply = "我来了。"

    desk.page.fill("#send_textarea", "大家好，我叫小明")
    desk.page.click("#send_but")
    desk.page.wait_for_function(
        "SillyTavern.getContext().chat.filter((one) => one.mes === '我来了。').length === 2"
    )
    desk.settled()

    heard = known.messages(desk.persona(first), session_id=desk.session)
    said = {(one["role"], one["speaker"]) for one in heard}
    assert said == {("user", None), ("assistant", "甲"), ("user", "乙")}
    assert len(known.messages(desk.persona(second), session_id=desk.session)) == len(heard)


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


def test_the_question_may_be_rewritten_first(
    desk: Desk, known: Known, model: Upstream, meet: Meet
) -> None:
    avatar = meet("改写")
    desk.say("我最喜欢的茶是铁观音")
    known.digest(desk.persona(avatar))
    desk.set("mem0_query_rewrite_enabled", value=True)
    desk.set("mem0_query_rewrite_prompt", "REWRITE-IT")
    model.asked.clear()

    model.reply = "用户最喜欢的茶"
    desk.say("那个是什么来着？")

    assert model.asked[0]["messages"][0]["content"] == "REWRITE-IT"
    assert "那个是什么来着" in model.asked[0]["messages"][1]["content"]
    desk.show_panel("injected")
    assert "用户最喜欢的茶" in desk.page.inner_text("#pm_injected")
    desk.close_panel()


def test_the_panel_shows_what_was_injected_with_its_tokens(
    desk: Desk, known: Known, model: Upstream, meet: Meet
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
