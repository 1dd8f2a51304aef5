"""Find where one clause of chat ends and the next begins, with or without punctuation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plastic_memories.language.reading.typed.plain_talk import GONE
from plastic_memories.language.text.lazy_regex import at_start, regex
from plastic_memories.language.text.word_lists import any_of, word_groups

CJK = "\u3400-\u9fff"

_LOOK_BACK = 40
_ITEM = r"(?!(?:i|i'm|my|you|he|she|we|they|it|please|but|so|am|is)\b)[\w'-]+(?:\s[\w'-]+){0,2}"
# The commas of an enumeration do not end a clause: "tea, coffee and cake".
_LISTING = rf"(?!\s{GONE}*(?:{_ITEM},\s){{0,8}}(?:{_ITEM},?\s)?(?:and|or)\s{_ITEM}\s*$)"
_CLAUSE_BREAK = regex(
    rf"(?<!\d)[，,](?!\s?{GONE}*(?:19|20)\d\d\b){_LISTING}|[，,](?!\d|\s?{GONE}*(?:19|20)\d\d\b){_LISTING}"
    rf"|(?<!\d)(?<!名字)(?<!姓名)(?<!昵称)(?<!生日)(?<!年龄)(?<!职业)(?<!爱好)(?<!过敏原)"
    rf"(?<!过敏源)"
    r"(?<![Nn]ame)[:：](?!\d)|——|—|\s-\s|\t"
    rf"|(?<=[{CJK}\w》」”])\s+(?=(?:我|你|他|她|今年|住在|喜欢|不喜欢|来自|讨厌|叫我|是一?[个名]|坐标|但|因为|"
    rf"所以|请|以后|目前|在|主要|先不|然后|反正|总之|不过|其实|今天|昨天|明天|最近|现在|真的|算了|对了|话说|顺便|"
    rf"[中英][文]名|真名|本名|全名|小名|网名|[{CJK}]{{2}}座))"
    rf"|(?<=[{CJK}])\s+(?=(?:please|i|i'm|im|my|call|don't|dont|you|u)\s)"
    rf"|(?<=[{CJK}\d])(?<![是在到从于])\s+(?=\d{{2,4}}年|\d{{1,2}}月|\d{{1,2}}\.\d)"
    r"|(?<=[男女])\s+(?=\d\d\b)|(?-i:(?<=[A-Z])\s+(?=[a-z]{2,}是))"
    # Typed or spoken without a pause: 先自我介绍一下我叫罗丽你叫我罗姐就行.
    rf"|(?<=[{CJK}]{{2}})(?=我(?:爸爸?|妈妈?|哥|姐|弟|妹|老公|老婆)(?:是|叫|在|今年))"
    rf"|(?<=[{CJK}]{{2}})(?<![叫让给跟和对把被比起问找诉陪帮教喊当果为以说得想道的是像除等让使令管天周月年晚上午早时候前后号日"
    r"末底初岁次里季春夏秋冬节之在与同过点聊提谈讲及论旬听])(?=我(?:叫|是|住|对|有|最|养|姓|属|今年|现在|平时|从小)"
    rf"[{CJK}A-Za-z\d]{{2}}|我姓[{CJK}])"
    r"|(?=你(?:可以|就|以后|直接)?(?:叫|喊|称呼)我)"
    r"|(?<=的)\s+(?=主要|天天|后来|不|但|还|就|平时|现在|以前|每|也|都|经常|已经|刚|从|有|没)"
    # In chat a space between Chinese words replaces a comma, unless a value follows.
    rf"|(?<=[{CJK}])(?<![叫是我在欢爱厌对和跟的把给住为于说用])\s+(?=[{CJK}])"
    r"|(?:(?<=不[吃喝抽碰熬赌][一-龥])|(?<=不[吃喝抽碰熬赌][一-龥]{2}))(?=不[吃喝抽碰熬赌])"
    r"|(?=但是|但我|不过我|可是我|然后我|所以我|因为我|而且我|并且我|而我)"
    r"|\s(?:but|because|bc|cos|coz|cuz|although|though|while|whereas)\s|\s(?:and|so|n)\s(?=(?:i|i'm|i've|im|ive|"
    r"dont|cant|my|you|we|he|she|they|no|please|don't|am|live|work|hate|love|enjoy|prefer|have|study|don't|can't|"
    r"moved|was born)\b)",
    re.IGNORECASE,
)
# Voice-to-text and hurried typing: "i have a cat her name is Olive i love her".
_SUBJECT = regex(any_of("typed_clause_breaks", "subject"), re.IGNORECASE)
_CHATTER = regex(any_of("typed_clause_breaks", "chatter"), re.IGNORECASE)
_VERB = at_start(any_of("typed_clause_breaks", "verb"), re.IGNORECASE)
# After these words a subject goes on with the clause: "the day i", "i think she", "because we".
_GOES_ON = frozenset(word_groups("clause_words")["goes_on"].split("|"))
_DETERMINERS = frozenset(word_groups("clause_words")["determiners"].split("|"))
_STARTS_ANEW = regex(any_of("typed_clause_breaks", "starts_anew"), re.IGNORECASE)


# "whenever i drink milk i get sick" is one statement.
_SUBORDINATE = regex(any_of("typed_clause_breaks", "subordinate"), re.IGNORECASE)


def clause_breaks(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of what separates clauses, in order, without overlaps.

    >>> text = "i have a cat her name is olive because i love olives"
    >>> [text[start:end] for start, end in clause_breaks(text)]
    [' ', ' because ']
    """
    place = 0
    marked = [
        found.span() for pattern in (_CLAUSE_BREAK, _CHATTER) for found in pattern.finditer(text)
    ]
    unmarked = set(_run_on_breaks(text))
    for start, end in sorted([*marked, *unmarked]):
        if start < place or ((start, end) in unmarked and _SUBORDINATE.match(text, place)):
            continue
        yield start, end
        place = end


def _run_on_breaks(text: str) -> Iterator[tuple[int, int]]:
    for found in _SUBJECT.finditer(text):
        start = found.start()
        if found["verb"] and not _VERB.match(found["verb"]):
            continue
        words = text[max(0, start - _LOOK_BACK) : start].replace(GONE, "").lower().split()
        # Punctuation before it is a break already.
        if not words or not words[-1][-1].isalnum():
            continue
        last, first = words[-1], words[-2] if len(words) > 1 else ""
        if last in _GOES_ON or (first in _DETERMINERS and not _STARTS_ANEW.match(text, start)):
            continue
        yield found.span()
