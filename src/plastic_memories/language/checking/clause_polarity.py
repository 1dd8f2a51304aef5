"""Subject and polarity of a clause: whom it is about, and whether it affirms or denies."""

from __future__ import annotations

import re
from enum import StrEnum

from plastic_memories.language.reading.relation_words import CHINESE_KIN_WORD, ENGLISH_KIN_WORD
from plastic_memories.language.text.lazy_regex import regex


class ClauseSubject(StrEnum):
    USER = "user"
    KIN = "kin"  # a relative or pet of the user
    UNCLEAR = "unclear"  # the subject is left out
    OTHER = "other"


_ME = regex(r"我|俺|咱|本人|\b(?:i|i'm|im|i've|my|me|mine|myself|we|our|us)\b", re.IGNORECASE)
_I = regex(r"\b(?:i|i'm|im|i've|i'll|i'd)\b", re.IGNORECASE)
_ZH_KIN = regex(rf"我们?(?:家的?|的)?{CHINESE_KIN_WORD}")
_EN_KIN = regex(rf"\bmy (?:\w+ )?{ENGLISH_KIN_WORD}\b", re.IGNORECASE)
_OTHER_PEOPLE = regex(
    r"他|她|它|你|您|别人|大家|有人|\b(?:he|she|they|it|you|your|his|her|their|people|everyone)\b",
    re.IGNORECASE,
)
_NEGATED = regex(
    r"(?<!差)不(?!仅|但|光|只|错)|没|(?<![特性区分级个差])别(?![人墅处的])|未|并非|取消|"
    r"\b(?:not|no|never|none|neither|nor|without|cancel\w*|hardly|hate|can't|cannot)\b|n't\b",
    re.IGNORECASE,
)
_PAST = regex(
    r"以前|曾|从前|过去|小时候|当年|那时|当时|之前|原来|不再|年轻时|"
    r"\b(?:used to|formerly|previously|back then|as a (?:kid|child)|when i was|in the past|once|"
    r"no longer|anymore)\b",
    re.IGNORECASE,
)

_TEMPORARY = regex(
    r"今天|今晚|今早|刚才|刚刚|这会儿|此刻|暂时|临时|这次|这回|待会|等会|正在|这几天|昨天|昨晚|"
    r"\b(?:right now|today|tonight|at the moment|just now|this time|this once|yesterday|later|"
    r"for now)\b",
    re.IGNORECASE,
)
_ILLNESS_DENIED = regex(
    r"(?:不|没有?|并非|未)(?:.{0,8})(?:过敏|病|症|炎|癌)"
    r"|\b(?:not|no|never|n't|without)\b(?:.{0,20})(?:allerg|disease|diabet|asthma|disorder|pain)"
    r"|n't\b(?:.{0,20})(?:allerg|disease|diabet|asthma|disorder|pain)",
    re.IGNORECASE,
)
_DISLIKE_DENIED = regex(
    r"(?:不|没有?|并非)(?:是)?(?:讨厌|反感|嫌|恨|不)|(?:n't|not|never)\b.{0,12}(?:hate|dislike|mind)",
    re.IGNORECASE,
)


def clause_subject(clause: str) -> ClauseSubject:
    """Return whom a clause is about, judged by its own words.

    >>> [clause_subject(text).value for text in ("我喜欢茶", "我妈妈喜欢茶", "he likes tea")]
    ['user', 'kin', 'other']
    """
    kin = _ZH_KIN.search(clause) or _EN_KIN.search(clause)
    if kin:
        first = _I.search(clause)
        return ClauseSubject.USER if first and first.start() < kin.start() else ClauseSubject.KIN
    if _ME.search(clause):
        return ClauseSubject.USER
    return ClauseSubject.OTHER if _OTHER_PEOPLE.search(clause) else ClauseSubject.UNCLEAR


def is_negated(clause: str) -> bool:
    return _NEGATED.search(clause) is not None


def is_past(clause: str) -> bool:
    return _PAST.search(clause) is not None


def is_temporary(clause: str) -> bool:
    return _TEMPORARY.search(clause) is not None


def denies_illness(clause: str) -> bool:
    """Return whether a clause denies an illness or allergy.

    >>> denies_illness("我对花生不过敏"), denies_illness("我过敏，不能吃虾")
    (True, False)
    """
    return _ILLNESS_DENIED.search(clause) is not None


def is_dislike_denied(clause: str) -> bool:
    """Return whether a clause denies a dislike.

    >>> is_dislike_denied("我不讨厌咖啡"), is_dislike_denied("我不喜欢咖啡")
    (True, False)
    """
    return _DISLIKE_DENIED.search(clause) is not None
