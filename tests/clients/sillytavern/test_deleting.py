"""A chat file that is deleted as a whole takes what was learned from it with it."""

from __future__ import annotations

import pytest

from tavern_parts import Desk, Known, Meet

pytestmark = [pytest.mark.external, pytest.mark.timeout(300)]


def test_a_chat_that_is_deleted_is_forgotten(desk: Desk, known: Known, meet: Meet) -> None:
    avatar = meet("删掉的聊天")
    desk.say("我对花生过敏")
    first = desk.chat_id
    desk.new_chat()
    desk.say("My name is Tom")
    second, persona = desk.chat_id, desk.persona(avatar)
    known.digest(persona)
    assert "花生" in known.memories(persona)

    desk.delete_chat(first)

    assert desk.chat_id == second
    assert "花生" not in known.memories(persona)
    assert "花生" not in str(known.messages(persona))
    assert "Tom" in known.memories(persona)

    desk.delete_chat(second)

    assert known.memories(persona) == ""
    assert known.messages(persona) == []


def test_a_chat_with_another_name_is_forgotten_when_it_is_deleted_and_not_before(
    desk: Desk, known: Known, meet: Meet
) -> None:
    avatar = meet("改名的聊天")
    desk.say("我对海鲜过敏")
    persona = desk.persona(avatar)
    known.digest(persona)

    desk.command("/renamechat 旧事")
    desk.until("() => SillyTavern.getContext().chatId === '旧事'")
    desk.new_chat()
    desk.settled()
    assert "海鲜" in known.memories(persona)

    desk.delete_chat("旧事")

    assert "海鲜" not in known.memories(persona)


def test_a_branch_that_is_deleted_leaves_what_it_shares(
    desk: Desk, known: Known, meet: Meet
) -> None:
    avatar = meet("分开")
    desk.say("我叫小红")
    main = desk.chat_id
    desk.branch_at(1)
    desk.say("我对花生过敏")
    branch, persona = desk.chat_id, desk.persona(avatar)
    known.digest(persona)

    desk.delete_chat(branch)

    assert "花生" not in known.memories(persona)
    assert "小红" in known.memories(persona)

    desk.delete_chat(main)

    assert known.memories(persona) == ""


def test_a_branch_keeps_its_past_when_the_chat_it_left_is_deleted(
    desk: Desk, known: Known, meet: Meet
) -> None:
    avatar = meet("留下")
    desk.say("My name is Rose")
    desk.say("我对海鲜过敏")
    main = desk.chat_id
    desk.branch_at(1)
    desk.say("我对花生过敏")
    persona = desk.persona(avatar)
    known.digest(persona)

    desk.delete_chat(main)

    assert [one["content"] for one in known.messages(persona)] == desk.texts
    assert "Rose" in known.memories(persona)
    assert "花生" in known.memories(persona)
    assert "海鲜" not in known.memories(persona)


@pytest.mark.parametrize("with_chats", [True, False])
def test_a_character_is_forgotten_only_with_its_chats(
    desk: Desk, known: Known, meet: Meet, with_chats: bool
) -> None:
    avatar = meet(f"走的人{with_chats}")
    desk.say("我对牛奶过敏")
    file, persona = desk.chat_id, desk.persona(avatar)
    known.digest(persona)

    desk.run(
        """async (context, avatar, deleteChats) => {
            const { deleteCharacter } = await import('/script.js');
            await deleteCharacter(avatar, { deleteChats });
        }""",
        avatar,
        with_chats,
    )
    if with_chats:
        desk.forgot_chat(file)
    desk.settled()

    assert ("牛奶" in known.memories(persona)) is not with_chats


def test_the_chat_of_a_group_is_forgotten_by_all_of_them(
    desk: Desk, known: Known, meet: Meet
) -> None:
    avatars = [meet("阿明"), meet("Anna")]
    desk.sit_with_group(avatars, "夜谈")
    desk.page.fill("#send_textarea", "我对虾过敏")
    desk.page.click("#send_but")
    desk.idle(3)
    desk.settled()
    personas = [desk.persona(one) for one in avatars]
    for persona in personas:
        known.digest(persona)
        assert "虾" in known.memories(persona)

    desk.delete_chat("夜谈")

    assert [known.memories(persona) for persona in personas] == ["", ""]
