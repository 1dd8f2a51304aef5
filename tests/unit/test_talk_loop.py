"""A thousand turns of small talk with recall on every turn: what is learned stays what was said."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from plastic_memories.model.memory import Draft, Memory, Status
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner
from plastic_memories.model.recall import Hit
from plastic_memories.rules.blocks import stable_block, style_for, turn_block
from plastic_memories.rules.lifecycle import memory_from
from plastic_memories.rules.talk.extraction import extract
from plastic_memories.rules.talk.injected import fingerprint, without_echoes
from plastic_memories.rules.talk.persona import of_persona

TURNS = 1_000
MOST_JUNK = 0.02
OWNER = Owner("default", "ann", "miku")
START = datetime(2024, 5, 15, 12, tzinfo=UTC).timestamp()
STYLE = style_for("zh", UTC, [])

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


@dataclass
class Companion:
    """A hub in small: what is learned, what was injected lately, and where the turns stand."""

    memories: dict[str, Memory] = field(default_factory=dict)
    prints: deque[frozenset[int]] = field(default_factory=lambda: deque(maxlen=20))
    drafts: list[Draft] = field(default_factory=list)

    def recalled(self, chance: random.Random, now: float) -> str:
        rows = chance.sample([*self.memories.values()], min(5, len(self.memories)))
        block = turn_block([Hit(row, 1.0) for row in rows], ([], []), STYLE, 1_000).text
        stable = stable_block([*self.memories.values()], STYLE).text
        self.prints.append(fingerprint(block) | fingerprint(stable))
        return block or stable

    def hear(self, role: Role, content: str, ts: float) -> None:
        known = frozenset[int]().union(*self.prints)
        heard = without_echoes(content, known)
        message = Message(owner=OWNER, role=role, content=heard, ts=ts)
        for draft in [*extract([message]), *of_persona([message])]:
            self.drafts.append(draft)
            row = memory_from(OWNER, draft, ts, Status.ACTIVE)
            self.memories[draft.key] = replace(row, id=len(self.drafts))


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


def turns(chance: random.Random, companion: Companion) -> Iterator[tuple[Role, str]]:
    reply = REPLIES[0]
    for turn in range(TURNS):
        block = companion.recalled(chance, START + turn)
        asked = small_talk(chance)
        if turn in TOLD:
            asked = TOLD[turn]
        elif chance.random() < 0.15:
            asked = chance.choice(QUOTES).format(of_our_lines(chance, block))
        elif chance.random() < 0.15:
            asked = chance.choice(QUOTES).format(reply)
        yield Role.USER, asked
        reply = chance.choice(REPLIES)
        if chance.random() < 0.4:
            reply = chance.choice(REMINDERS).format(of_our_lines(chance, block))
        yield Role.ASSISTANT, reply


def test_small_talk_with_recall_on_every_turn_leaves_no_junk() -> None:
    chance, companion = random.Random(7), Companion()
    for number, (role, content) in enumerate(turns(chance, companion)):
        companion.hear(role, content, START + number * 30)

    told = {
        (draft.key, draft.attributes["value"])
        for text in TOLD.values()
        for draft in extract([Message(owner=OWNER, role=Role.USER, content=text, ts=START)])
    }
    learned = [(draft.key, draft.attributes["value"]) for draft in companion.drafts]
    junk = [item for item in learned if item not in told]
    again = len(learned) - len(set(learned))

    assert told <= set(learned)
    assert len(junk) < MOST_JUNK * len(learned), junk
    # What is said twice is the same row; even so hardly an echo gets that far.
    assert again < MOST_JUNK * len(learned) + 1, learned
