"""Which lines say the same to a reader for certain, and which only look alike."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plastic_memories.language.text.similarity import canonical_text, canonical_texts

SAME = [
    # Marks and spaces
    ("我喜欢喝绿茶", "我喜欢喝绿茶。"),
    ("我喜欢喝绿茶", "我 喜欢 喝 绿茶！"),
    ("我喜欢喝绿茶", "我喜欢喝绿茶~"),
    ("我喜欢猫，也养了一只狗", "我喜欢猫,也养了一只狗……"),
    ("周一开会、周二出差。", "周一开会，周二出差"),
    ("我的电话是 13800138000", "我的电话是13800138000。"),
    ("I like green tea", "I like green tea!"),
    ("I like green tea", "  I  like green   tea... "),
    ("Hello, I live in Paris.", "Hello! I live in Paris"),
    ("我喜欢 Python", "我喜欢Python！"),
    ("下周去 Tokyo 出差", "下周去Tokyo出差。"),
    ("我用 Rust 写 CLI 工具", "我用Rust写CLI工具。"),
    # Case and width of letters, traditional characters
    ("I like green tea", "i LIKE Green Tea"),
    ("我住在 Ｌｏｎｄｏｎ", "我住在 London"),
    ("我住３号楼", "我住3号楼"),
    ("我喜歡喝綠茶", "我喜欢喝绿茶"),
    ("我對海鮮過敏", "我对海鲜过敏"),
    # Particles that close a sentence
    ("我喜欢喝绿茶", "我喜欢喝绿茶呀"),
    ("我喜欢喝绿茶", "我喜欢喝绿茶呢！"),
    ("我养了一只猫，叫糯米", "我养了一只猫啊，叫糯米哦"),
    ("我结婚了", "我结婚啦"),
    # Stress on a feeling
    ("我喜欢喝绿茶", "我很喜欢喝绿茶。"),
    ("我喜欢喝绿茶", "我真的非常喜欢喝绿茶"),
    ("我喜欢喝绿茶", "我也很喜欢喝绿茶"),
    ("我讨厌下雨", "我特别讨厌下雨"),
    ("我怕蛇", "我超怕蛇"),
    ("我喜欢 green tea", "我很喜欢 green tea。"),
    ("I like green tea", "I really like green tea"),
    ("I love my dog", "I truly love my dog!"),
    ("She is happy at work", "She is very happy at work."),
    ("My son hates broccoli", "My son also really hates broccoli"),
    # What is spoken short
    ("I'm a nurse", "I am a nurse"),
    ("I don't eat meat", "I do not eat meat."),
    ("I can’t swim", "I cannot swim"),
    ("We've moved to Berlin", "We have moved to Berlin"),
    ("I won't fly again", "I will not fly again"),
]

DIFFERENT = [
    # Days, dates, times
    ("我周一下午三点去看牙医", "我周二下午三点去看牙医"),
    ("我弟弟的生日是3月5日", "我弟弟的生日是3月6日"),
    ("会议在下午3:30", "会议在下午3.30"),
    ("上午九点开会", "晚上九点开会"),
    ("I fly on Monday", "I fly on Tuesday"),
    ("Call me on 3 May", "Call me on 3 March"),
    ("I was in Rome last year", "I was in Rome the last year"),
    ("周五去 Tokyo", "周六去 Tokyo"),
    # Titles and quotes
    ('My song is "Really Love"', 'My song is "Love"'),
    ("我在听《超喜欢你》", "我在听《喜欢你》"),
    # Numbers
    ("飞机航班号 CA1234", "飞机航班号 CA1235"),
    ("我跑了5公里", "我跑了15公里"),
    ("今天零下5度", "今天5度"),
    ("温度是-5度", "温度是5度"),
    ("My rent is 800 pounds", "My rent is 900 pounds"),
    ("My rent is $800", "My rent is €800"),
    ("The tax is 3.5 percent", "The tax is 35 percent"),
    ("It costs .5", "It costs 5"),
    ("I drink ~5 cups", "I drink 5 cups"),
    ("My PIN hint is 4, 711", "My PIN hint is 4711"),
    ("我等了十分钟", "我等了二十分钟"),
    # Who
    ("我弟弟的生日是3月5日", "我妹妹的生日是3月5日"),
    ("我妈住院了", "我爸住院了"),
    ("小明住在北京", "小红住在北京"),
    ("小明住在北京", "小明住在南京"),
    ("他喜欢猫", "她喜欢猫"),
    ("Anna lives in Paris", "Hannah lives in Paris"),
    ("I gave my son vitamin D", "I gave my dog vitamin D"),
    ("My friend Tom 住在上海", "My friend Tim 住在上海"),
    ("小红说：“我喜欢猫”", "小红说我喜欢猫"),
    # Yes and no
    ("我喜欢猫", "我不喜欢猫"),
    ("我很不喜欢猫", "我不很喜欢猫"),
    ("我没有很喜欢猫", "我没有喜欢猫"),
    ("我去过日本", "我没去过日本"),
    ("I love cats", "I do not love cats"),
    ("I really don't like cats", "I don't really like cats"),
    ("I never really loved him", "I never loved him"),
    ("I eat fish", "I never eat fish"),
    ("x != y", "x = y"),
    ("我会 Python", "我不会 Python"),
    # The order of words
    ("Tom is taller than Jerry", "Jerry is taller than Tom"),
    ("小明欠小红100元", "小红欠小明100元"),
    ("我喜欢你", "你喜欢我"),
    ("Anna 喜欢 Ben", "Ben 喜欢 Anna"),
    # A pause, and who speaks
    ("不，要去上海", "不要去上海"),
    ("我爱吃苹果、梨", "我爱吃苹果梨"),
    ("No, more sugar for me", "No more sugar for me"),
    ("小明：我喜欢猫", "小明，我喜欢猫"),
    # Other words
    ("我左耳听不清", "我右耳听不清"),
    ("我对花生过敏", "我对花粉过敏"),
    ("Take the red pill in the morning", "Take the blue pill in the morning"),
    ("I love cats", "I hate cats"),
    ("I love cats", "I love a cat"),
    ("I code in C", "I code in C++"),
    ("WiFi name is home-5G", "WiFi name is home-2G"),
    # When and whether
    ("I work at Google", "I worked at Google"),
    ("我妈住院", "我妈住院了"),
    ("我养猫", "我养过猫"),
    ("我喜欢猫", "我喜欢猫吗？"),
    ("He is coming", "He is coming?"),
    ("我可能去上海", "我去上海"),
    ("I have few friends", "I have a few friends"),
    # Stress that tells
    ("香港是特别行政区", "香港是行政区"),
    ("我最喜欢绿茶", "我喜欢绿茶"),
    ("我的特别爱好是画画", "我的爱好是画画"),
    ("I am allergic to nuts", "I am very allergic to nuts"),
    ("It was my very first job", "It was my first job"),
    ("我很少喝酒", "我少喝酒"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_says_the_same_is_seen(one: str, other: str) -> None:
    assert canonical_text(one) == canonical_text(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_tells_something_else_is_kept(one: str, other: str) -> None:
    assert canonical_text(one) != canonical_text(other)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_quick_look_misses_none_of_them(one: str, other: str) -> None:
    first, unlike, second = canonical_texts([one, "别的事 something else", other])

    assert first == second != unlike


def test_what_resembles_nothing_is_left_as_it_is() -> None:
    assert canonical_texts(["我喜欢猫！", "I have a dog."]) == ["我喜欢猫！", "I have a dog."]


def test_a_long_text_is_the_same_only_to_the_letter() -> None:
    long = "我喜欢喝绿茶，" * 1_000

    first, second, other = canonical_texts([long, long, f"{long}！"])

    assert first == second != other


@pytest.mark.parametrize("run", ["!", "啊", "很", "really ", "。", " ,", "a'", "n't"])
def test_a_run_of_one_thing_does_not_take_long(run: str) -> None:
    started = time.process_time()

    canonical_text(run * (32_000 // len(run)) + "x")

    assert time.process_time() - started < 1


PIECES = [*"我很喜欢猫不啊。，,.!~: '’?5a", "really ", "like "]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_doing_it_twice_changes_nothing(text: str) -> None:
    assert canonical_text(canonical_text(text)) == canonical_text(text)
