"""Find credentials in a text whose disguised characters were folded.

Every pattern is linear: runs are bounded, possessive or start only where a run starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.rules.privacy.labelled_values import labelled_value_spans
from plastic_memories.rules.privacy.spans import (
    Span,
    contains_any,
    group_spans,
    has_letter_and_digit,
)


def credential_spans(text: str) -> Iterable[Span]:
    """Return the spans of provider-style keys and of values after a label."""
    keys = _provider_key_spans(text) if _KEY_HINT.search(text) else ()
    return chain(keys, labelled_value_spans(text))


_KEY = regex(
    r"""(?x)(?<![A-Za-z0-9])(?:
      gh[oprsu]_[A-Za-z0-9]{20,}+ | github_pat_[A-Za-z0-9_]{20,}+ | glpat-[A-Za-z0-9_-]{20,}+
    | (?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9]) | AKID[A-Za-z0-9]{32} | LTAI[A-Za-z0-9]{12,26}+
    | xox[abeoprs]-[A-Za-z0-9-]{10,}+ | AIza[A-Za-z0-9_-]{35} | hf_[A-Za-z0-9]{30,}+
    | [rsp]k_(?:live|test)_[A-Za-z0-9]{16,}+ | npm_[A-Za-z0-9]{36} | pypi-[A-Za-z0-9_-]{50,}+
    | SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+ | [0-9]{8,10}:[A-Za-z0-9_-]{35}
    | pm_(?=[A-Za-z_-]{0,64}[0-9])[A-Za-z0-9_-]{32,64}+
    | eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]++
    )"""
)
_DASHED_KEY = regex(r"(?<![A-Za-z0-9])sk-([A-Za-z0-9_-]{16,}+)")
_BEARER = regex(r"(?i)(?<![a-z0-9])(?:bearer|basic)\s{1,3}([a-z0-9._~+/-]{20,}+=*)")
_LOGIN_IN_URL = regex(r"(?<=://)[^\s:/@\[]{1,64}:([^\s:/@\[]{1,128})(?=@)")
_PRIVATE_KEY = regex(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY-----")
_PRIVATE_KEY_END = regex(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY-----")


# A cheap pre-check: nearly every text fails it and skips the patterns.
_KEY_HINT = regex(r"[A-Za-z0-9_:.~+/-]{14}|PRIVATE KEY")
# Lower case, searched one by one: one pattern for all takes five times as long.
_CODE_HINTS = ("pin", "otp", "code", "phrase", "mnemonic", "码", "口令", "助记词")


def _provider_key_spans(text: str) -> Iterator[Span]:
    yield from group_spans(_KEY, text)
    yield from (m.span() for m in _DASHED_KEY.finditer(text) if _looks_random(m[1]))
    yield from (m.span(1) for m in _BEARER.finditer(text) if _looks_random(m[1]))
    yield from group_spans(_LOGIN_IN_URL, text)
    yield from _private_key_spans(text)


def _private_key_spans(text: str) -> Iterator[Span]:
    opening = _PRIVATE_KEY.search(text)
    while opening:
        closing = _PRIVATE_KEY_END.search(text, opening.end())
        end = closing.end() if closing else len(text)
        yield opening.start(), end
        opening = _PRIVATE_KEY.search(text, end)


def _looks_random(body: str) -> bool:
    """Return whether a key body is random: `sk-a1B2…`, not `sk-learn-for-beginners-2024`."""
    return any(
        len(part) >= _LONG_WORD or (len(part) >= _LONG_MIXED and has_letter_and_digit(part))
        for part in re.split(r"[^A-Za-z0-9]", body)
    )


_LONG_WORD, _LONG_MIXED = 20, 12


_CODE = regex(
    r"""(?ix)(?:
      (?<![a-z])(?:pin(?:\ code|\ number)?|otp|(?:verification|security|one-time|login)\ code)
        \s?(?:is|was|[:=]|是|为)
    | (?:pin\ ?码|验证码|动态码|校验码)\s?(?:是|为|[:=])?
    )\s{0,3}([0-9]{4,8})(?![0-9A-Za-z])"""
)
_NUMERALS = regex(r"(?:密码|口令|验证码)\s?就?(?:是|为|:)\s?([零〇一二三四五六七八九幺]{4,})")
_HAN_SECRET = regex(
    r"我的?[^\s，。！？]{0,8}密码就?(?:是|为|:)\s?[“「『\"]?"
    r"(?!什|甚|啥|多少|哪|谁|怎|错|对|不|很|太|非常|重要|保密|秘密|安全|正确|空|一|由|用|随机|自己|以前|之前|默认"
    r"|忘|旧|新|没|有|要|需要|必须|只|可|被|在|从|给|他|她|你|别|系统|为了|最|比|属于|公司|加密|密)"
    r"([\u4e00-\u9fff]{2,12})(?<![的吗嘛呢了么啊吧])(?=[\s，。！？,.!?;；”」』\"]|$)"
)
_SEED_PHRASE = regex(
    r"(?i)(?:(?:seed|recovery)\ phrase|mnemonic|助记词)\s?(?:is|[:=]|是|为)\s{0,3}"
    r"((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})"
)


_CODES = (_CODE, _NUMERALS, _HAN_SECRET, _SEED_PHRASE)


def code_spans(text: str) -> Iterable[Span]:
    """Return spans that only context makes secret: PINs, one-time codes, words, seed phrases."""
    if not contains_any(text.lower(), _CODE_HINTS):
        return ()
    return chain.from_iterable(group_spans(pattern, text) for pattern in _CODES)
