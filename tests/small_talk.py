"""Small talk with a few facts in it, and pieces of what a hub has put into a prompt."""

from __future__ import annotations

import random

TURNS = 1_000
MOST_JUNK = 0.02
MOST_NOTES = 0.1

TOLD = {
    3: "我叫林晓",
    40: "我对海鲜过敏",
    77: "我住在杭州",
    120: "I work as a nurse",
    200: "我养了一只猫，叫团子",
    260: "我喜欢爬山和摄影",
    333: "My favorite color is green",
    420: "我的生日是10月2日",
    500: "我不吃香菜",
    610: "I'm allergic to peanuts",
    700: "请用中文回答",
    805: "我怕蛇",
}
OPENINGS = ["哈哈，", "嗯，", "唉，", "", "话说，", "诶，", "oh ", "lol ", "hey, ", ""]
CLOSINGS = ["~", "。", "！", "，你呢？", "，对吧？", "…", ", you know", "!", ", haha", ""]
CHAT = [
    "今天天气真好",
    "我刚吃完饭",
    "我有点困了",
    "这个好好笑",
    "我在看剧",
    "我先去洗澡",
    "外面下雨了",
    "地铁好挤",
    "我今天好累",
    "周末过得真快",
    "你在干嘛",
    "我刚到家",
    "这歌真好听",
    "晚上吃什么好呢",
    "我有点无聊",
    "明天见",
    "我在等外卖",
    "楼下又在装修",
    "我觉得还行",
    "手机快没电了",
    "这集太好看了",
    "我想想",
    "我好像感冒了",
    "他说他不来了",
    "我同事又迟到了",
    "如果有钱就好了",
    "你觉得呢",
    "我知道了",
    "我马上来",
    "那家店关门了",
    "I'm so tired",
    "just got home",
    "the weather is nice",
    "I'm having lunch",
    "that's funny",
    "brb",
    "I'm bored",
    "what are you doing",
    "I watched a movie",
    "traffic was terrible",
    "I have to go",
    "she said she hates Mondays",
    "I feel better now",
    "it's raining again",
    "good night",
    "I might nap",
]
REPLIES = [
    "好呀，慢慢来",
    "哈哈，确实",
    "辛苦啦，早点休息",
    "听起来不错！",
    "要不要聊聊？",
    "我在呢",
    "收到～",
    "That sounds fun!",
    "Take care!",
    "I see.",
    "Tell me more",
    "明天也要加油哦",
    "需要我帮忙吗？",
    "别太累了",
]
REMINDERS = [
    "我记得{0}",
    "你之前说过：{0}",
    "你告诉过我“{0}”",
    "{0}，对吗？",
    "You told me: {0}",
    "{0}",
    "记忆里写着{0}",
    "As you said, {0}",
]
QUOTES = [
    "你刚才说“{0}”",
    "> {0}",
    "{0}？",
    "你说过{0}",
    "you said: {0}",
    "「{0}」这句话是什么意思",
    "{0}",
    "哈哈{0}",
]


def small_talk(chance: random.Random) -> str:
    return chance.choice(OPENINGS) + chance.choice(CHAT) + chance.choice(CLOSINGS)


def of_our_lines(chance: random.Random, block: str) -> str:
    """A piece of what was injected: a line, a line cut somewhere, or all without the fence."""
    lines = [line for line in block.splitlines() if line.startswith("- [")]
    if not lines:
        return small_talk(chance)
    line = chance.choice(lines).split("] ", 1)[1]
    cut = line[: max(4, len(line) - chance.randint(0, 4))]
    return chance.choice([line, cut, line.rstrip("。"), "\n".join(lines)])
