"""Ordinary things that people say: what a likeness is measured by where there is little else.

How near a memory is to a question in meaning tells nothing by itself; it tells how much nearer
than others it is. On a first evening there are no others. So these stand beside the memories,
embedded by the same model: with three memories a question is judged as with three thousand.
"""

from __future__ import annotations

BACKGROUND_SENTENCES = (
    "The bus was late again this morning.",
    "I have to call the bank about the new card.",
    "We painted the kitchen wall white last week.",
    "My brother is learning to play chess.",
    "The concert tickets were sold out in an hour.",
    "She keeps her passport in the top drawer.",
    "It rained all day, so we stayed at home.",
    "The meeting was moved to Thursday afternoon.",
    "今天早上地铁特别挤。",
    "我想换一部新手机。",
    "他周末常去河边钓鱼。",
    "妈妈做的红烧肉最好吃。",
    "这本书我看了三遍。",
    "我们公司下个月要搬家。",
    "昨晚没睡好，头有点疼。",
    "她的小狗喜欢追球跑。",
)
# How much one of them counts beside a memory: in large partitions they must not be felt.
BACKGROUND_WEIGHT = 0.5
