"""Split a message into probes that are searched in parallel."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.language.text.tokens import (
    MAX_QUERY_TERMS,
    WEAK_TERM_BIT,
    WORD_TERM_BIT,
    index_terms,
    query_terms,
    term_code,
)

# More parts are rarely real questions; the rest is joined to the last part.
_MAX_PARTS = 4
_RECENT_LINES = 4
_LINE_CHARS = 500
# Weights of context lines: earlier lines of the last speaker, lines of the other speaker, and
# messages before this one.
_OWN_EARLIER_LINE_WEIGHT = 0.5
_REPLY_LINE_WEIGHT = 0.25
_CONTEXT_LINE_WEIGHT = 0.25
# Weight of a word that is not the topic of the question.
_SMALL_TALK_WEIGHT = 0.4
# Question words: answers seldom repeat them. In a dialogue they tell what happened.
ASKING_WORDS = frozenset(
    term
    for term in index_terms(
        "first happen event time day week month year total many much order different type number "
        "start finish recently current currently past before after ago long often mention "
        "previous last next go went get got take took make made use used participate attend visit"
    )
)
# Words that keep a conversation going on any topic. A Chinese word is a term as it is.
_CHINESE_SMALL_TALK = (
    "觉得 感觉 感到 听起 起来 可能 也许 或许 应该 有点 有些 时候 有时 当然 可以 谢谢 不错 "
    "太好 真棒 太棒 一定 肯定 确实 非常 特别 其实 现在 今天 最近 然后 试试 想想 看看 没事 "
    "哈哈 明白 理解 希望 需要 没有 不会 不想 不能 想要 一些 一点 一样 好像 事情 东西 "
)
SMALL_TALK = frozenset(_CHINESE_SMALL_TALK.split()) | frozenset(
    index_terms(
        "feel felt think thought sound great good nice really maybe perhaps sure always sometimes "
        "today now lately recently thing want need try yes yeah oh well right okay thank hope "
        "understand lot bit little like kind way get got make made something anything everything "
        "much more even still only never let say said see look wow haha glad amazing wonderful "
        "awesome"
    )
)
# Separators between two questions.
_QUESTION_BREAK = regex(
    r"(?:另外|此外|还有|对了|顺便问一下|再问一下)[，,：:\s]"
    r"|(?<=[.?!])\s*(?:and\s+)?(?:also|by the way|besides|another thing)[,:]\s",
    re.IGNORECASE,
)
# The text before such words was not the question.
_REAL_QUESTION_PREFIX = regex(
    r"(?:真正|其实|实际|本来)(?:上)?(?:是)?(?:想|要)?[^，。：:？?]{0,8}"
    r"(?:问|了解|知道|搞清楚|弄清楚|确认)[^，。：:？?]{0,8}[，：:]"
    r"|真正的问题[^：:，]{0,4}[：:，]"
    r"|\bwhat i (?:actually|really) (?:want|wanted|meant) to (?:ask|know)[^.?!,:]{0,20}[,:]"
    r"|\bmy (?:actual|real) question is[,:]?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Probe:
    """One part of a question."""

    text: str
    terms: Mapping[int, float]  # term code → weight
    pairs: frozenset[int]  # codes of adjacent word pairs


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    probes: tuple[Probe, ...]
    # A dialogue rather than a question: its general topic matters more than its words.
    is_dialogue: bool = False
    # Number of leading probes that rephrase the question.
    rephrasing_count: int = 0

    @property
    def last_line(self) -> str:
        return self.probes[-1].text.strip().splitlines()[-1]

    @property
    def texts(self) -> list[str]:
        """The texts to embed: each probe, and the last line of a dialogue."""
        texts = [probe.text for probe in self.probes]
        return [*texts, self.last_line] if self.is_dialogue else texts


def parse_question(
    text: str, recent: Sequence[str] = (), also: Sequence[str] = ()
) -> ParsedQuestion:
    """Split a message into probes; `recent` are the messages before it, oldest first.

    `also` are rephrasings of the message: each becomes a probe of its own.

    >>> [probe.text for probe in parse_question("我妹妹叫什么？另外，她的生日是哪天？").probes]
    ['我妹妹叫什么？', '她的生日是哪天？']
    """
    lines = [line for line in text.splitlines() if line.strip()]
    before = [line[-_LINE_CHARS:] for line in recent[-_RECENT_LINES:]]
    if len(lines) > 1:
        weighed = [(line, _CONTEXT_LINE_WEIGHT) for line in before] + _weighted_lines(lines)
        own = [_build_probe(text, weighed, lines[-1], idle=SMALL_TALK)]
    else:
        context = [(line, _CONTEXT_LINE_WEIGHT) for line in before]
        own = [_build_probe(part, [*context, (part, 1.0)], part) for part in _split_questions(text)]
    # Rephrasings first: the last line of the last probe must be the user's own.
    others = [_build_probe(other, [(other, 1.0)], other) for other in also if other.strip()]
    return ParsedQuestion((*others, *own), len(lines) > 1, len(others))


def _split_questions(text: str) -> list[str]:
    plain = to_simplified(text)
    breaks = list(_QUESTION_BREAK.finditer(plain))
    starts = [0, *(found.end() for found in breaks)]
    ends = [*(found.start() for found in breaks), len(text)]
    questions = [_question_text(text, plain, *span) for span in zip(starts, ends, strict=True)]
    parts = [part for part in questions if part.strip().strip(" ，,。.")]
    if len(parts) > _MAX_PARTS:
        parts[_MAX_PARTS - 1 :] = [" ".join(parts[_MAX_PARTS - 1 :])]
    return parts or [text]


def _question_text(text: str, plain: str, start: int, end: int) -> str:
    """Return the question between two positions of `text`; `plain` is its simplified form."""
    corrections = list(_REAL_QUESTION_PREFIX.finditer(plain[start:end]))
    rest = text[start + corrections[-1].end() : end] if corrections else ""
    return rest if rest.strip() else text[start:end]


def _weighted_lines(lines: Sequence[str]) -> list[tuple[str, float]]:
    """Return each line with its weight: two speakers alternate, and the last line asks."""
    back = range(len(lines) - 1, -1, -1)
    counts = [
        _REPLY_LINE_WEIGHT if turns % 2 else _OWN_EARLIER_LINE_WEIGHT if turns else 1.0
        for turns in back
    ]
    return list(zip(lines, counts, strict=True))


def _build_probe(
    text: str,
    weighed: Iterable[tuple[str, float]],
    last: str,
    idle: frozenset[str] = SMALL_TALK | ASKING_WORDS,
) -> Probe:
    weights: dict[str, float] = {}
    for line, weight in weighed:
        for term in query_terms(line):
            counts = weight * (_SMALL_TALK_WEIGHT if term in idle else 1.0)
            weights[term] = max(counts, weights.get(term, 0.0))
    heaviest = sorted(weights, key=lambda term: -weights[term])[:MAX_QUERY_TERMS]
    return Probe(
        text,
        {term_code(term): weights[term] for term in heaviest},
        frozenset(word_pair_codes(last)),
    )


def word_pair_codes(text: str) -> list[int]:
    """Return the codes of adjacent content words, ignoring function words between them.

    >>> len(word_pair_codes("the charity and the bake sale"))
    2
    """
    codes = map(term_code, index_terms(text))
    words = [number for number in codes if number & WORD_TERM_BIT and not number & WEAK_TERM_BIT]
    return [pair_code(one, other) for one, other in pairwise(words)]


def pair_code(one: int, other: int) -> int:
    """Return one code for an ordered word pair; both low bits are set, unlike in content terms."""
    return (one * 31 + other) & 0xFFFFFFFF | WEAK_TERM_BIT | WORD_TERM_BIT
