"""Words of every talk: to share them says nothing about the topic."""

from __future__ import annotations

from functools import cache

from plastic_memories.language.text.tokens import content_terms, normalise_script

_CHINESE = """
今天 明天 昨天 每天 现在 以后 之前 刚才 时候 就是 还是 没有 觉得 可以 不能 起来 出来 不要
一点 有点 自己 已经 应该 不是 只是 真是 这样 那样 这里 那里 上次 下次 晚上 早上 中午 下午
今晚 上午 朝早 夜晚 而家 今日 听日 琴日 尋日 头先 同埋 仲有 还有 对了 其实 一起 一直 最近
然后 不过 可能 东西 事情 有人 大家 日子 时间 哈哈 不会 不想 想去 要去 去了 了一 是一 医生
那颗 个月 说好 刚刚 更正 原来 我妈 我爸 阿妈 嗰个 呢个 系咪 咁样 点解 佢哋 我哋 你哋 唔知
冇咩 仲要 唔好 都系 改咗 转咗 换咗 讲错 看错 记错 打错 说错 搞错 不对 换成 改成 改到 取消
换了 不去 不吃
"""
_ENGLISH = """
now day days time thing things get got go goes went gone come came know knew think thought
really one ones today tomorrow yesterday tonight week weekend month year people good bad
nice well like want need make made say said see back still never ever always much many more
most over off out up down new old last next first second way lot bit actually turns turn
scratch scrap meant mean mistake instead quit stop cancel change switch push pushed switched
changed put call called longer anymore guess oh yeah ok okay im its dont cant wont not no
yes please thank sorry feel let give gave take took start started starting done everything
something nothing everyone someone man boy girl guy morning night evening afternoon neither
either lol haha lmao btw tho though omg ninety eighty seventy sixty fifty forty thirty
twenty ten nine eight seven six five four three two wait hear heard
"""


@cache
def common_terms() -> frozenset[str]:
    """Return the terms of the common words; made when first needed, not at the start."""
    return frozenset(
        term
        for word in normalise_script(f"{_CHINESE} {_ENGLISH}").split()
        for term in content_terms(word)
    )
