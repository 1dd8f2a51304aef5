"""Convert traditional characters and everyday Cantonese to the form the rules use."""

from __future__ import annotations

from difflib import SequenceMatcher

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified

# Cantonese words of one character, each followed by its replacement.
_PAIRS = "係是喺在唔不嘅的佢他咗了冇没嚟来睇看嗰那啲些咁么瞓睡攞拿俾给畀给乜么哋们咩么諗想嘢事驚怕叻棒鬧骂"
_CANTONESE = str.maketrans(dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True)))
# Words that mean something else, or nothing, in the standard language; as long as what replaces
# them. They count only where a character shows that the text is Cantonese.
_CANTONESE_ONLY = regex("[喺唔嘅佢咗冇嚟嗰啲瞓攞俾畀哋諗嘢㗎啱噉咁乜咩]|(?<!關)係|鍾意")
_WORDS = {
    "唔使": "不用", "唔好": "不要", "鍾意": "喜欢", "钟意": "喜欢", "而家": "现在", "依家": "现在",
    "細佬": "弟弟", "阿媽": "妈妈", "阿爸": "爸爸", "家姐": "姐姐", "大佬": "哥哥", "細妹": "妹妹",
    "老豆": "爸爸", "屋企": "家里", "返工": "上班", "返學": "上学", "讀緊": "在读", "做緊": "在做",
    "聽日": "明天", "今日": "今天", "尋日": "昨天", "琴日": "昨天", "聽晚": "明晚", "出世": "出生",
    "食親": "一吃", "打波": "打球", "同埋": "以及", "成日": "经常", "飲": "喝", "食": "吃", "仲": "还",
    "講": "说", "廿": "二", "攰": "累", "傾計": "聊天", "真係": "真的", "邊度": "哪里",
    "邊個": "哪个", "點解": "为啥", "嗌交": "吵架", "隻": "只", "講笑": "玩笑",
}  # fmt: skip
_CANTONESE_WORD = regex("|".join(sorted(_WORDS, key=len, reverse=True)))
# 對蝦敏感 is an allergy, 我很敏感 a trait.
_ALLERGIC = regex(r"[对對][^，。,\s对對]{1,12}?敏感")


def to_rule_chinese(text: str) -> str:
    """Return the text in the form the rules use, with every character at its position.

    >>> to_rule_chinese("我超喜歡吃芋頭，住喺香港"), to_rule_chinese("我對海鮮敏感，唔食牛")
    ('我超喜欢吃芋头，住在香港', '我对海鲜过敏，不吃牛')
    """
    if text.isascii():
        return text
    text = _ALLERGIC.sub(lambda found: found[0][:-2] + "过敏", text)
    if _CANTONESE_ONLY.search(text):
        # In this word 係 is not a copula.
        text = text.replace("關係", "关系")
        text = _CANTONESE_WORD.sub(lambda found: _WORDS[found[0]], text).translate(_CANTONESE)
    return to_simplified(text)


def restore_script(text: str, original: str) -> str:
    """Return a text in the script of the message it was read from.

    >>> restore_script("我喜欢芋头", "我超喜歡吃芋頭")
    '我喜歡芋頭'
    """
    plain = to_rule_chinese(original)
    if plain == original:
        return text
    written = list(text)
    matcher = SequenceMatcher(None, text, plain, autojunk=False)
    for start, there, size in matcher.get_matching_blocks():
        written[start : start + size] = original[there : there + size]
    return "".join(written)
