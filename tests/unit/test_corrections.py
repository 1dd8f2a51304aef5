"""Which statements correct an earlier one, and which only sound like it."""

from __future__ import annotations

from collections import Counter

import pytest

from plastic_memories.language.corrections.correction_statements import find_corrections
from plastic_memories.language.corrections.matching import StatedMemory, TermRarity, ends_memory
from plastic_memories.language.text.tokens import index_terms
from plastic_memories.model.message import Message, Role
from plastic_memories.rules.conversation.corrected_talk import corrected_messages, echoes_of
from talks import message

SMALL_TALK = ("随便聊聊 天气不错", "hello how are you", "今天好累啊", "the weather is nice")
CORRECTIONS = (
    ("我是一中的 今年高二", "刚才说的学校不对 我是二中的"),
    ("im moving to leeds in march", "turns out im not moving after all"),
    ("hi 我係Kelvin", "喂 唔好再叫我Kelvin"),
    ("周三下午面试", "其实是周四不是周三"),
    ("我在字节做运营", "我换工作了 现在在美团"),
    ("dentist is on the 12th", "scrap that, it's the 14th"),
    ("养了只仓鼠", "不养了 送人了"),
    ("me n jake have been together 2 years, hes my boyfriend", "we broke up"),
    ("我对花生过敏", "不是花生是腰果 刚打错了"),
    ("我對花生過敏", "唔係花生 係腰果 打錯咗"),
    ("我住喺旺角", "我搬咗去沙田住"),
    ("叫我阿强就行", "别叫我阿强了 叫强哥"),
    ("my name is Jen", "its jenna not jen lol"),
    ("I'm vegetarian", "im not vegetarian anymore, had a burger"),
    ("每天吃二甲双胍", "二甲双胍停了 医生换成了达格列净"),
    ("I take sertraline every morning", "doc switched me from sertraline to lexapro"),
    ("I take 50mg sertraline", "they upped my dose, its 100mg now not 50"),
    ("我妹今年读高一", "我记错了 我妹是高二"),
    ("下个月去日本玩 机票都买了", "日本不去了 签证没下来"),
    ("trip to japan in april!! booked", "japan is cancelled, visa didnt come"),
    ("i go to the gym every tuesday", "quit the gym lol"),
    ("我在星巴克打工", "星巴克辞了 现在在瑞幸"),
    ("exam is on june 5", "exam got moved to june 9"),
    ("面試係星期三", "面試改期喇 星期五先去"),
    ("my dog max is 3", "max is 4 actually my bad"),
    ("wake me at 8", "make it 7 instead"),
    ("im allergic to shellfish", "turns out im not allergic to shellfish, the test was wrong"),
    ("约了周六吃火锅", "火锅取消了 他们有事"),
    ("我周末去爬山", "爬山那事黄了"),
    ("我對貓毛敏感", "醫生話我其實唔係對貓毛敏感 係塵蟎"),
    ("my manager is called priya", "priya left, new manager is tom"),
    ("i'm 27", "whoops im 28, birthday was last week"),
    ("我返緊夜校讀日文", "日文冇讀喇 太忙"),
    ("i weigh 80kg", "weighed myself, 78 not 80"),
    ("晚上十点提醒我吃药", "提醒改到九点半吧"),
    ("i'm reading dune", "finished dune, on to hyperion now"),
)
NO_CORRECTIONS = (
    ("我是一中的 今年高二", "不对啊哥们 你在说啥"),
    ("我对花生过敏", "actually i like it"),
    ("trip to japan in april", "turns out it was fun"),
    ("我在字节做运营", "我朋友辞职了 羡慕"),
    ("养了只仓鼠叫团子", "不说了 困了"),
    ("我男朋友叫大伟", "大伟今天又加班"),
    ("i work at tesco", "my cousin quit her job at the bank"),
    ("I'm vegetarian", "i cant believe it, not bad at all"),
    ("我每周二去健身", "健身完累死了 不行了"),
    ("exam is on june 5", "i changed my hair color"),
    ("my dog max is 3", "max moved my shoes again"),
    ("早上八点叫我起床", "你记错了吧"),
    ("I take sertraline every morning", "stopped by the store this morning"),
    ("dentist is on the 12th", "its not a big deal"),
    ("我妹今年读高一", "我妹数学考试看错题了"),
    ("call me Rob", "call me when you can"),
    ("I live in Boston", "i moved the couch today"),
    ("我在字节做运营", "我都想换工作了"),
    ("我弟在北京上大学", "我弟又换女朋友了"),
    ("我女朋友叫小夏", "我的父母离婚了"),
    ("这谁忍得住", "我最近刚搬到长春了"),
)


