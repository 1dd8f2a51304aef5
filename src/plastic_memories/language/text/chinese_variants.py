"""Convert traditional characters and everyday Cantonese to the form the rules use."""

from __future__ import annotations

from difflib import SequenceMatcher

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.language.text.word_lists import word_groups

# Words that mean something else, or nothing, in the standard language. They count only where a
# character shows that the text is Cantonese.
_CANTONESE_ONLY = regex("[喺唔嘅佢咗冇嚟嗰啲瞓攞俾畀哋諗嘢㗎啱噉咁乜咩]|(?<!關)係|鍾意")
_WORDS = word_groups("cantonese")
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
        text = _CANTONESE_WORD.sub(lambda found: _WORDS[found[0]], text)
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
