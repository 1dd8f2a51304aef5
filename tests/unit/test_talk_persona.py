"""What the persona says of itself is its own; what others in a group say is theirs."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from plastic_memories.language.reading.extraction import extract_drafts
from plastic_memories.language.reading.persona_statements import persona_drafts
from plastic_memories.model.memory import Draft, MemoryType, SourceType
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner, Realm

OWNER = Owner("default", "ann", "miku")
NOON = datetime(2024, 5, 15, 12, tzinfo=ZoneInfo("UTC")).timestamp()


def reply(content: str) -> Message:
    return Message(owner=OWNER, role=Role.ASSISTANT, content=content, ts=NOON, id=1)


def in_group(speaker: str, content: str, message_type: str = "group") -> Message:
    return Message(
        owner=OWNER,
        role=Role.USER,
        content=content,
        ts=NOON,
        id=1,
        speaker=speaker,
        message_type=message_type,
    )


def keyed(drafts: list[Draft]) -> dict[str, str]:
    return {draft.key: draft.attributes["value"] for draft in drafts}


@pytest.mark.parametrize(
    ("content", "key", "value"),
    [
        ("我最喜欢草莓蛋糕啦！", "persona.like.草莓蛋糕", "草莓蛋糕"),
        ("嘿嘿，我其实很怕打雷。", "persona.fear.打雷", "打雷"),
        ("我不喜欢苦瓜", "persona.dislike.bitter_melon", "苦瓜"),
        ("我最喜欢的颜色是蓝色，你呢？", "persona.favorite_color", "蓝色"),
        ("我叫初音未来", "persona.name", "初音未来"),
        ("我的生日是8月31日哦", "persona.birthday", "08-31"),
        ("I love strawberries!", "persona.like.strawberry", "strawberries"),
        ("My favorite season is autumn.", "persona.favorite_season", "autumn"),
        ("我答应你以后不再迟到", "persona.promise.以后不再迟到", "以后不再迟到"),
        ("我向你保证再也不说谎", "persona.promise.再也不说谎", "再也不说谎"),
        ("I promise I'll always be honest with you", "persona.promise.always_be_honest_with_you",
         "always be honest with you"),
        ("我答应你明天一起看电影", "persona.promise.2024-05-16.明天一起看电影", "2024-05-16"),
        ("我明天会给你唱首歌", "persona.promise.2024-05-16.我明天会给你唱首歌", "2024-05-16"),
        ("I'll sing tomorrow.", "persona.promise.2024-05-16.i_ll_sing_tomorrow",
         "2024-05-16"),
    ],
)  # fmt: skip
def test_the_persona_is_remembered(content: str, key: str, value: str) -> None:
    drafts = persona_drafts([reply(content)])

    assert keyed(drafts) == {key: value}
    assert {draft.speaker for draft in drafts} == {"miku"}
    assert all(draft.quote in content for draft in drafts)


@pytest.mark.parametrize(
    "content",
    [
        "好的，没问题！",
        "我记得你喜欢茶，也记得你对海鲜过敏。",
        "你叫小明，住在上海，对吗？",
        "我是一个人工智能助手，我喜欢帮助别人。",
        "作为一个AI，我没有喜好，不过我喜欢茶这个话题。",
        "以下是一段自我介绍：我叫张三，我喜欢篮球。",
        "我喜欢这个问题！",
        "我很喜欢和你聊天",
        "我喜欢你的想法",
        "我保证这段代码能运行",
        "我可以帮你明天早上设个闹钟",
        "明天会下雨，记得带伞",
        "明天我们可以去公园走走",
        "我建议你多喝水",
        "我觉得这个方案不错",
        "当然可以！\n1. 我喜欢苹果\n2. 我喜欢香蕉",
        "例句：我喜欢猫。",
        "他说：“我最喜欢草莓。”",
        "如果我是你，我会住在海边",
        "我明天能帮你什么吗？",
        "我们约好了吗？",
        "I'm an AI assistant, so I love helping people.",
        "I'd be happy to help!",
        "I like that idea.",
        "I enjoy chatting with you!",
        "I'll explain it step by step.",
        "I'll try to remember that tomorrow",
        "Here's a sample: My name is Bob. I live in Rome.",
        "Your favorite color is blue, right?",
        "I promise it works",
        "I would love to hear more",
        "I think you should see a doctor tomorrow",
        "Sure! ```my name = 'Bob'```",
        "我喜欢" + "很长的故事，" * 100,
    ],
)
def test_helpful_talk_is_nothing_of_its_own(content: str) -> None:
    assert persona_drafts([reply(content)]) == []


def test_a_promise_is_kept_with_its_day() -> None:
    [draft] = persona_drafts([reply("那我答应你，明天见。我答应你后天陪你去看海")])

    assert (draft.type, draft.attributes["date"]) == (MemoryType.EVENT, "2024-05-17")
    assert draft.content == "我答应你 2024-05-17 陪你去看海"
    assert draft.quote == "我答应你后天陪你去看海"


def test_the_persona_never_becomes_the_users_profile() -> None:
    drafts = persona_drafts([reply("我最喜欢草莓，我叫初音，我答应你明天唱歌")])

    assert drafts
    assert all(draft.type is not MemoryType.PROFILE for draft in drafts)
    assert all(draft.key.startswith("persona.") for draft in drafts)
    assert all(draft.source_type is SourceType.TOOL for draft in drafts)


def test_the_user_is_not_the_persona() -> None:
    user = Message(owner=OWNER, role=Role.USER, content="我最喜欢草莓", ts=NOON)

    assert persona_drafts([user]) == []


def test_a_persona_has_a_name_of_its_own() -> None:
    [draft] = persona_drafts([reply("我最喜欢草莓")], persona_name="初音")

    assert draft.speaker == "初音"


def test_in_a_group_every_item_names_its_speaker() -> None:
    talk = [in_group("小王", "我叫王伟，我对花生过敏"), in_group("Lily", "I live in Rome")]

    drafts = extract_drafts(talk)

    assert {(draft.key, draft.speaker) for draft in drafts} == {
        ("member.小王.basic_info.name", "小王"),
        ("member.小王.constraint.allergy.peanut", "小王"),
        ("member.lily.basic_info.place", "Lily"),
    }
    assert all(draft.type is MemoryType.FACT for draft in drafts)


def test_two_members_do_not_overwrite_each_other() -> None:
    drafts = extract_drafts([in_group("小王", "我喜欢茶"), in_group("小李", "我不喜欢茶")])

    assert len(drafts) == 2


@pytest.mark.parametrize("speaker", ["", "我", "ann"])
def test_the_user_in_a_group_is_still_the_user(speaker: str) -> None:
    [draft] = extract_drafts([in_group(speaker, "我叫小明")])

    assert (draft.type, draft.key) == (MemoryType.PROFILE, "basic_info.name")


def test_in_private_there_is_only_the_user() -> None:
    [draft] = extract_drafts([in_group("小明", "我喜欢茶", "FriendMessage")])

    assert draft.key == "preference.like.tea"


def test_the_bot_is_never_a_member() -> None:
    assert extract_drafts([in_group("Miku", "我最喜欢草莓")]) == []


def test_a_story_told_by_its_marks_is_not_real() -> None:
    [draft] = extract_drafts([in_group("", "*走进酒馆* 我叫艾莎")])

    assert (draft.key, draft.realm) == ("basic_info.name", Realm.STORY)


def test_the_player_out_of_character_is_heard() -> None:
    [draft] = extract_drafts([in_group("", "((我明天要考试，先下了))")])

    assert (draft.realm, draft.attributes["date"]) == (Realm.OOC, "2024-05-16")
    assert draft.quote == "我明天要考试"
