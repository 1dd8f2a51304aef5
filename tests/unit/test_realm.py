"""Which talk is a story, a supposition or the player's own word, and which is plainly real."""

from __future__ import annotations

import pytest

from plastic_memories.language.reading.realm_detection import detect_realm, without_ooc_marks
from plastic_memories.model.owner import Realm

STORY = [
    "*smiles* Hello there",
    '*She draws her sword and steps forward.* "Stand back!"',
    "*nods slowly* I see.",
    "Okay then. *hugs you tightly*",
    "*walks into the tavern* My name is Elsa.",
    "*I sit down by the fire*",
    "*gives you a cup of tea*",
    "*Luna tilts her head*",
    "*走进酒馆* 我叫艾莎，是一名弓箭手",
    "*轻轻摸了摸你的头*",
    "*叹气* 今天也没有委托吗",
    "好吧。*转身离开*",
    "*拔出长剑，挡在你面前*\n别怕！",
    "*笑了笑*你来啦",
    "剧情：我住在未来的上海",
    "【场景】雨夜，废弃的车站",
    "设定：你是魔王，我是勇者",
    "世界观：蒸汽朋克",
    "在故事里，我是一名骑士",
    "在这个剧情中她背叛了我",
    "游戏里我是法师",
    "小说中我住在魔法城堡",
    "我们来角色扮演吧",
    "我们来玩角色扮演，我是医生",
    "继续剧情，我推开门",
    "你扮演老师，我扮演学生",
    "你来演女王",
    "我的角色叫艾莉，是一名弓箭手",
    "In the story, I'm a knight.",
    "in this rp you are a vampire",
    "Let's roleplay: you are a dragon",
    "My character is a half-elf ranger",
    "Once upon a time I lived in a castle",
    "You play as a detective, ok?",
    "Scene: a dark alley at midnight",
    "In my dream I was a pilot",
    "*挥手* bye bye 明天见",
]
OOC = [
    "((我明天要考试，先下了))",
    "（（等一下，我去吃饭））",
    "((brb, dinner))",
    "ooc: can we change the setting?",
    "OOC：我其实不太喜欢这个走向",
    "(OOC: I have to sleep now)",
    "（OOC 我今天有点累，下次继续）",
    "[ooc] sorry, typo",
    "【OOC】换个场景吧",
    "// 我先去洗澡，等下继续",
    "// sorry, phone rang",
    "场外：我的真名叫小李",
]
HYPOTHETICAL = [
    "假设我是一只猫",
    "假如我是医生，我会住在北京。",
    "如果我是你，我就辞职",
    "想象一下我们住在火星",
    "假装我是你的女朋友",
    "Suppose I live in Paris.",
    "Imagine you are a cat",
    "What if I were vegan?",
    "Hypothetically, I am rich",
    "Let's say I work at NASA.",
    "Pretend I'm your boss",
]
PLAIN = [
    "I *really* mean it",
    "*really*?",
    "this is *very* important",
    "*Important*: back up your files",
    "*Note* the date",
    "The *only* thing I want is tea",
    "**Bold** words are no story",
    "**重点**：明天交作业",
    "这个*非常*重要",
    "*重点*：明天交作业",
    "*注意* 明天要带伞",
    "* milk\n* eggs\n* bread",
    "- *apples*\n- *pears*",
    "* 牛奶\n* 鸡蛋",
    "* 去买菜\n* 看书\n* 跑步",
    "1. *one*\n2. *two*",
    "2 * 3 * 4 = 24",
    "a*b*c",
    "2*3*4等于多少",
    "rm *.py *.txt",
    "SELECT * FROM t WHERE a * b > 3",
    "*args and **kwargs",
    "def f(*args): return *args, 1",
    "密码是 ***",
    "f*ck this",
    "我昨天看的电影剧情很好",
    "我喜欢剧情片",
    "这部剧的剧情太拖了",
    "帮我把默认设定改一下",
    "手机的设定在哪里",
    "我喜欢看故事书",
    "这个故事很感人",
    "我是一名演员，演过很多戏",
    "我演讲得了第一名",
    "你演算一下这道题",
    "我在游戏公司上班",
    "我喜欢玩游戏",
    "游戏里面的 bug 太多了",
    "小说里的人物刻画得很好",
    "我今天又迟到了（笑）",
    "我住在上海（浦东）",
    "（开心）今天发工资了",
    "I live in Berlin (near the park)",
    "my phone number is (555) 1234",
    "f((a + b) * c)",
    "https://example.com // my site",
    "see https://example.com/a//b",
    "// TODO: fix this;",
    "//int x = 3;",
    "// first line\n// second line",
    "如果你有空，帮我看看这个",
    "如果明天下雨我就不去了",
    "要是我没记错的话，我的生日是5月3日",
    "如果我想学日语，该怎么开始？",
    "如果我明天有空就去爬山",
    "I would like to know if I can eat this",
    "If you have time, call me",
    "I play the piano",
    "I play football every weekend",
    "We start the project on Monday",
    "The story of my life is boring",
    "I wrote a story about cats",
    "The scene was beautiful",
    "My favorite character is Frodo",
    "I'm setting up my phone",
    "我对海鲜过敏",
    "我叫小明，住在上海",
    "我梦想当作家",
    "明天我要去面试，*好紧张*",
    "I *love* cats",
    "I love *all* of it",
    "*sigh*",
    "出戏院的时候下雨了",
    "我在看场外直播",
    "",
    "   ",
    "😀",
]


@pytest.mark.parametrize("text", STORY)
def test_a_story_is_told_by(text: str) -> None:
    assert detect_realm(text) is Realm.STORY


@pytest.mark.parametrize("text", OOC)
@pytest.mark.parametrize("session", list(Realm))
def test_the_player_speaks_in_any_session(text: str, session: Realm) -> None:
    assert detect_realm(text, session) is Realm.OOC


@pytest.mark.parametrize("text", HYPOTHETICAL)
def test_a_supposition_is(text: str) -> None:
    assert detect_realm(text) is Realm.HYPOTHETICAL


@pytest.mark.parametrize("text", PLAIN)
def test_ordinary_talk_stays_real(text: str) -> None:
    assert detect_realm(text) is Realm.REAL


@pytest.mark.parametrize("session", [Realm.STORY, Realm.HYPOTHETICAL])
@pytest.mark.parametrize("text", ["我叫艾莎", "I live in a castle", "*smiles*", "如果我是猫"])
def test_a_session_keeps_its_realm(text: str, session: Realm) -> None:
    assert detect_realm(text, session) is session


def test_slashes_in_a_story_are_the_players_even_with_brackets() -> None:
    assert detect_realm("// I'll be back (dinner = soon)", Realm.STORY) is Realm.OOC


def test_an_aside_does_not_end_the_story_around_it() -> None:
    assert detect_realm("*她走进房间* ((等下，我接个电话)) 你好", Realm.REAL) is Realm.STORY


@pytest.mark.parametrize("text", OOC)
def test_the_players_words_keep_their_place(text: str) -> None:
    spoken = without_ooc_marks(text)

    assert len(spoken) == len(text)
    assert all(a in (b, " ") for a, b in zip(spoken, text, strict=True))
    assert spoken.strip()
