"""Convert traditional characters and some Cantonese to the simplified form the rules use."""

from __future__ import annotations

from difflib import SequenceMatcher

from plastic_memories.language.text.scripts import to_simplified

# Cantonese words of one character, each followed by its replacement.
_PAIRS = "係是喺在唔不嘅的佢他咗了冇没嚟来睇看嗰那啲些咁么瞓睡攞拿俾给乜么"
_CANTONESE = str.maketrans(dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True)))


def to_rule_chinese(text: str) -> str:
    """Return the text in the form the rules use, with every character at its position.

    >>> to_rule_chinese("我超喜歡吃芋頭，住喺香港")
    '我超喜欢吃芋头，住在香港'
    """
    if text.isascii():
        return text
    # In this word 係 is not a copula.
    return to_simplified(text.replace("關係", "关系").translate(_CANTONESE))


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
