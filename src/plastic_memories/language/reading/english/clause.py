"""Parse an English clause into subject and predicate."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from plastic_memories.language.reading.clauses import MessageClause
from plastic_memories.language.text.lazy_regex import at_start, regex
from plastic_memories.language.text.word_lists import any_of


class EnglishSubject(StrEnum):
    USER = "user"
    WE = "we"
    OTHER = "other"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class EnglishClause:
    """One clause; `text` has its contractions expanded and begins with its subject."""

    text: str
    content: str
    subject: EnglishSubject
    clause: MessageClause
    now: datetime

    @property
    def is_past(self) -> bool:
        return _PAST.search(self.text) is not None

    @property
    def is_temporary(self) -> bool:
        return _TEMPORARY.search(self.text) is not None

    def with_item(self, item: str, text: str) -> str:
        """Return the content with a list replaced by one of its items."""
        return self.content if item == text else self.content.replace(text, item, 1)


_PAST = regex(any_of("english_clause", "past"), re.IGNORECASE)
_TEMPORARY = regex(any_of("english_clause", "temporary"), re.IGNORECASE)
_FILLER = regex(any_of("english_clause", "filler"), re.IGNORECASE)
_CHATTER = regex(any_of("english_clause", "chatter"), re.IGNORECASE)
_EXPANDED = tuple(
    (regex(pattern, re.IGNORECASE), full)
    for pattern, full in (
        (r"^name's\b", "my name is"),
        (r"\bu\b(?=\s(?:can|could|should|may))", "you"),
        (r"\bur\b", "your"),
        (r"\bfav(?:e|s)?\b", "favorite"),
        (r"\bpls\b|\bplz\b", "please"),
        (r"\bi'm\b|\bim\b(?=\s)", "I am"),
        (r"\bi've\b|\bive\b", "I have"),
        (r"\bi'll\b", "I will"),
        (r"\bi'd\b", "I would"),
        (r"\b(it|he|she)'s\b", r"\1 is"),
        (r"\bwe're\b", "we are"),
        (r"\bwe'll\b", "we will"),
        (r"\bwe've\b", "we have"),
        (r"\bcan'?t\b|\bcannot\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"\b(do|does|did|is|are|was|have|has|would|could|should)n'?t\b", r"\1 not"),
        (r"\b(name|birthday|anniversary|hometown|job|hobby|nickname)'s (?=\w)", r"\1 is "),
    )
)
_ADVERBS = any_of("english_clause", "adverbs")
_AFTER_I = regex(rf"^(i(?: am| have| was)?) (?:{_ADVERBS} )+", re.IGNORECASE)
_USER = regex(r"^i\b(?!\.)", re.IGNORECASE)
_OWN = regex(r"^my\b", re.IGNORECASE)
_WE = regex(r"^(?:we|our|me and|my \w+ and i)\b", re.IGNORECASE)
_OTHER = regex(any_of("english_clause", "other"), re.IGNORECASE)
_CARRIED = regex(any_of("english_clause", "carried"), re.IGNORECASE)
_AGE_ALONE = regex(r"[1-9]\d")  # I'm Hannah, 29
# Chat omits the first words: "originally from Poland", "based in Oslo", "got my exam tomorrow".
_BARE = (
    (
        regex(r"^(?:originally |currently )?(?=from [A-Z]|based in |living in |working as )"),
        "I am ",
    ),
    (regex(r"^(?=born (?:and raised )?in )", re.IGNORECASE), "I was "),
    (regex(r"^got (?=my |an? )", re.IGNORECASE), "I have "),
)


def _with_subject(text: str, content: str) -> tuple[str, str]:
    for pattern, start in _BARE:
        if pattern.match(text):
            return pattern.sub(start, text, count=1), pattern.sub(start, content, count=1)
    return text, content


def parse_english_clause(
    clause: MessageClause, now: datetime, before: EnglishSubject
) -> EnglishClause:
    """Parse a clause; a verb without a subject has that of the clause before."""
    content = _CHATTER.sub("", _FILLER.sub("", clause.display_text)).strip()
    text = content
    for pattern, full in _EXPANDED:
        text = pattern.sub(full, text)
    if _CARRIED.match(text) and before is EnglishSubject.USER:
        text, content = f"I {text}", f"I {content}"
    if before is EnglishSubject.USER and _AGE_ALONE.fullmatch(text):
        text, content = f"I am {text}", f"I am {content}"
    if clause.opens_sentence or before is EnglishSubject.USER:
        text, content = _with_subject(text, content)
    text = _AFTER_I.sub(r"\1 ", text)
    return EnglishClause(text, content, _clause_subject(text), clause, now)


def _clause_subject(text: str) -> EnglishSubject:
    if _WE.match(text):
        return EnglishSubject.WE
    if _USER.match(text) or _OWN.match(text):
        return EnglishSubject.USER
    return EnglishSubject.OTHER if _OTHER.match(text) else EnglishSubject.NONE


_EDGES = " '\"“”.,!;:~"
_TAIL = regex(any_of("english_clause", "tail"), re.IGNORECASE)
_CUT = regex(any_of("english_clause", "cut"), re.IGNORECASE)
_LIST = regex(
    r"(?:(?<!\s)\s++)?,\s*+(?:(?:and|or)\s++)?|(?<!\s)\s++(?:and|or|&)\s++", re.IGNORECASE
)


def clean_value(value: str) -> str:
    """Return a value cut where a reason or an afterthought begins.

    >>> clean_value("hot chocolate because it is sweet"), clean_value("tea too.")
    ('hot chocolate', 'tea')
    """
    return _TAIL.sub("", _CUT.sub("", value).strip(_EDGES)).strip(_EDGES)


_GERUND = at_start(r"\w+ing\b", re.IGNORECASE)
_DOING = at_start(r"\w+ing \w", re.IGNORECASE)


def split_list(text: str) -> list[str]:
    """Return the items of an enumeration.

    >>> split_list("tea, coffee and long walks")
    ['tea', 'coffee', 'long walks']
    """
    items = [item for part in _LIST.split(text) if (item := clean_value(part))]
    # "making new and powerful models" is one item, "cooking and reading" are two.
    if _DOING.match(items[0] if items else "") and not all(_GERUND.match(item) for item in items):
        return [clean_value(text)]
    return items
