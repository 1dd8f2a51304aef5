"""Weigh the terms of a question as evidence that an old message is relevant.

One rare, distinctive term is enough; any number of everyday words is not.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from plastic_memories.language.questions.question import ASKING_WORDS, SMALL_TALK
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.language.text.tokens import content_terms, index_terms
from plastic_memories.model.message import TermDocumentCounts

# Weights of a distinctive word, of a single Chinese character, which is part of many words, and of
# an everyday word.
_DISTINCTIVE_WEIGHT = 1.0
_SINGLE_CHARACTER_WEIGHT = 0.5
_EVERYDAY_WEIGHT = 0.3
# This score is enough for any question: one distinctive term that few messages contain.
_ABSOLUTE_THRESHOLD = 0.75
# A lower score is enough at this share of the question's total weight.
_SHARE_THRESHOLD = 0.4
# A message below this share of the best score only shares some words with it.
_MIN_SHARE_OF_BEST = 0.5
# Each term costs a lookup, so a long question is searched by its heaviest terms.
_MAX_TERMS = 16
# A term in 1% of the messages has full weight; one in all of them has nearly none.
_RARE_SHARE = 0.01
_MIN_RARITY = 0.1
# Smoothing: among few messages, every term is rare or common by chance.
_SMOOTHING_MESSAGES = 100
# Terms in more rows than this cost more to search than they contribute.
_MAX_ROWS = 8_000
# Tokenizing is slow, and long messages state their topic early.
MAX_SCORED_CHARS = 3_000

# Everyday verbs and general words. A Chinese word is a term as it is.
_CHINESE_EVERYDAY_WORDS = (
    "主要 内容 名字 时间 地方 喜欢 工作 问题 推荐 建议 告诉 类型 方法 方式 办法 曾经 开始 "
    "结束 准备 打算 决定 发生 参加 活动 情况 原因 关系 一起 一直 已经 还是 比如 比较 重要 "
    "不同 其他 其它 所有 大家 别人 今年 去年 明年 上次 下次 第一 刚才 刚刚 平时 经常 总是 "
    "到底 究竟 具体 大概 左右 手里 回忆 提到 提过 帮忙 介绍 安排 计划 选择 考虑 继续 变成 "
    "成为 认识 见到 见过 持续 开心 高兴"
)
_EVERYDAY_WORDS = ASKING_WORDS.union(
    _CHINESE_EVERYDAY_WORDS.split(),
    index_terms(
        "able across actual actually add ago almost already another around ask answer away back "
        "bad begin believe best better between big both bring buy call care change check choose "
        "come cool decide describe done down during easy either else end enjoy enough ever every "
        "exactly fact few fill find fine forget forgot full fun give given gonna gotta guess guy "
        "happy hard hear heard hello help hey hi high hold idea important interesting item keep "
        "learn leave left live long lose lost love main may mean meet met might mind miss moment "
        "morning most move must name new night no not off often okay old once one open other out "
        "over own part pay people person pick place plan play point possible pretty probably put "
        "question quick quite read ready real reason remind rest run same seem send sent set "
        "several shall share show side since sit small soon sorry sort speak special stay stop "
        "story stuff suggest suppose talk talked tell test thanks three together told tomorrow "
        "tonight tried turn two understand until up usual wait walk wanna watch weekend while "
        "wish without word work world worry write wrong yes yesterday yet young "
    ),
)
# Characters of everyday words; a pair of them is an everyday word or spans two words.
_EVERYDAY_CHARACTERS = frozenset(
    "一二三四五六七八九十几两半多少每各某个只条台件张本杯次些种位名不没有无在到从向往对给跟与同比"
    "被把让使得地着过来去上下进出回起会能可要想该应肯愿敢做干弄搞办用拿放找买卖吃喝玩看听说讲聊谈"
    "问答叫写读教帮住走跑坐站等睡知道记忘觉感认为以因所而但如果就才又再还也都很太真最更挺好坏错今"
    "明昨前后早晚中午年月日天周号点时候分钟刚现近什么怎哪谁啥呢吗吧啊呀我你您他她它们咱自己人事东"
    "西样的了是这那里和养爱怕"
)
# Removed from a run of characters, so that no bigram spans its end.
_COMMON_WORDS = regex(
    "|".join(sorted(word for word in SMALL_TALK | _EVERYDAY_WORDS if not word.isascii()))
)


def evidence_terms(text: str) -> dict[str, float]:
    """Return the evidence terms of a question with their weights.

    >>> evidence_terms("What do you think, where does Priya live today?")
    {'priya': 1.0, 'live': 0.3}
    >>> evidence_terms("你觉得今天怎么样")
    {}
    """
    separated = _COMMON_WORDS.sub(
        lambda found: " " if found[0] in SMALL_TALK else f" {found[0]} ", to_simplified(text)
    )
    weights = {term: weight for term in content_terms(separated) if (weight := _term_weight(term))}
    heaviest = sorted(weights, key=lambda term: -weights[term])[:_MAX_TERMS]
    return {term: weights[term] for term in heaviest}


def _term_weight(term: str) -> float:
    if term in SMALL_TALK:
        return 0.0
    if term in _EVERYDAY_WORDS or _EVERYDAY_CHARACTERS.issuperset(term):
        return _EVERYDAY_WEIGHT
    return _SINGLE_CHARACTER_WEIGHT if len(term) == 1 else _DISTINCTIVE_WEIGHT


def idf_weighted_terms(
    weights: Mapping[str, float], document_counts: TermDocumentCounts
) -> dict[str, float]:
    """Return the weight of each term by its rarity in the messages.

    A distinctive term that no message contains stays, as a sign that something else is asked. An
    everyday one is dropped: answers seldom repeat the words of the question.
    """
    counts = document_counts.counts
    return {
        term: weight * _rarity_factor(term, document_counts)
        for term, weight in weights.items()
        if weight > _EVERYDAY_WEIGHT or counts.get(term, 0)
    }


def without_common_terms(weights: Mapping[str, float]) -> dict[str, float]:
    """Return the terms without everyday words.

    >>> without_common_terms(evidence_terms("where did I drink coffee?"))
    {'drink': 1.0, 'coffe': 1.0}
    """
    return {term: weight for term, weight in weights.items() if weight > _EVERYDAY_WEIGHT}


def _rarity_factor(term: str, document_counts: TermDocumentCounts) -> float:
    count = document_counts.counts.get(term, 0)
    if not count:
        return 1.0
    if document_counts.is_common(term):
        return _MIN_RARITY
    share = count / (document_counts.messages + _SMOOTHING_MESSAGES)
    return min(1.0, max(_MIN_RARITY, math.log(share) / math.log(_RARE_SHARE)))


def search_terms(
    terms: Collection[str], document_counts: TermDocumentCounts, *, in_short: bool = False
) -> list[str]:
    """Return the terms to search for, rarest first: those that occur and are not too common.

    If all are common, only a short history (`in_short`) is searched, by one of them: in a long one
    it would match thousands of messages at random.
    """
    counts = {term: count for term in terms if (count := document_counts.counts.get(term, 0))}
    rarest = sorted(
        (term for term in counts if not document_counts.is_common(term)), key=counts.__getitem__
    )
    if not rarest:
        return list(counts)[:1] if in_short else []
    rows = 0
    for position, term in enumerate(rarest):
        rows += counts[term]
        if position and rows > _MAX_ROWS:
            return rarest[:position]
    return rarest


def evidence_score(content: str, weights: Mapping[str, float]) -> float:
    """Return a message's evidence score; of a long message only the beginning counts."""
    return sum(weights[term] for term in weights.keys() & index_terms(content[:MAX_SCORED_CHARS]))


def evidence_threshold(weights: Mapping[str, float]) -> float:
    """Return the minimum score of a message that is relevant to a question with these terms."""
    return min(_ABSOLUTE_THRESHOLD, likely_answer_threshold(weights))


def likely_answer_threshold(weights: Mapping[str, float]) -> float:
    """Return the score above which a message likely answers the question."""
    return _SHARE_THRESHOLD * sum(weights.values())


def strongest_evidence(evidence: Mapping[int, float]) -> list[int]:
    """Return the message ids with the highest scores, without those far below the best.

    >>> strongest_evidence({1: 0.5, 2: 2.0, 3: 1.5})
    [2, 3]
    """
    best = max(evidence.values(), default=0.0)
    strong = [
        message_id for message_id, score in evidence.items() if score > _MIN_SHARE_OF_BEST * best
    ]
    return sorted(strong, key=lambda message_id: -evidence[message_id])
