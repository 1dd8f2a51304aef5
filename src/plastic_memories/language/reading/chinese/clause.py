"""Parse a Chinese clause into subject and predicate."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from plastic_memories.language.reading.clauses import MessageClause
from plastic_memories.language.reading.relation_words import CHINESE_KIN_WORD, CHINESE_PET_WORD
from plastic_memories.language.text.lazy_regex import at_start, regex
from plastic_memories.language.text.word_lists import any_of


class ChineseSubject(StrEnum):
    USER = "user"
    WE = "we"
    KIN = "kin"  # a relative or pet of the user
    OTHER = "other"
    NONE = "none"  # omitted; in conversation that mostly means "I"


@dataclass(frozen=True, slots=True)
class ChineseClause:
    """A clause split into subject and predicate, without leading fillers and adverbs."""

    predicate: str
    whole: str
    content: str
    subject: ChineseSubject
    clause: MessageClause
    now: datetime
    kin: str = ""
    is_subject_implied: bool = False  # carried over from the clause before, or omitted

    @property
    def is_past(self) -> bool:
        if _PAST.search(self.whole):
            return True
        return bool(_LAST_TIME.search(self.whole)) and not _LASTING.search(self.whole)

    @property
    def is_temporary(self) -> bool:
        return _TEMPORARY.search(self.whole) is not None

    def with_item(self, item: str, text: str) -> str:
        """Return the content with a list replaced by one of its items."""
        return self.content if item == text else self.content.replace(text, item, 1)


_PAST = regex(any_of("chinese_clause", "past"))
_LAST_TIME = regex(r"去年|前年|上个?月|上周|上个?星期|昨天|前天")
_LASTING = regex(r"搬|毕业|开始|养|生日|出生|入职")
_TEMPORARY = regex(any_of("chinese_clause", "temporary"))
_FILLER = regex(any_of("chinese_clause", "filler"), re.IGNORECASE)
_LEAD = at_start(any_of("chinese_clause", "lead"))
_ME = regex(any_of("chinese_clause", "me"))
_KIN = regex(
    rf"(?:我|俺|咱|我们)(?:们?家)?(?:里|里的)?(?:养|领养|收养|捡来?)?的?(?:那只|这只|"
    rf"那条|(?:一|两|三|四|俩|\d)[个只条])?(?P<kin>{CHINESE_KIN_WORD}|{CHINESE_PET_WORD})(?!控|派|粉|迷|过敏|毛|的?生日礼物|"
    rf"咪?咖)"
)
_NEAR_KIN = regex(any_of("chinese_clause", "near_kin"))
_ABOUT_TOPIC = at_start(any_of("chinese_clause", "about_topic"))
_WE = regex(any_of("chinese_clause", "we"))
_OTHER = regex(any_of("chinese_clause", "other"))
_ADVERBS = regex(any_of("chinese_clause", "adverbs"))


# 又是东北人, 都是好演员, 可惜不吃: a remark on what was said, not a statement about the speaker.
_REMARK = regex(
    r"(?:都|更|又|也|就|还|尤其|确实|果然|才|不愧)是|是(?:那|这|不想|您|你)|那些|可惜|首先|难怪|怪不得|还有[一二三两几\d]|只有"
)


def parse_chinese_clause(
    clause: MessageClause, now: datetime, before: ChineseSubject, topic: str = ""
) -> ChineseClause:
    """Parse a clause; an omitted subject is that of the clause before.

    `topic` is the relative or pet of the clause before: 我养了一只狗，叫旺财.
    """
    whole = _FILLER.sub("", clause.text, count=1) if _FILLER.match(clause.text) else clause.text
    content = (
        _FILLER.sub("", clause.display_text, count=1)
        if _FILLER.match(clause.display_text)
        else clause.display_text
    )
    lead = _LEAD.match(whole)
    body = whole[lead.end() :] if lead else whole
    subject, kin, rest = _split_subject(body)
    if topic and subject is ChineseSubject.OTHER and _ABOUT_TOPIC.match(body):
        subject = ChineseSubject.NONE
    if subject is ChineseSubject.NONE and (whose := _implied_relative(rest, before, topic)):
        stated = _with_possessor(content, whose[0])
        return ChineseClause(
            _without_adverbs(whose[1]), whole, stated, ChineseSubject.KIN, clause, now, kin=whose[0]
        )
    if subject is ChineseSubject.NONE and before is not ChineseSubject.USER:
        before = ChineseSubject.OTHER if _REMARK.match(whole) else before
    if subject is ChineseSubject.NONE:
        stated = content if "我" in content else f"我{content}"
        return ChineseClause(
            _without_adverbs(rest), whole, stated, before, clause, now, is_subject_implied=True
        )
    return ChineseClause(_without_adverbs(rest), whole, content, subject, clause, now, kin=kin)


def _with_possessor(content: str, kin: str) -> str:
    """Return the content with its possessor, to be read on its own: 叫豆豆 becomes 我的猫叫豆豆."""
    return f"我{content}" if kin in content else f"我的{kin}{content.lstrip('它他她')}"


def _implied_relative(rest: str, before: ChineseSubject, topic: str) -> tuple[str, str] | None:
    """Return (relative, rest) for a relative named without "my", or for the topic."""
    if topic and (about := _ABOUT_TOPIC.match(rest)):
        return topic, rest[about.end() :]
    near = _NEAR_KIN.match(rest)
    if near and before in {ChineseSubject.USER, ChineseSubject.NONE}:
        return near["kin"], rest[near.end() :]
    return None


def _split_subject(body: str) -> tuple[ChineseSubject, str, str]:
    kin = _KIN.match(body)
    if kin:
        return ChineseSubject.KIN, kin["kin"], body[kin.end() :]
    we = _WE.match(body)
    if we:
        return ChineseSubject.WE, "", body[we.end() :]
    me = _ME.match(body)
    if me:
        return ChineseSubject.USER, "", body[me.end() :]
    if _OTHER.match(body):
        return ChineseSubject.OTHER, "", body
    return ChineseSubject.NONE, "", body


def _without_adverbs(rest: str) -> str:
    adverbs = _ADVERBS.match(rest)
    # "最" and "不" belong to the predicate; a lone adverb is a predicate as well ("我很好").
    return rest[adverbs.end() :] if adverbs and adverbs.end() < len(rest) else rest


_TRAILING = "啊呀哦啦哈吧嘛呢哟喔诶唷嗷噢了~～!！。.…、"
_TRAILING_WORDS = ("什么的", "之类的", "之类", "等等")
_LIST = regex(any_of("chinese_clause", "list"))

_MAX_ITEM_CHARS = 12
_PREPOSITIONS = ("在", "用", "把", "给", "为", "对", "从", "让", "和", "跟", "与", "边")


def clean_value(value: str) -> str:
    """Return a value without trailing particles and quotation marks.

    >>> clean_value("火锅啦~"), clean_value("《三体》")
    ('火锅', '《三体》')
    """
    return _without_trailing(value.strip(" '\"“”「」‘’『』")).strip()


def _without_trailing(value: str) -> str:
    # From the end: a regular expression would retry a long run of particles from each one.
    while (shorter := _without_word(value.rstrip(_TRAILING).rstrip())) != value:
        value = shorter
    return value


def _without_word(value: str) -> str:
    word = next((word for word in _TRAILING_WORDS if value.endswith(word)), "")
    return value.removesuffix(word)


def split_list(text: str) -> list[str]:
    """Return the items of an enumeration; other text stays whole.

    >>> split_list("猫和狗"), split_list("和朋友聊天"), split_list("温和的天气")
    (['猫', '狗'], ['和朋友聊天'], ['温和的天气'])
    """
    items = [clean_value(item) for item in _LIST.split(text)]
    if text.startswith(_PREPOSITIONS):
        return [clean_value(text)]
    if all(1 <= len(item) <= _MAX_ITEM_CHARS for item in items):
        return items
    return [clean_value(text)]
