"""Background sentences to calibrate embedding similarity with.

The similarity of a memory to a question means nothing by itself; what counts is how far it exceeds
the others. A new partition has no others, so these sentences, embedded by the same model, take
their place: three memories are judged like three thousand.
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
# Weight of a sentence relative to a memory: negligible in large partitions.
BACKGROUND_WEIGHT = 0.5
