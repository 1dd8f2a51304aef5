"""Detect texts that state the same, by words alone.

Embeddings cannot: `周一去看牙医` and `周二去看牙医` are close, and so are "Tom is taller than
Jerry" and its opposite. So every word counts, and so does its position, except for the few that
never change the statement.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.language.text.tokens import UNSPACED, normalise

_PAUSES = ",.!;~"
_STOPS = "。、"
_PARTICLES = "啊呀哦噢喔嘛呢"
# All pauses are equal, but one must be there: `不，要去` is not `不要去`. Before a letter or a
# digit it is not a pause (3.5, ~5, !=, .com). A colon may mark a speaker, a question mark changes
# the sentence, quotes change the speaker. Here and below a run is scanned once, from its start, to
# stay linear.
_PAUSE = regex(
    rf"(?:(?:(?<!\s)\s++)?(?:[{_STOPS}]++"
    rf"|(?<![{_PAUSES}])[{_PAUSES}]++(?![^\s{UNSPACED}{_STOPS}\"”’」』)\]])))++\s*+"
)
_CLOSING_PARTICLES = regex(rf"(?<![{_PARTICLES}])[{_PARTICLES}]+(?=\s*(?:[:{_STOPS}{_PAUSES}]|$))")
_BESIDE_UNSPACED = regex(rf"(?<=[{UNSPACED}])\s++|(?<!\s)\s++(?=[{UNSPACED}])")
# Emphasis on a feeling adds nothing. Elsewhere the same words may: 特别行政区, the very first.
_STRESS = regex(
    r"(?<![也很挺超级非常特别真的心])(?:也|很|挺|超级|超|非常|特别|真的|真心)+"
    r"(?=喜欢|爱(?![好人情])|热爱|讨厌|害怕|怕|恨|想念|高兴|开心|难过|期待)"
    r"|(?<!also )(?<!really )(?<!truly )(?<!very )\b(?:(?:also|really|truly|very) )+"
    r"(?=(?:likes?|loves?|enjoys?|adores?|hates?|dislikes?|miss(?:es)?|happy|glad|sad)\b)"
)
# Next to these, emphasis matters: "I don't really like it" is not "I really don't like it", and
# 《超喜欢你》 is not 《喜欢你》.
_STRESS_TELLS = regex(
    r"[不没无非未别勿莫否吗?\"“”《》「」『』]|n['’]t\b"
    r"|\b(?:not?|never|none|nobody|nothing|neither|nor|without|hardly|barely|scarcely|dont)\b"
)
_CONTRACTED = regex(
    r"(?<![a-z\d_'’])(?:(won|can|shan)['’]t|(cannot)|([a-z]+)n['’]t|([a-z]+)['’](m|re|ve|ll))"
    r"(?![a-z\d_'’])"
)
_WHOLE = {"won": "will not", "can": "can not", "shan": "shall not", "cannot": "can not"}
_ENDINGS = {"m": "am", "re": "are", "ve": "have", "ll": "will"}
# Characters in which two texts may differ and still state the same.
_WAVERING = frozenset(
    f" \u3000{_STOPS}{_PARTICLES}…‘’“”啦了也很挺超级非常特别真的心"
    "also really truly very am are have will not"
    "0123456789!\"#$%&'()*+,-./:;<=>?~"
)
# Full-width ASCII forms are in the same order as ASCII.
_WIDE = {code + 0xFEE0: chr(code).lower() for code in range(ord("!"), ord("~") + 1)}
_LOOK: Mapping[int, str | None] = {
    code: None if char in _WAVERING else char
    for code, char in ({ord(char): char for char in _WAVERING} | _WIDE).items()
}
# Longer texts are not repeated in nearly the same words.
_LONG = 1_000


def canonical_text(text: str) -> str:
    """Return a text without what does not change its statement.

    Texts that certainly state the same become equal. Idempotent.

    >>> canonical_text("我很喜欢喝绿茶！") == canonical_text("我喜歡 喝 绿茶")
    True
    >>> canonical_text("I'm really happy.") == canonical_text("I am happy")
    True
    >>> canonical_text("I work at Google") == canonical_text("I worked at Google")
    False
    """
    said = normalise(text)
    if "'" in said or "’" in said or "cannot" in said:
        said = _CONTRACTED.sub(_expand_contraction, said)
    if not said.isascii():
        said = _BESIDE_UNSPACED.sub("", to_simplified(said)).replace("啦", "了")
        said = _CLOSING_PARTICLES.sub("", said)
    said = _PAUSE.sub(", ", said).lstrip(" ,").rstrip(f" :{_PAUSES}")
    if not said.isascii():
        said = _BESIDE_UNSPACED.sub("", said)
    calm = _STRESS.sub("", said)
    return said if calm == said or _STRESS_TELLS.search(calm) else calm


def canonical_texts(texts: Sequence[str]) -> list[str]:
    """Return the texts with duplicates in canonical, hence equal, form.

    Compatibility forms (`㎏`, `①`) are not unified: only texts that resemble another are
    canonicalised, which takes ten times as long as the check, and hardly any prompt line does.

    >>> canonical_texts(["I like tea!", "I like coffee", "I really like tea"])
    ['i like tea', 'I like coffee', 'i like tea']
    """
    looks = [_lookup_key(text) for text in texts]
    if len(set(looks)) == len(looks):
        return list(texts)
    often = Counter(looks)
    return [
        canonical_text(text) if often[look] > 1 and len(text) <= _LONG else text
        for text, look in zip(texts, looks, strict=True)
    ]


def _lookup_key(text: str) -> str:
    """Return a text without the characters in which duplicates may differ."""
    return text if len(text) > _LONG else to_simplified(text).lower().translate(_LOOK)


def _expand_contraction(match: re.Match[str]) -> str:
    whole, cannot, stem, subject, ending = match.groups()
    if whole or cannot:
        return _WHOLE[whole or cannot]
    return f"{stem} not" if stem else f"{subject} {_ENDINGS[ending]}"
