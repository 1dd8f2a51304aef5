"""Which kind of question a message asks: about the person, an event, or what was said."""

from __future__ import annotations

import pytest

from plastic_memories.language.questions.intent import detect_intent
from plastic_memories.language.text.scripts import to_simplified

ASKED = {
    "profile": [
        "你平时叫我什么",
        "你该怎么称呼我",
        "我在哪上班",
        "我在哪里长大",
        "我是做什么的",
        "我不吃什么来着",
        "我喜欢什么茶？",
        "你了解我吗",
        "do you know me",
        "what do you call me?",
        "what do I do for a living",
        "name something I don't eat",
    ],
    "event": [
        "那次旅行好玩吗",
        "这件事后来好了吗",
        "公司发生了什么",
        "她怎么了",
        "有哪些重要的日子",
        "有哪些重要日期",
        "我有什么重要的事情吗",
        "这礼拜还有啥事",
        "anything important this week?",
        "what happened at the office",
        "which important dates are there",
    ],
    "history": [
        "你忘了吗",
        "你是不是忘了",
        "这个笑话讲过",
        "我们谈过这本书",
        "you forgot it",
    ],
    "mixed": ["你还记得那件事吗", "你忘了我不吃香菜", "还记得那次旅行吗", "上次发生了什么"],
    "none": ["你好", "今天吃什么", "hello", "我忘了带伞", "讲个笑话", "这个怎么做", "哪里有好吃的"],
}


@pytest.mark.parametrize(
    ("text", "intent"), [(text, intent) for intent, texts in ASKED.items() for text in texts]
)
def test_a_question_has_its_intent(text: str, intent: str) -> None:
    assert detect_intent(text).type.value == intent


@pytest.mark.parametrize("text", ["你叫我什麼", "發生了什麼", "講過的故事", "重要的日子", "這件事"])
def test_traditional_characters_have_the_same_intent(text: str) -> None:
    found = detect_intent(text).type

    assert found is detect_intent(to_simplified(text)).type
    assert found.value != "none"
