"""What is said in SillyTavern is remembered, and nothing ever holds a reply up."""

from __future__ import annotations

import pytest

from fake_upstream import FakeUpstream
from harness import Server
from tavern_parts import Desk, Known, Meet, prompt_of

pytestmark = [pytest.mark.external, pytest.mark.timeout(300)]


def test_a_fact_told_in_one_chat_is_in_the_prompt_of_the_next(
    desk: Desk, known: Known, model: FakeUpstream, meet: Meet
) -> None:
    avatar = meet("小雨", "你好，我是小雨。")
    desk.say("我对海鲜过敏，记住哦")

    desk.new_chat()  # which ends the first one, and has it digested
    known.digest(desk.persona(avatar))
    desk.say("Where shall we have 晚饭?")

    assert "海鲜" in prompt_of(model)
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


def test_the_hub_may_stop_in_mid_chat(
    desk: Desk, hub: Server, known: Known, model: FakeUpstream, meet: Meet
) -> None:
    avatar = meet("断线")
    desk.say("我叫小明")
    desk.set("timeoutMs", 500)
    hub.kill()  # whoever calls now waits, and gets no answer

    desk.send("我喜欢喝乌龙茶")

    assert desk.texts[-1] == model.script[0].text
    hub.start()
    desk.settled()
    stored = [one["content"] for one in known.messages(desk.persona(avatar))]
    assert stored == desk.texts
    assert desk.page.locator(".toast").count() <= 1


def test_two_characters_of_one_name_do_not_mix(
    desk: Desk, known: Known, model: FakeUpstream, meet: Meet
) -> None:
    first = meet("双胞胎")
    desk.say("我喜欢爵士乐，我养了一只猫叫豆豆")
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
    desk: Desk, known: Known, model: FakeUpstream, meet: Meet
) -> None:
    meet("分开")
    desk.set("perChat", value=True)
    desk.say("我最喜欢的茶是铁观音")
    first = desk.persona(desk.avatar) + "~" + desk.session
    known.digest(first)

    desk.new_chat()
    desk.say("我最喜欢什么茶？")

    assert "铁观音" in known.memories(first)
    assert "铁观音" not in prompt_of(model)


@pytest.mark.parametrize("kind", ["quiet", "impersonate", "dry"])
def test_only_real_replies_are_given_memories(
    desk: Desk, known: Known, model: FakeUpstream, meet: Meet, kind: str
) -> None:
    avatar = meet(f"安静{kind}")
    desk.say("我对海鲜过敏")
    known.digest(desk.persona(avatar))
    desk.say("晚饭吃什么？")
    assert "海鲜过敏" in prompt_of(model)
    marks = prompt_of(model).count("海鲜")
    desk.hub_calls.clear()

    ways = {
        "quiet": "(context) => context.generateQuietPrompt({ quietPrompt: 'Sum up' })",
        "impersonate": "(context) => context.generate('impersonate')",
        "dry": "(context) => context.generate('normal', {}, true)",
    }
    desk.run(ways[kind])

    assert not [call for call in desk.hub_calls if call.endswith("/memory/recall")]
    if kind != "dry":
        assert prompt_of(model).count("海鲜") < marks


def test_a_streamed_reply_is_kept_whole(
    desk: Desk, known: Known, model: FakeUpstream, meet: Meet
) -> None:
    avatar = meet("流")
    model.says("慢慢地说，一个字 one word 一个字。")
    desk.run("(context) => { context.chatCompletionSettings.stream_openai = true; }")

    desk.say("说吧")

    desk.run("(context) => { context.chatCompletionSettings.stream_openai = false; }")
    assert [one["content"] for one in known.messages(desk.persona(avatar))] == [
        "说吧",
        model.script[0].text,
    ]
    assert model.last.json["stream"]


def test_in_a_group_everybody_hears_who_says_what(
    desk: Desk, known: Known, model: FakeUpstream, meet: Meet
) -> None:
    first, second = meet("甲"), meet("乙")
    desk.sit_with_group([first, second])
    model.says("我来了。")

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


def test_the_question_may_be_rewritten_first(
    desk: Desk, known: Known, model: FakeUpstream, meet: Meet
) -> None:
    avatar = meet("改写")
    desk.say("我最喜欢的茶是铁观音")
    known.digest(desk.persona(avatar))
    desk.set("mem0_query_rewrite_enabled", value=True)
    desk.set("mem0_query_rewrite_prompt", "REWRITE-IT")
    model.asked.clear()

    model.says("用户最喜欢的茶")
    desk.say("那个是什么来着？")

    assert model.asked[0].messages[0]["content"] == "REWRITE-IT"
    assert "那个是什么来着" in model.asked[0].messages[1]["content"]
    desk.show_panel("injected")
    assert "用户最喜欢的茶" in desk.page.inner_text("#pm_injected")
    desk.close_panel()
