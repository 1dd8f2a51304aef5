"""Find the statements of a message that correct or end what was said before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from plastic_memories.language.corrections.common_words import common_terms
from plastic_memories.language.corrections.cues import (
    CUES,
    NOT_STATED,
    OF_LISTENER,
    RESTATES_OLD,
    CorrectionCue,
)
from plastic_memories.language.corrections.statement_kinds import changed_kinds, value_types
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.tokens import READ_CHARS, content_terms, normalise_script

_HAN = "\u3400-\u9fff"
_BREAK = regex(
    rf"[，,。！!；;、…~～]+|[.:：](?=\s|$)|(?<=[{_HAN}])\s+(?=[\w{_HAN}])|(?<=\w)\s+(?=[{_HAN}])"
    r"|\s(?:and|so|because|cause|since|n)\s"
)
_BUT = regex(r"\sbut\s")
_QUESTION = regex(r"[^。！!.?？]{0,200}[?？]+")
_MAX_CLAUSE_CHARS = 160
# A neighbouring clause names the topic less surely than the clause of the cue.
_DISTANCE_WEIGHTS = (1.0, 0.6, 0.4, 0.4)
# 你换一个吧 叫我阿屿: the clause beside the cue says what is changed.
_KINDS_BESIDE_A_CUE = frozenset({"name"})
_OTHER_PERSON = regex(
    r"^(?:而且|然后|但|不过)?(?:我(?:的)?(?:朋友|同事|同学|室友|老板|表[哥姐弟妹]|邻居|父母|爸妈)|他|她|佢|人家|同事|"
    r"朋友|室友|老师|老细)|\b(?:my (?:friend|cousin|boss|coworker|roommate|flatmate|neighbou?r)|he|"
    r"she|they|his|her)\b"
)
# Numbers and days are values, not topics.
_VALUE_TERM = regex(
    r"^[\d一二三四五六七八九十廿号月日点岁]+$|^(?:周|星期|礼拜)[一二三四五六日天]$|^期[一二三四五六日天]$"
    r"|^拜[一二三四五六日天]$|^(?:mon|tues|wednes|thurs|fri|satur|sun)day$|\d"
    r"|^(?:januari|februari|march|april|may|june|juli|august|septemb|octob|novemb|decemb|dec|nov|jan|"
    r"feb|oct|sep)$|.[号月]$"
)


@dataclass(frozen=True, slots=True)
class CorrectionStatement:
    """A clause that corrects, and what can be known of the thing it corrects."""

    clause: str  # in lower case and simplified characters
    cue: CorrectionCue
    old_terms: frozenset[str] = frozenset()  # of what the clause says does not hold
    topic_terms: Mapping[str, float] = field(default_factory=dict)  # term → its weight
    kinds: frozenset[str] = frozenset()
    value_types: frozenset[str] = frozenset()
    is_about_other: bool = False  # its subject is somebody else

    @property
    def search_terms(self) -> list[str]:
        return list(dict.fromkeys([*sorted(self.old_terms), *self.topic_terms]))


def find_corrections(text: str) -> list[CorrectionStatement]:
    """Return the statements of a message that correct or end something.

    >>> [(one.cue.value, sorted(one.old_terms)) for one in find_corrections("不是花生是腰果")]
    [('named', ['花生'])]
    >>> find_corrections("今天真好 and I like it")
    []
    """
    clauses = [clause for line in text[:READ_CHARS].splitlines() for clause in _clauses(line)]
    found: list[CorrectionStatement] = []
    for place, clause in enumerate(clauses):
        for cue, match in _cues_of(clause):
            found.append(_statement(clauses, place, cue, match))
    return found


def restates_old(text: str) -> bool:
    """Return whether a text is one clause that repeats what was said before.

    >>> restates_old("头先话豉油六岁"), restates_old("头先话豉油六岁 系七岁")
    (True, False)
    """
    clauses = split_clauses(text)
    return len(clauses) == 1 and bool(RESTATES_OLD.search(clauses[0]))


def split_clauses(text: str) -> list[str]:
    """Return the clauses of a text, in lower case and simplified characters."""
    return [clause for line in text[:READ_CHARS].splitlines() for clause in _clauses(line)]


def _clauses(line: str) -> Iterator[str]:
    stated = _QUESTION.sub("。", normalise_script(line))
    for piece in _BREAK.split(stated):
        parts = [piece] if " not " in f" {piece}" else _BUT.split(piece)
        yield from (part.strip()[:_MAX_CLAUSE_CHARS] for part in parts if part.strip())


def _cues_of(clause: str) -> Iterator[tuple[CorrectionCue, re.Match[str]]]:
    """Yield the first match of each sort of cue in a clause."""
    if NOT_STATED.search(clause) or OF_LISTENER.search(clause):
        return
    seen: set[CorrectionCue] = set()
    for cue, pattern in CUES:
        match = None if cue in seen else pattern.search(clause)
        if match is not None:
            seen.add(cue)
            yield cue, match


def _statement(
    clauses: Sequence[str], place: int, cue: CorrectionCue, match: re.Match[str]
) -> CorrectionStatement:
    clause, groups = clauses[place], match.groupdict()
    old = " ".join(filter(None, (groups.get("old"), groups.get("more"))))
    around = [*clauses[max(0, place - 1) : place], *clauses[place + 1 : place + 2]]
    is_named = cue is CorrectionCue.NAMED
    return CorrectionStatement(
        clause=clause,
        cue=cue,
        old_terms=frozenset(_terms(old) if is_named else topic_terms(old)),
        topic_terms=_topic_weights(clauses, place, "" if old else match[0], cue),
        kinds=changed_kinds(clause) | (changed_kinds(" ".join(around)) & _KINDS_BESIDE_A_CUE),
        value_types=value_types(" ".join([clause, *around])),
        is_about_other=bool(_OTHER_PERSON.search(clause)),
    )


def _topic_weights(
    clauses: Sequence[str], place: int, cue_words: str, cue: CorrectionCue
) -> dict[str, float]:
    """Return the topic terms of a clause without its cue, and of the clauses around it."""
    terms_of = _terms if cue is CorrectionCue.MISTAKE else topic_terms
    weights: dict[str, float] = {}
    for distance in range(len(_DISTANCE_WEIGHTS) - 1, -1, -1):
        for index in {place - distance, place + distance} & set(range(len(clauses))):
            words = clauses[index] if distance else clauses[index].replace(cue_words or " ", " ")
            weights |= dict.fromkeys(terms_of(words), _DISTANCE_WEIGHTS[distance])
    return weights


def topic_terms(text: str) -> list[str]:
    """Return the terms that tell what a text is about: no numbers, days or common words."""
    return [term for term in _terms(text) if not _VALUE_TERM.search(term)]


def _terms(text: str) -> list[str]:
    common = common_terms()
    terms = [term for term in content_terms(text) if term not in common]
    # A single Chinese character is in too many words.
    return [term for term in terms if len(term) > 1]
