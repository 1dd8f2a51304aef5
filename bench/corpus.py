"""Synthetic memories, half of them Chinese: realistic enough to measure speed."""

from __future__ import annotations

import random
from collections.abc import Iterator

_EN_WHO = "I my mother my brother our neighbour the teacher my boss Anna Tom a colleague".split(" ")
_EN_DOES = "likes bought visited forgot painted repaired cooked sold planned dreamed of".split(" ")
_EN_WHAT = (
    "green tea|a red bicycle|the old harbour|a birthday cake|the piano lesson|two cats|a novel|"
    "the mountain hut|a garden chair|the violin|an interview|a train ticket|the blue kitchen|"
    "seafood soup|a chess set|the science fair|a winter coat|the film festival|wild mushrooms"
).split("|")
_EN_WHEN = "yesterday|last spring|on Monday|in Berlin|before work|with friends|at night".split("|")
_ZH_WHO = "我|我妈妈|我弟弟|邻居|老师|老板|小红|同事|表姐|室友".split("|")
_ZH_DOES = "喜欢|买了|去过|忘记了|画了|修好了|做了|卖掉了|计划|梦见".split("|")
_ZH_WHAT = (
    "绿茶|红色自行车|老码头|生日蛋糕|钢琴课|两只猫|长篇小说|山间小屋|花园椅子|小提琴|面试|火车票|"
    "蓝色厨房|海鲜汤|国际象棋|科学展览|冬天的外套|电影节|野生蘑菇"
).split("|")
_ZH_WHEN = "昨天|去年春天|周一|在柏林|上班前|和朋友一起|晚上".split("|")


def sentences(seed: int) -> Iterator[str]:
    """Yield sentences without end, the same ones for the same seed."""
    pick = random.Random(seed)
    while True:
        number = pick.randrange(100_000)
        if pick.random() < 0.5:
            yield (
                f"{pick.choice(_EN_WHO)} {pick.choice(_EN_DOES)} {pick.choice(_EN_WHAT)} "
                f"{pick.choice(_EN_WHEN)}, note {number}"
            )
        else:
            yield (
                f"{pick.choice(_ZH_WHEN)}{pick.choice(_ZH_WHO)}{pick.choice(_ZH_DOES)}"
                f"{pick.choice(_ZH_WHAT)}，编号{number}"
            )


def questions(seed: int) -> Iterator[str]:
    """Yield questions about such sentences, without end."""
    pick = random.Random(seed)
    while True:
        if pick.random() < 0.5:
            yield f"What did {pick.choice(_EN_WHO)} do with {pick.choice(_EN_WHAT)}?"
        else:
            yield f"{pick.choice(_ZH_WHO)}和{pick.choice(_ZH_WHAT)}有什么关系？"
