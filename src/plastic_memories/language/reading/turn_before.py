"""What the turn before tells of a message: whom it is about, and what a short answer means."""

from __future__ import annotations

import re
from functools import cache

from plastic_memories.language.reading.chinese.lexicon import JOB, PLACE
from plastic_memories.language.reading.clauses import MessageClause
from plastic_memories.language.reading.english.work import JOBS
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.language.text.word_lists import data_lines

# Only the end of a long reply is answered.
_TAIL_CHARS = 200
_LAST_SENTENCE = regex(r"[^。！!\n]*[。！!\n]*$")
_SOMEBODY = regex(r"他|她|它|这[位部首个人]|那[位部首个人]|该片|主演|导演|演员|歌手|主角|女主|男主")
# 皇子是谁, 这歌谁唱的: a question with a subject that is not the user.
_OTHER_ASKED = regex(
    r"[^\s，,你您我]{2,12}(?:是谁|是什么|是哪|多大|几岁|叫什么|谁[唱演写拍])|谁[唱演写拍]"
)
_YOU = regex(r"[你您]|\byou\b|\bu\b", re.IGNORECASE)
_NOT_AN_ANSWER = regex(
    r"我|你|不|没|什么|吗$|谢|嗯|哦|好的?$|对$|是的?$|哈|随便|秘密|猜|问|干嘛|为|\b(?:i|i'm|my|you|yes|no|why|not|ok|"
    r"okay|nothing|none|idk|guess|secret|lol|thanks|same|what|who|it|the|that)\b",
    re.IGNORECASE,
)
_LEAD = regex(r"^(?:就)?(?:是|叫做?|在|喊|it'?s |its |call me )", re.IGNORECASE)
_PARTICLES = "啊呀哦啦吧呢的岁了"
_MAX_CHARS = 12
_MAX_WORDS = 3


def is_about_others(before: str, content: str) -> bool:
    """Return whether a clause without a subject is not about the speaker.

    >>> is_about_others("皇子是谁", "是快手主播"), is_about_others("你是做什么的", "是主播")
    (True, False)
    """
    said = to_simplified(content)
    if "我" not in said and re.search("他|她", said):
        return True
    last = _last_sentence(before)
    if _SOMEBODY.search(last):
        return True
    return not _YOU.search(last) and _OTHER_ASKED.search(last) is not None


def answer_as_statement(before: str, clause: MessageClause) -> MessageClause | None:
    """Return a short answer with the words of the question: "what's your name?", "chelsea"."""
    words = clause.text.split()
    is_short = len(clause.text) <= _MAX_CHARS or (
        len(words) <= _MAX_WORDS and clause.text.isascii()
    )
    answer = _LEAD.sub("", clause.text).removesuffix("就行").removesuffix("就好").rstrip(_PARTICLES)
    answer = answer.removesuffix(" please").strip()
    if not before or not is_short or not answer or _NOT_AN_ANSWER.search(answer):
        return None
    last = _last_sentence(before)
    for question, statement, shape in _questions():
        if question.search(last) and shape.fullmatch(answer) and not _SOMEBODY.search(last):
            text = statement.format(answer.title() if statement.isascii() else answer)
            return MessageClause(
                text,
                text,
                clause.quote,
                opens_sentence=True,
                start=clause.start,
            )
    return None


def _last_sentence(before: str) -> str:
    found = _LAST_SENTENCE.search(to_simplified(before[-_TAIL_CHARS:]).rstrip())
    return found[0] if found else ""


@cache
def _questions() -> list[tuple[re.Pattern[str], str, re.Pattern[str]]]:
    """Return for each question what an answer states, and what an answer looks like."""
    lists = {"{place}": f"(?:{PLACE}){{1,2}}", "{job}": JOB, "{job_en}": f"(?:[a-z]+ )?(?:{JOBS})"}
    rows = (line.split("\t") for line in data_lines("answered_questions"))
    return [
        (
            re.compile(asked, re.IGNORECASE),
            stated,
            re.compile(lists.get(shape, shape), re.IGNORECASE),
        )
        for asked, stated, shape in rows
    ]
