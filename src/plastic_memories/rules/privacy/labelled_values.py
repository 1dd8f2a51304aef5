"""Find secret values by the label beside them: `密码是…`, `token: …`, `… is my password`.

Every pattern is linear: runs are bounded, possessive or start only where a run starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from plastic_memories.language.text.lazy_regex import at_start, regex
from plastic_memories.rules.privacy.spans import Span, contains_any, has_letter_and_digit

# Lower case, searched one by one: one pattern for all takes five times as long.
_LABEL_HINTS = (
    "pass", "ssw", "$$w", "55w", "pw", "key", "token", "secret", "credential", "密", "秘", "私",
    "口令", "令牌", "s s ", "s.s.", "s-s-", "s_s_", "k e ", "k.e.", "k-e-", "k_e_",
    "c r e", "c.r.e", "c-r-e", "c_r_e", "p w d", "p.w.d", "p-w-d", "p_w_d",
)  # fmt: skip


def labelled_value_spans(text: str) -> Iterable[Span]:
    """Return the spans of values after or before a label."""
    if not contains_any(text.lower(), _LABEL_HINTS):
        return ()
    return chain(_values_after_labels(text), _values_before_labels(text))


def _with_optional_spaces(word: str) -> str:
    """Return a pattern for a word whose letters are set apart: `p a s s`, `p.a.s.s`."""
    return "[ ._-]".join(word)


_SPACED_LABELS = "|".join(
    map(_with_optional_spaces, ("password", "passwd", "passcode", "pwd", "token", "secret"))
)
_PASSWORD_LABEL = r"(?:p[a@4*][s$5*]{2}[ ._-]?w[o0*]rds?|pass(?:wd|phrase|code)s?)"  # noqa: S105 - a pattern
_KEY_LABEL = r"api[ ._-]?keys?|(?:secret|access|private|encryption)[ _-]?(?:access[ _-]?)?key"
_HAN_LABEL = r"密[ ._·-]?码|口令|[密秘私][ ._·-]?钥"
_LABEL = regex(
    rf"""(?ix)
    (?P<label>
      (?P<strong>(?P<spaced>(?<![a-z])(?:{_SPACED_LABELS})) | {_PASSWORD_LABEL} | (?<![a-z])pwd?
        | {_KEY_LABEL} | (?P<han>{_HAN_LABEL}))
    | (?<![a-z])(?:token|secret|credentials?) | 令牌 )
    (?:(?<=[密码口令秘私钥牌])|(?![a-z]))["'`]?
    (?:\ (?:for|to|of|on|at|in|here)(?:\ [a-z0-9.@'-]{{1,30}}){{0,4}}?(?=\ is\ |\ was\ |:))?
    (?:现在|目前|就|好像|应该|可能|一直|还|都|统一|也|已经|被|我){{0,3}}
    (?P<link>\s{{0,3}}(?:
        (?:is|was|has\ been|will\ be)\b(?:\ (?:now|still|just|currently|simply|probably))?
          (?:\ (?:set|changed|reset|updated)\ to\b)?
      | (?:changed|set|reset|updated)\ to\b
      | 是|为|叫|(?:设置?|改|换)[成为](?:了)?
      )?\s{{0,3}}(?:[:=]{{1,2}}|->|→|-\ )?)
    \s{{0,3}}["'`“‘「『《【（(]?
    (?P<value>[a-z0-9!@\#$%^&*_+~.\\/-][!\#-&(-_a-~]{{0,255}})"""
)
_VALUE_TAIL = regex(r"[!#-&(-_a-~]*+")
_SPACED_VALUE = regex(r"[!-~](?:[ ][!-~](?![A-Za-z0-9])){2,63}")
_ORDINARY_WORDS = (
    "wrong incorrect correct invalid valid weak strong secure safe secret missing empty hidden "
    "unknown forgotten lost stolen broken private important personal short long easy hard simple "
    "complex same different here there below above written fine okay good great gone mine yours "
    "none null true false optional mandatory case-sensitive confidential also always never only "
    "that this what which where temporary tough public yours please maybe really kept known "
    "something someone nothing xxxx xxxxx xxxxxx xxxxxxxx your-password yourpassword "
    "bad old new set his her off out due too not the one two six ten any all yes lol omg idk tbd "
    "n/a via fun odd big low wtf xxx 2fa mfa sso top key who how why our its you out now app"
)
_ORDINARY = frozenset(_ORDINARY_WORDS.split())
_ORDINARY_END = regex(r"(?i)(?:ed|ing|able|ible|ly|ful|ous|ive)$")
_CLAUSE_END = at_start(r"""\s*(?:$|[\n.,;!?)"'`”’」』》。，、！？；）]|(?:and|but|so|for)\b)""")
_SHORT_VALUE_END = at_start(
    r"""\s*(?:$|[\n.,;!?)"'`”’」』》。，、！？；）~…哦噢啊呀啦吧呢嘛哈别记]|不要|请|and\b|but\b|so\b|for\b)"""
)
_COUNTED_NOUN = regex(
    r"(?i)\s?(?:年|月|日|号|次|位|个|天|种|元|块|条|字|周|人|%|万|亿|多个"
    r"|(?:characters?|chars|bits?|bytes?|letters|digits|words|times|days|years|months)\b)"
)
_DESCRIBED = regex(r"的|编码|加密|格式|登录|验证|保护|算法|还是|吗|么")


def _values_after_labels(text: str) -> Iterator[Span]:
    match = _LABEL.search(text)
    while match:
        value = match["value"].rstrip(".,;:!?)]}>")
        start, end = match.start("value"), match.start("value") + len(value)
        position = match.end("label")
        letters = _SPACED_VALUE.match(text, start) if match["strong"] else None
        if letters and match["link"].strip():
            yield letters.span()
            position = letters.end()
        elif _is_secret(match, value, text):
            if end == match.end("value"):
                end = _value_end(text, end)
            yield start, end
            position = end
        match = _LABEL.search(text, position)


def _value_end(text: str, end: int) -> int:
    tail = _VALUE_TAIL.match(text, end)
    return tail.end() if tail else end


_MIN_SECRET, _MIN_UNLINKED, _MIN_WEAK = 3, 6, 6
_MIN_WEAK_UNLINKED = 16
# Shorter values are secrets only if nothing follows: "my password is 123", not "123 pages".
_MIN_SAFE = 4
_MIN_UNLINKED_DIGITS, _MIN_WEAK_UNLINKED_DIGITS = 5, 8
_LONG_WORD = 20
_REST_CHARS = 12


def _is_secret(match: re.Match[str], value: str, text: str) -> bool:
    end = match.start("value") + len(value)
    rest = text[end : end + _REST_CHARS]
    linked = bool(match["link"].strip())
    if match["spaced"] and linked:
        return bool(value) and value.lower() not in _ORDINARY
    if not _could_be_secret(value) or _COUNTED_NOUN.match(rest):
        return False
    if not match["strong"]:
        return _is_weakly_labelled_secret(match, value, text)
    if not linked:
        return _is_unlinked_secret(match, value)
    if len(value) < _MIN_SAFE and not _SHORT_VALUE_END.match(rest):
        return False
    return not _is_plain_word(value) or _is_plain_secret(match, value, rest)


def _is_weakly_labelled_secret(match: re.Match[str], value: str, text: str) -> bool:
    """Return whether the value after a weak label ("token", "secret") looks secret; most do not."""
    link = match["link"].strip()
    if value.isdigit():
        return _is_weakly_labelled_number(match, value, text)
    if len(value) < (_MIN_WEAK if link else _MIN_WEAK_UNLINKED):
        return False
    if has_letter_and_digit(value) or (link and len(value) >= _LONG_WORD):
        return True
    named = match["label"].lower() == "token" and link in (":", "=")
    end = match.start("value") + len(value)
    rest = text[end : end + _REST_CHARS]
    return named and _is_plain_word(value) and _is_plain_secret(match, value, rest)


_COUNT_BEFORE = regex(
    r"(?i)(?:max|min|total|used?|usage|limit|count|prompt|completion|input|output|cached|of|per"
    r"|最大|最多|上限|总|共|消耗|用了?|剩余?|个|每)(?:imum)?[ _-]?$"
)
_ROUND_STEPS = 1000, 1024
_COUNT_WORD_CHARS = 12


def _is_weakly_labelled_number(match: re.Match[str], value: str, text: str) -> bool:
    """Return whether a number after "token" is a secret and no count: counts are short or round."""
    least = _MIN_WEAK if match["link"].strip() else _MIN_WEAK_UNLINKED_DIGITS
    if len(value) < least or any(int(value[-30:]) % step == 0 for step in _ROUND_STEPS):
        return False
    start = match.start("label")
    return not _COUNT_BEFORE.search(text[max(0, start - _COUNT_WORD_CHARS) : start])


_PERCENTAGE = regex(r"[0-9.]{1,6}(?:%|x)")


def _could_be_secret(value: str) -> bool:
    return (
        len(value) >= _MIN_SECRET
        and value.lower() not in _ORDINARY
        and not value.startswith(("http://", "https://", "${"))
        and not _PERCENTAGE.fullmatch(value)
        and any(char.isascii() and char.isalnum() for char in value)
    )


# "忘了密码iphone15怎么办" names a device, "密码sha256" an algorithm.
_TECHNICAL_NAME = regex(
    r"(?i)(?:iphone|ipad|ios|android|windows|win|macos|wpa|sha|md|aes|base|rsa|utf|web|ipv|oauth"
    r"|xbox|ps|pixel|galaxy|mate|hs|rs)[ -]?[0-9]{1,4}[a-z]{0,4}"
)


def _is_unlinked_secret(match: re.Match[str], value: str) -> bool:
    apart = bool(match["link"]) or match.end("label") < match.start("value")
    if value.isdigit():
        plural = match["label"][-1] in "sS"
        long_enough = len(value) >= _MIN_UNLINKED_DIGITS and not plural
        return (bool(match["han"]) and len(value) >= _MIN_SAFE) or (apart and long_enough)
    if not (match["han"] or apart) or _TECHNICAL_NAME.fullmatch(value):
        return False
    return len(value) >= _MIN_UNLINKED and has_letter_and_digit(value)


def _is_plain_word(value: str) -> bool:
    return value.replace("-", "").isalpha()


def _is_plain_secret(match: re.Match[str], value: str, rest: str) -> bool:
    """Return whether a word is a secret: `password is swordfish`, not `password is required`."""
    if not match["link"].strip().isascii() or match["han"]:
        return not _DESCRIBED.match(rest)
    return not _ORDINARY_END.search(value) and bool(_CLAUSE_END.match(rest or "\n"))


_ENGLISH_AFTER = regex(
    rf"""(?ix)\s{{1,3}}(?:is|was|as)\s{{1,3}}
    (?:(?P<own>my|our|his|her|their|your)
      | the(?!\ (?:most|worst|best|weakest|first|second|last|only|same|default|easiest)\b))
    \s{{1,3}}(?:[a-z0-9'-]{{1,20}}\s{{1,3}}){{0,3}}?
    (?P<strong>{_PASSWORD_LABEL}|pwd|{_KEY_LABEL}|pin|token)(?![a-z])
    (?=\s*(?:$|[\n.,;!?)"'`”’。，！？；）~]|(?:and|but|so|for|to|on|at|now|too|please)\b))"""
)
_OWNER = r"(?:我们?|咱们?|俺|他|她|它|你|家里?|公司)"
_SERVICE = (
    r"(?:wi-?fi|无线网?络?|银行卡|微信|支付宝|手机|电脑|邮箱|账号|账户|登[录陆]|锁屏|开机|支付|取款"
    r"|门锁|大门|门禁|解锁|路由器?|网银|保险[箱柜])"
)
_CHINESE_AFTER = regex(
    rf"""(?ix)\s{{0,3}}(?:
      (?:就|才|一直|现在)?[是为]\s{{0,2}}
        (?:{_OWNER}[^\s，。！？,.!?；;]{{0,10}}?|{_SERVICE}的?\s?)(?:{_HAN_LABEL}|令牌)
    | (?:来|用来)?[当做作]为?(?:了)?(?:{_OWNER}的?)?{_SERVICE}?的?(?:{_HAN_LABEL})
    )(?=\s*(?:$|[\n.,;!?)"'`”’」』。，、！？；）~…吗吧哦啦呀啊呢别]|不要|请))"""
)
_VALUE_BEFORE = regex(
    r"""(?P<clause>^|[\n.,;!?:"'“‘「『。，！？；：]\s{0,2})?["'`“‘「『]?"""
    r"""(?<![!#-&(-~])(?P<value>[!#-&(-~]{3,64})["'`”’」』]?$"""
)
# "Don't use 123456 as your password" gives nothing away.
_ADVICE = regex(
    r"(?i)(?:(?:don['’]?t|never|not|people|everyone|avoid)(?:\ ever)?\ us(?:e|ing)\s{0,3}"
    r"|(?:不要|不能|不该|不建议|千万别|别|勿|人|大家)(?:再|都|会|总|老)?[用拿]\s{0,3})$"
)
_BEFORE_CHARS = 68


def _values_before_labels(text: str) -> Iterator[Span]:
    """Yield values before a label: `hunter2 is my password`, `abc123 是我的密码`."""
    for pattern in (_ENGLISH_AFTER, _CHINESE_AFTER):
        for label in pattern.finditer(text):
            offset = max(0, label.start() - _BEFORE_CHARS)
            before = _VALUE_BEFORE.search(text[offset : label.start()])
            is_advice = before and _ADVICE.search(before.string, 0, before.start("value"))
            if before and not is_advice and _is_secret_before_label(label, before):
                yield offset + before.start("value"), offset + before.end("value")


def _is_secret_before_label(label: re.Match[str], before: re.Match[str]) -> bool:
    value = before["value"]
    if not _could_be_secret(value) or value.lower() in _SUBJECTS:
        return False
    if not _is_plain_word(value):
        return True
    # A plain word is one only where it is the whole subject: not "my dog's name is my password".
    own = "own" not in label.groupdict() or bool(label["own"])
    return own and before["clause"] is not None and not _ORDINARY_END.search(value)


_SUBJECT_WORDS = (
    "what that this it here there where which who it's that's he she name birthday everything "
    "anything mine yours love patience kindness honesty security privacy hope trust 1password "
    "bitwarden lastpass keepass bcrypt argon2 sha256 base64"
)
_SUBJECTS = frozenset(_SUBJECT_WORDS.split())
