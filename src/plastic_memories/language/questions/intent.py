"""Detect the intent of a message. It only ever adds searches, it never disables any."""

from __future__ import annotations

import re

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.model.recall import Intent, IntentType

_INTENT_PATTERNS = {
    IntentType.PROFILE: regex(
        r"我(叫|的名字|是谁|喜欢|爱|讨厌|不喜欢|不吃|不喝|住|在哪|是做什么|是干什么|的生日|多大|几岁"
        r"|的工作|的职业|过敏|的习惯|的风格)"
        r"|叫我(什么|啥)|怎么(称呼|叫)我|关于我|(了解|认识|知道)我(吗|么|多少|是谁|什么|啥|[?？]|$)"
        r"|\bmy (name|job|favou?rite|birthday|age|allerg\w+|style)\b|\bwho am i\b"
        r"|\babout me\b|\bdo you know me\b|\bdo i (like|love|hate|prefer|live|work)\b"
        r"|\bwhat do (i do|you call me)\b|\bi (don['’]?t|do not|never) eat\b",
        re.IGNORECASE,
    ),
    IntentType.EVENT: regex(
        r"什么时候|哪天|几号|何时|生日|纪念日|重要的?(日子|日期|事)|计划|安排|约好|下周|明天|后天"
        r"|(这|本|下)个?(周|星期|礼拜|月)|(还有|有)(什么|啥|咩|乜)(安排|事)"
        r"|去年|上周|上个月|昨天|那次|那一次|这件事|那件事|发生了?(什么|啥)|怎么了"
        r"|\bwhen\b|\bbirthday\b|\banniversary\b|\bplans?\b|\btomorrow\b|\bnext (week|month|year)\b"
        r"|\blast (week|month|year|spring|summer|autumn|fall|winter)\b|\byesterday\b"
        r"|\bappointment\b|\bwhat happened\b|\bthat time\b|\bimportant (day|date|thing)s?\b"
        r"|\b(this|the coming) (week|weekend|month)\b"
        r"|\b(anything|something) (important|coming up)\b",
        re.IGNORECASE,
    ),
    IntentType.HISTORY: regex(
        r"上次|之前|以前|曾经|刚才|刚刚|聊过|说过|提过|讲过|谈过|还记得|记不记得|你(是不是|又|都)?忘了"
        r"|\blast time\b|\bbefore\b|\bearlier\b|\bpreviously\b|\bremember\b|\bdid (i|we|you)\b"
        r"|\b(told|mentioned|talked|discussed)\b|\byou (forgot|have forgotten)\b",
        re.IGNORECASE,
    ),
}


def detect_intent(text: str) -> Intent:
    """Return the likely intent of a message, judged by its words.

    >>> detect_intent("我喜欢什么茶？").type.value, detect_intent("hello").type.value
    ('profile', 'none')
    """
    if not text.strip():
        return Intent(IntentType.NONE, 1.0)
    found = intent_types(text)
    queries = (text,)
    if not found:
        return Intent(IntentType.NONE, 0.5, queries)
    if len(found) > 1:
        return Intent(IntentType.MIXED, 0.7, queries)
    return Intent(found[0], 0.8, queries)


def intent_types(text: str) -> list[IntentType]:
    """Return every kind of question that the words of a message ask.

    >>> [kind.value for kind in intent_types("你还记得那件事吗")]
    ['event', 'history']
    """
    asked = to_simplified(text)
    return [kind for kind, sign in _INTENT_PATTERNS.items() if sign.search(asked)]