def talk_with(old: str, new: str) -> tuple[list[Message], TermRarity]:
    """Return a talk with small talk around a statement, without the last message."""
    texts = [*SMALL_TALK[:2], old, *SMALL_TALK[2:], new]
    messages = [message(text, place) for place, text in enumerate(texts, start=1)]
    counts = Counter(term for text in texts for term in set(index_terms(text)))
    return messages[:-1], TermRarity(counts, len(texts))


def corrected_by(old: str, new: str) -> tuple[set[str], bool]:
    """Return the texts that a message corrects, and whether it ends a note of the old one."""
    earlier, rarity = talk_with(old, new)
    found: set[str] = set()
    is_ended = False
    for statement in find_corrections(new):
        meant = corrected_messages(statement, earlier, rarity, earlier[0].session_id)
        found |= {one.content for one in meant}
        note = StatedMemory("note.1", old, old)
        is_ended |= bool(meant) and ends_memory(statement, note, rarity)
    return found, is_ended


@pytest.mark.parametrize(("old", "new"), CORRECTIONS)
def test_a_correction_ends_what_it_corrects_and_nothing_else(old: str, new: str) -> None:
    found, is_ended = corrected_by(old, new)

    assert found == {old}
    assert is_ended


@pytest.mark.parametrize(("old", "new"), NO_CORRECTIONS)
def test_what_only_sounds_like_a_correction_ends_nothing(old: str, new: str) -> None:
    assert corrected_by(old, new) == (set(), False)


@pytest.mark.parametrize(
    ("new", "key", "value", "is_ended"),
    [
        ("唔好再叫我Kelvin", "basic_info.name", "Kelvin", True),
        ("唔好再叫我Kelvin", "basic_info.name", "陳柏喬", False),
        ("跟婷婷分了", "relationship.girlfriend", "婷婷", True),
        ("跟婷婷分了", "relationship.sister", "小鱼", False),
        ("豉油六岁是我算错了 系七岁", "relationship.pet.dog", "豉油", False),
        ("我换工作了", "basic_info.job", "运营", True),
        ("我换工作了", "basic_info.place", "上海", False),
        ("不是花生是腰果", "constraint.allergy.peanut", "花生", True),
        ("不是花生是腰果", "constraint.allergy.mango", "芒果", False),
        ("头孢停了", "constraint.allergy.cephalosporin", "对头孢过敏", False),
        ("甲巯咪唑减药了 只早上一颗", "constraint.medication.x", "早晚各一颗甲巯咪唑", True),
        ("甲巯咪唑减药了 只早上一颗", "constraint.health.x", "甲亢", False),
        ("思诺思扔了", "constraint.unread.1f", "睡前一片思诺思", True),
    ],
)
def test_a_fact_of_another_kind_stays(new: str, key: str, value: str, is_ended: bool) -> None:
    memory = StatedMemory(key, value, value)

    ended = any(ends_memory(one, memory, TermRarity({})) for one in find_corrections(new))

    assert ended is is_ended


def test_the_assistants_echo_of_the_old_value_is_found() -> None:
    said = [
        message("我係Kelvin", 1),
        message("Kelvin你好！", 2, Role.ASSISTANT),
        message("天氣好好", 3, Role.ASSISTANT),
    ]
    [statement, *_] = find_corrections("唔好再叫我Kelvin")

    found = corrected_messages(statement, said, TermRarity({}), said[0].session_id)

    assert [one.id for one in echoes_of(statement, found, said)] == [2]
