"""Which messages ask to forget what was said, and which only sound so."""

from __future__ import annotations

import pytest

from plastic_memories.language.corrections.forget_requests import find_forget_request, names_topic

JUST_BEFORE = """
刚才那句别记 随口一说
刚才那个别记
刚才那句别记
刚刚说的不要记
刚才说的话别记住
这个别记
这句不用记了
那条别存
别记刚才那个
不要记住我刚才说的
别把刚才那句记下来
当我没说
算了当我没说
就当我没说过吧
刚才的话当我没说
当我什么都没说
刚才那句忘了吧
把我刚才说的忘掉
忘掉我刚才说的
忘了我刚才说的吧
剛才那句當我沒說
頭先嗰句唔好記
頭先講嘅嘢唔好記住
當我冇講過
你當我冇講
上一句别记
我说的那句别记
请别记刚才那句话
你能不能别记刚才那个？
那个别记啊
刚才那段删掉
啱啱嗰句唔使記
forget i said that
Forget that I said that.
forget that
ok forget that please
Forget what I just said
please forget what i said
scratch that
pretend i never said that
pretend I didn't say anything
don't save that
please don't remember that
forget my last message
can you forget that?
delete my last message
forget i said anything
actually, forget what i told you
忘记我刚刚说的
请忘记我刚才说的话
把刚才那句删了
那句话你就当没听见
唔好記低頭先嗰句
这件事别记下来
nvm forget i said anything
pls forget i said that lol
don't keep that in memory
""".strip().splitlines()
NAMED = [
    ("工资那句当我没说", "工资"),
    ("工资的事别记", "工资"),
    ("我前任那段别记", "前任"),
    ("关于体检的那句忘了吧", "体检"),
    ("人工嗰句當我冇講過", "人工"),
    ("别记我工资的事", "工资"),
    ("考试那个当我没说", "考试"),
    ("刚才说的工资那句别记", "工资"),
    ("别把我工资的事记下来", "工资"),
    ("刚才讲的前任的事忘了吧", "前任"),
    ("forget what i said earlier about my job", "my job"),
    ("can you forget the salary bit", "salary"),
    ("forget i told you my salary", "my salary"),
    ("scratch the bit about my salary", "my salary"),
    ("forget what I said about my ex", "my ex"),
    ("please delete the part about work", "work"),
    ("forget i mentioned the baby", "the baby"),
    ("pretend i never told you about the trip", "the trip"),
    ("don't save the bit about my mom", "my mom"),
]
NO_REQUEST = """
forget it lol
forget it
forget about it
forget that guy
i forgot that
don't forget that
don't forget what i said
dont remember that
i don't remember what i said
never forget that
did you forget what i said?
i'll never forget that
forget me not
forget that, let's eat
scratch that itch
you forgot what i said
i said that
what did i say about my salary
i can't forget that
remember that
don't you remember that?
forget the milk
drop it
delete this file
忘了带伞
我忘了
忘了吧
别忘了我刚才说的
你忘了我刚才说的
你是不是忘了我说的话
我忘了刚才说的
别记仇
别记错了
这个公式不用记
老师说这个不用记
他说的那句别记
记一下工资的事
刚才那个真好吃
别忘了工资的事
把他忘了吧
忘掉过去
前任那个忘了吧
当我傻吗
当我没看见
我没说
刚才说的记住了吗
记住刚才那句
帮我记一下刚才那个
那个删掉
不用谢
别提了
不要
这个不要
那个不用了
刚才那个不要了
工资那句是真的
唔好唔記得頭先嗰句
唔記得帶遮
你刚才那句什么意思
当我没说哈哈哈你信吗
刚才那个人别理他
忘记我刚才说的了
我忘记刚才说的话了
工资那条删了
我把刚才那句删了
当没看见
forget that lol
forget the whole thing
forget the last bit of cake
i told you my salary
drop the act
""".strip().splitlines()


@pytest.mark.parametrize("text", JUST_BEFORE)
def test_what_was_said_just_before_is_meant(text: str) -> None:
    found = find_forget_request(text)

    assert found is not None
    assert found.topic == ""


@pytest.mark.parametrize(("text", "topic"), NAMED)
def test_a_named_statement_is_meant(text: str, topic: str) -> None:
    found = find_forget_request(text)

    assert found is not None
    assert found.topic == topic


@pytest.mark.parametrize("text", NO_REQUEST)
def test_what_only_sounds_like_it_is_no_request(text: str) -> None:
    assert find_forget_request(text) is None


def test_only_the_asking_sentence_is_the_request() -> None:
    text = "我月薪三万。刚才那句当我没说。晚上吃什么"

    found = find_forget_request(text)

    assert found is not None
    assert text[slice(*found.span)] == "刚才那句当我没说。"


@pytest.mark.parametrize(
    ("topic", "sentence", "expected"),
    [
        ("工资", "我月薪三万", True),
        ("my salary", "I make 80k a year", True),
        ("my ex", "my ex called me yesterday", True),
        ("体检", "我昨天体检结果不太好", True),
        ("工资", "今天天气不错", False),
        ("the baby", "i like cats", False),
    ],
)
def test_a_topic_names_statements_in_other_words(topic: str, sentence: str, expected: bool) -> None:
    assert names_topic(topic, sentence) is expected
