"""Find credentials in a text whose disguised characters were folded.

Every pattern is linear: runs are bounded, possessive or start only where a run starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from plastic_memories.language.text.lazy_regex import at_start, regex

Span = tuple[int, int]


def group_spans(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    """Yield the span of the first group (or of the match, without groups) of every match."""
    return (match.span(1 if pattern.groups else 0) for match in pattern.finditer(text))


def credential_spans(text: str) -> Iterable[Span]:
    """Return the spans of provider-style keys and of values after a label."""
    keys = _provider_key_spans(text) if _KEY_HINT.search(text) else ()
    return (
        chain(keys, _labelled_value_spans(text))
        if contains_any(text.lower(), _LABEL_HINTS)
        else keys
    )


def contains_any(text: str, words: tuple[str, ...]) -> bool:
    """Return whether a lower-case text contains one of the words; cheaper than a pattern."""
    for word in words:  # noqa: SIM110 - `any` would start a generator for every text
        if word in text:
            return True
    return False


_KEY = regex(
    r"""(?x)(?<![A-Za-z0-9])(?:
      gh[oprsu]_[A-Za-z0-9]{20,}+ | github_pat_[A-Za-z0-9_]{20,}+ | glpat-[A-Za-z0-9_-]{20,}+
    | (?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9]) | AKID[A-Za-z0-9]{32} | LTAI[A-Za-z0-9]{12,26}+
    | xox[abeoprs]-[A-Za-z0-9-]{10,}+ | AIza[A-Za-z0-9_-]{35} | hf_[A-Za-z0-9]{30,}+
    | [rsp]k_(?:live|test)_[A-Za-z0-9]{16,}+ | npm_[A-Za-z0-9]{36} | pypi-[A-Za-z0-9_-]{50,}+
    | SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+ | [0-9]{8,10}:[A-Za-z0-9_-]{35}
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
_LABEL_HINTS = (
    "pass", "pwd", "key", "token", "secret", "credential", "密", "秘", "私", "口令", "令牌",
)  # fmt: skip
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
        len(part) >= _LONG_WORD or (len(part) >= _LONG_MIXED and _has_letter_and_digit(part))
        for part in re.split(r"[^A-Za-z0-9]", body)
    )


_LONG_WORD, _LONG_MIXED = 20, 12
_DIGIT, _LETTER = regex(r"[0-9]"), regex(r"[A-Za-z]")


def _has_letter_and_digit(text: str) -> bool:
    return bool(_DIGIT.search(text) and _LETTER.search(text))


_LABEL = regex(
    r"""(?ix)
    (?P<label>
      (?P<strong>pass(?:word|wd|phrase|code)s? | (?<![a-z])pwd | api[ _-]?keys?
        | (?:secret|access|private|encryption)[ _-]?(?:access[ _-]?)?key
        | (?P<han>密码 | 口令 | [密秘私]钥))
    | (?<![a-z])(?:token|secret|credentials?) | 令牌 )
    (?![a-z])["'`]?
    (?:\ (?:for|to|of|on|at|in|here)(?:\ [a-z0-9.@'-]{1,30}){0,4}?(?=\ is\ |\ was\ |:))?
    (?:现在|目前|就|好像|应该|可能|一直|还|都|统一|也|已经|被|我){0,3}
    (?P<link>\s{0,3}(?:
        (?:is|was|has\ been|will\ be)\b(?:\ (?:now|still|just|currently|simply|probably))?
          (?:\ (?:set|changed|reset|updated)\ to\b)?
      | (?:changed|set|reset|updated)\ to\b
      | 是|为|叫|(?:设置?|改|换)[成为](?:了)?
      )?\s{0,3}(?:[:=]{1,2}|->|→|-\ )?)
    \s{0,3}["'`“‘「『《【（(]?
    (?P<value>[a-z0-9!@\#$%^&*_+~.\\/-][!\#-&(-_a-~]{2,255})"""
)
_VALUE_TAIL = regex(r"[!#-&(-_a-~]*+")
_ORDINARY_WORDS = (
    "wrong incorrect correct invalid valid weak strong secure safe secret missing empty hidden "
    "unknown forgotten lost stolen broken private important personal short long easy hard simple "
    "complex same different here there below above written fine okay good great gone mine yours "
    "none null true false optional mandatory case-sensitive confidential also always never only "
    "that this what which where temporary tough public yours please maybe really kept known "
    "something someone nothing xxxx xxxxx xxxxxx xxxxxxxx your-password yourpassword"
)
_ORDINARY = frozenset(_ORDINARY_WORDS.split())
_ORDINARY_END = regex(r"(?i)(?:ed|ing|able|ible|ly|ful|ous|ive)$")
_CLAUSE_END = at_start(r"""\s*(?:$|[\n.,;!?)"'`”’」』》。，、！？；）]|(?:and|but|so|for)\b)""")
_COUNTED_NOUN = regex(r"\s?(?:年|月|日|号|次|位|个|天|种|种|元|块|条|字|周|人|%|characters?|chars)")
_DESCRIBED = regex(r"的|编码|加密|格式|登录|验证|保护|算法|还是|吗|么")


