"""What the turn before tells of a message: whom it is about, and what a short answer means."""

from __future__ import annotations

import re
from functools import cache

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.language.text.word_lists import any_of, data_lines

# Only the end of a long reply is answered.
_TAIL_CHARS = 200
_ENDS = "。！!\n"
_SOMEBODY = regex(r"他|她|它|这[位部首个人]|那[位部首个人]|该片|主演|导演|演员|歌手|主角|女主|男主")
# 皇子是谁, 这歌谁唱的: a question with a subject that is not the user.
_OTHER_ASKED = regex(
    r"[^\s，,你您我]{2,12}(?:是谁|是什么|是哪|多大|几岁|叫什么|谁[唱演写拍])|谁[唱演写拍]"
)
_YOU = regex(r"[你您]|\byou\b|\bu\b", re.IGNORECASE)
_NOT_AN_ANSWER = regex(any_of("typed_turn_before", "not_an_answer"), re.IGNORECASE)
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


def answer_as_statement(before: str, said: str) -> str:
    """Return a short answer with the words of the question, or "" if it is none.

    >>> answer_as_statement("Hi! What's your name?", "chelsea")
    'my name is Chelsea'
    """
    is_short = len(said) <= _MAX_CHARS or (len(said.split()) <= _MAX_WORDS and said.isascii())
    answer = _LEAD.sub("", said).removesuffix("就行").removesuffix("就好").rstrip(_PARTICLES)
    answer = answer.removesuffix(" please").strip()
    if not before or not is_short or not answer or _NOT_AN_ANSWER.search(answer):
        return ""
    last = _last_sentence(before)
    for question, statement, shape in _questions():
        if question.search(last) and shape.fullmatch(answer) and not _SOMEBODY.search(last):
            return statement.format(answer.title() if statement.isascii() else answer)
    return ""


def _last_sentence(before: str) -> str:
    tail = to_simplified(before[-_TAIL_CHARS:]).rstrip(_ENDS + " ")
    return tail[max(tail.rfind(end) for end in _ENDS) + 1 :]


@cache
def _questions() -> list[tuple[re.Pattern[str], str, re.Pattern[str]]]:
    """Return for each question what an answer states, and what an answer looks like."""
    lists = {
        "{place}": f"{any_of('lexicon', 'zh_place')}{{1,2}}[省市区县]?",
        "{job}": rf"[\u4e00-\u9fff]{{0,6}}{any_of('lexicon', 'zh_job')}",
        "{job_en}": f"(?:[a-z]+ )?{any_of('lexicon', 'en_job')}",
    }
    rows = (line.split("\t") for line in data_lines("answered_questions"))
    return [
        (
            re.compile(asked, re.IGNORECASE),
            stated,
            re.compile(lists.get(shape, shape), re.IGNORECASE),
        )
        for asked, stated, shape in rows
    ]
