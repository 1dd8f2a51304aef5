"""What is changed in a chat is changed in the memory: swipes, edits, deletes, branches."""

from __future__ import annotations

import pytest

from fake_upstream import FakeUpstream
from tavern_parts import Desk, Known, Meet

pytestmark = [pytest.mark.external, pytest.mark.timeout(300)]


def test_a_swipe_takes_back_what_the_reply_had_taught(
    desk: Desk, known: Known, model: FakeUpstream, meet: Meet
) -> None:
    avatar = meet("养猫的人")
    model.says("我养了一只猫，叫团子。")
    desk.say("你养宠物吗？")
    persona = desk.persona(avatar)
    known.digest(persona)
    assert "团子" in known.memories(persona)

    model.says("我住在杭州。")
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
    desk: Desk, known: Known, model: FakeUpstream, meet: Meet
) -> None:
    avatar = meet("重来")
    desk.say("你好")

    model.says("你也好。")
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