def _labelled_value_spans(text: str) -> Iterator[Span]:
    """Yield values after a label: `密码是…`, `token: …`, `my password is …`."""
    match = _LABEL.search(text)
    while match:
        value = match["value"].rstrip(".,;:!?)]}>")
        start, end = match.start("value"), match.start("value") + len(value)
        position = match.end("label")
        if _is_secret(match, value, text[end : end + 12]):
            if end == match.end("value"):
                end = _value_end(text, end)
            yield start, end
            position = end
        match = _LABEL.search(text, position)


def _value_end(text: str, end: int) -> int:
    tail = _VALUE_TAIL.match(text, end)
    return tail.end() if tail else end


_MIN_SECRET, _MIN_UNLINKED, _MIN_WEAK = 4, 6, 6
_MIN_WEAK_UNLINKED = 16


def _is_secret(match: re.Match[str], value: str, rest: str) -> bool:
    if not _could_be_secret(value) or _COUNTED_NOUN.match(rest):
        return False
    linked = bool(match["link"].strip())
    if not match["strong"]:
        return _is_weakly_labelled_secret(match, value, rest)
    if not linked:
        return _is_unlinked_secret(match, value)
    return not _is_plain_word(value) or _is_plain_secret(match, value, rest)


def _is_weakly_labelled_secret(match: re.Match[str], value: str, rest: str) -> bool:
    """Return whether the value after a weak label ("token", "secret") looks secret; most do not."""
    link = match["link"].strip()
    if len(value) < (_MIN_WEAK if link else _MIN_WEAK_UNLINKED):
        return False
    if _has_letter_and_digit(value) or (link and len(value) >= _LONG_WORD):
        return True
    named = match["label"].lower() == "token" and link in (":", "=")
    return named and _is_plain_word(value) and _is_plain_secret(match, value, rest)


def _could_be_secret(value: str) -> bool:
    return (
        len(value) >= _MIN_SECRET
        and value.lower() not in _ORDINARY
        and not value.startswith(("http://", "https://", "${"))
        and bool(_DIGIT.search(value) or _LETTER.search(value))
    )


def _is_unlinked_secret(match: re.Match[str], value: str) -> bool:
    if match["han"] and value.isdigit():
        return True
    apart = match["han"] or match["link"] or match.end("label") < match.start("value")
    return bool(apart) and len(value) >= _MIN_UNLINKED and _has_letter_and_digit(value)


def _is_plain_word(value: str) -> bool:
    return value.replace("-", "").isalpha()


def _is_plain_secret(match: re.Match[str], value: str, rest: str) -> bool:
    """Return whether a word is a secret: `password is swordfish`, not `password is required`."""
    if not match["link"].strip().isascii() or match["han"]:
        return not _DESCRIBED.match(rest)
    return not _ORDINARY_END.search(value) and bool(_CLAUSE_END.match(rest or "\n"))


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
