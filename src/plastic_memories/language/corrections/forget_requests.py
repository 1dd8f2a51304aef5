"""Recognise "forget that": a message in which a user takes back what they have said.

Only what is plainly such a request counts: `忘了带伞` and "forget it lol" are none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.language.text.sentences import sentence_spans
from plastic_memories.language.text.tokens import READ_CHARS, content_terms, normalise
from plastic_memories.model.message import Span

# Every request has one of these, and few other messages have.
_MAY_ASK = regex(
    r"[记記忘删刪存抹撤当當]|forget|scratch|pretend|delete|erase|remove|drop|disregard|strike|"
    r"unlearn|save|store|keep|record|memori|\blog\b|write down|remember|wipe",
    re.IGNORECASE,
)
# Longer sentences say more than this.
_MAX_CHARS = 100
_HAN = regex(r"[\u3400-\u9fff]")
_COMMON_CHARACTERS = frozenset("的了我你他她是在有那这一不说人个")
_ZH_PAUSE = regex(r"[ ,，、]+")
_MIN_CLAUSE_CHARS = 4
# Of a topic with a reason behind it the first word counts: "about Terrell he don't want that".
_MAX_TOPIC_TERMS = 3
_EDGES = " \t\r\n,，.。!！?？;；:：~～…、\"'“”‘’()（）"

# Chinese and Cantonese, in simplified characters and without spaces.
_ZH_START = (
    r"(?:算了|哎呀?|唉|诶|呃|额|嗯|哦|噢|喂|啊|好吧|等等|等下|对了|不好意思|抱歉|拜托|麻烦|求你|求求你|"
    r"请|您|你|帮我|能不能|可不可以|可以|能|还是|就|要不|其实|唔该|[,，、]){0,6}+"
)
_ZH_END = (
    r"(?:了|啦|啊|呀|吧|哦|喔|嘛|呗|哈|好吗|好不好|行吗|行不行|行不|可以吗|得唔得|好唔好|谢谢|谢啦|拜托|唔该|"
    r"[,，~～]){0,5}+"
)
_ZH_COUNTED = r"(?:个|句|条|段|些|番|样)"
_ZH_WORDS = r"(?:话|说话|消息|内容|东西|嘢|事情?)"
_ZH_SAID = r"(?:说|讲|发|提|打|讲过|说过|提过)"
# What was said just now: 刚才那个, 我刚说的话, 上一句, 頭先講嘅嘢.
_ZH_JUST = (
    rf"我?(?:刚才|刚刚|刚|方才|头先|啱啱|上面|前面)我?{_ZH_SAID}?(?:的|嘅)?"
    rf"(?:那|这|嗰|呢)?一?{_ZH_COUNTED}?{_ZH_WORDS}?"
    rf"|(?:上|前)一?(?:个|句|条|段){_ZH_WORDS}?"
    rf"|我{_ZH_SAID}(?:的|嘅)(?:那|这|嗰|呢)?{_ZH_COUNTED}?{_ZH_WORDS}?"
)
_ZH_POINTED = rf"(?:那|这|嗰|呢)一?(?:个|句|条|段|句话|条消息|件事|事){_ZH_WORDS}?"
_ZH_LAST = rf"(?:{_ZH_JUST}|{_ZH_POINTED})"
_ZH_NOT = (
    r"(?:就|也|都|请|你|先|可以|千万){0,3}"
    r"(?:别|不要|不用|不必|唔好|唔使|咪|甭|勿|无需)再?(?:给我|帮我)?"
)
_ZH_RECORD = r"(?:往心里)?(?:记住|记下来?|记低|记录|记进去|记|存下来?|存|保存)"
_ZH_UNSAID = (
    r"(?:就|你|都){0,3}(?:就?当|当作|当做|权当)我?(?:什么都|啥都|从来|从)?(?:没有?|冇|未)"
    r"(?:说过?|讲过?|提过?|发过?)(?:那|这|嗰)?(?:个|句|话)?"
)
_ZH_UNHEARD = r"(?:就|你|都){0,3}(?:就?当|当作|当做)你?没(?:听见|听到|听过)"
_ZH_FORGET = (
    r"(?:就|请|你|都|给我|帮我){0,3}"
    r"(?:忘掉|忘了吧|忘记吧|忘了它吧|忘咗佢|唔记得佢|删掉|删了吧|抹掉|撤回)"
)
_ZH_TOPIC = (
    r"(?:我?刚才说的?|我?头先讲嘅?|我说的?|我讲的?|关于|刚才|我的?){0,3}+(?P<topic>[^,，、]{1,12}?)"
)
_ZH_LINE = r"(?:的|嘅)?(?:那|这|嗰|呢)一?(?:句|条|段)(?:话)?"
_ZH_MATTER = (
    rf"(?:{_ZH_LINE}|(?:的|嘅)?(?:那|这|嗰)(?:个|些话?|件事|事儿?|部分)"
    r"|(?:的|嘅)(?:事情?|话|部分|内容|嘢))"
)
_CHINESE = tuple(
    regex(_ZH_START + body + _ZH_END)
    for body in (
        rf"{_ZH_LAST}[,，]?{_ZH_NOT}{_ZH_RECORD}",
        rf"{_ZH_NOT}(?:把|将)?{_ZH_LAST}{_ZH_RECORD}?(?<!别)(?<!要)",
        rf"{_ZH_NOT}{_ZH_RECORD}{_ZH_LAST}",
        rf"(?:{_ZH_LAST}[,，]?)?(?:{_ZH_UNSAID}|{_ZH_UNHEARD})",
        rf"(?:把|将)?(?:{_ZH_JUST}|(?:那|这|嗰)一?(?:句|条|段)(?:话)?)[,，]?{_ZH_FORGET}",
        rf"(?:把|将)(?:{_ZH_JUST})(?:忘了|忘掉|忘记|删了)",
        rf"(?!.{{0,40}}了$)忘记我(?:刚才|刚刚|刚|头先){_ZH_SAID}(?:的|嘅){_ZH_WORDS}?",
        rf"(?:忘掉|忘了|忘记)(?:{_ZH_JUST})吧",
        rf"忘掉(?:{_ZH_JUST})",
        rf"{_ZH_TOPIC}{_ZH_MATTER}[,，]?(?:{_ZH_NOT}{_ZH_RECORD}|{_ZH_UNSAID})",
        rf"(?:把|将)?{_ZH_TOPIC}{_ZH_LINE}[,，]?{_ZH_FORGET}",
        rf"(?:把|将){_ZH_TOPIC}{_ZH_MATTER}(?:忘了吧|忘掉|忘记吧|删掉|删了吧)",
        # Of the speaker's own things only: 忘了我的伞 is none.
        rf"{_ZH_NOT}{_ZH_RECORD}我的(?P<topic>[^,，、]{{1,10}}?)",
        r"(?:请|你|帮我){0,2}忘掉我(?:的)?(?P<topic>[^,，、]{1,12}?)(?:这件事|的事情?)?",
        rf"(?:我?(?:刚才|刚刚|头先)(?:说|讲)的)(?P<topic>[^,，、]{{1,8}}?){_ZH_NOT}{_ZH_RECORD}",
        rf"{_ZH_NOT}{_ZH_RECORD}{_ZH_TOPIC}{_ZH_MATTER}",
        rf"{_ZH_NOT}(?:把|将){_ZH_TOPIC}{_ZH_MATTER}{_ZH_RECORD}",
        rf"我?(?:刚才|刚刚|头先)(?:说|讲)(?:的|嘅)(?P<topic>[^,，、]{{1,12}}?)"
        rf"{_ZH_MATTER}{_ZH_FORGET}",
    )
)
# Words of others, and what is no topic.
_ZH_OTHERS = regex(
    r"(?:他|她|你|您|佢|人家|别人|老师|老板|医生|妈|爸)们?.{0,3}(?:说|讲|提)|错|仇|挂|忘"
)
_ZH_NO_TOPIC = regex(r"(?:我|你|那|这|嗰|呢|刚才|刚刚|刚|头先|上面|说|讲|的|嘅|话|一)*+")

_EN_START = (
    r"(?:(?:ok|okay|oh|hey|wait|actually|sorry|please|pls|plz|kindly|um|uh|hmm|no|just|well|and|but|so|"
    r"you can|can you|could you|would you|i want you to|i'd like you to|maybe|on second thought|"
    r"never ?mind|nvm|lol no)[, ]{1,3}){0,5}+"
)
_EN_END = (
    r"(?:,? (?:please|pls|plz|thanks|thank you|thx|ok|okay|for me|just now|earlier|"
    r"from your memory|in (?:your )?memory|ever|again)){0,3}+"
)
_EN_THAT = r"(?:that|this|it|anything|any of (?:that|this|it)|all (?:of )?that)"
_EN_SAID = r"(?:said|told you|mentioned|brought up|wrote|sent)"
_EN_WHAT = (
    rf"(?:what i(?:'ve| have)? (?:just )?{_EN_SAID}|everything i (?:just )?{_EN_SAID})"
    r"(?: earlier| before| just now)?"
)
_EN_MESSAGE = (
    r"(?:my|the|that) (?:last|previous) (?:message|msg|text|thing|line|sentence|bit|part|one|"
    r"comment)"
)
_EN_PART = (
    r"(?:the|that|my) (?:bit|part|thing|stuff|line|message|msg|text|comment|one|remark|business)"
)
_EN_PAST = r"(?:never|didn'?t|did not)"
_EN_ABOUT = r"(?:about|abt|on|regarding|with) (?P<topic>.{2,60}?)"
_EN_VERB = r"(?:forget|scratch|drop|delete|erase|remove|disregard|strike(?: out)?|unlearn)"
_EN_NO_SAVE = r"(?:don'?t|do not|no need to) (?:save|store|keep|record|memori[sz]e|log|write down)"
_EN_NO_REMEMBER = r"(?:don'?t|do not) remember"
# Without a please it may be an answer: "(I) don't remember that".
_EN_PLEASE = r"(?=(?:.{0,60} )?(?:please|pls|plz)\b)"
_ENGLISH = tuple(
    regex((_EN_PLEASE if _EN_NO_REMEMBER in body else "") + _EN_START + body + _EN_END)
    for body in (
        r"(?:forget|scratch) that",
        rf"forget (?:that )?i (?:just |ever |even )?{_EN_SAID} {_EN_THAT}(?: lol| haha)?",
        r"(?:erase|delete|remove|wipe) (?:that|this) from your memory",
        rf"{_EN_VERB} (?:{_EN_WHAT}|{_EN_MESSAGE})",
        rf"pretend (?:that )?i {_EN_PAST} (?:say|said|mention(?:ed)?|tell you|told you) {_EN_THAT}",
        rf"{_EN_NO_SAVE} (?:that|this|{_EN_WHAT}|{_EN_MESSAGE})",
        rf"{_EN_NO_REMEMBER} (?:that|this|{_EN_WHAT}|{_EN_MESSAGE})",
        rf"{_EN_VERB} (?:{_EN_WHAT}|{_EN_PART}|(?:that )?i (?:ever )?{_EN_SAID}"
        rf"(?: anything| that| it)?) {_EN_ABOUT}",
        r"(?:forget|scratch) that (?:about|abt) (?P<topic>.{2,60}?)",
        r"forget (?:that )?i(?:'m| was| am| have| had| live| work) (?P<topic>.{2,60}?)",
        r"forget (?:about )?my (?P<topic>[\w' ]{2,40}?)",
        r"forget (?:that )?i (?:ever |even )?(?:mentioned|brought up|told you(?: about)?) "
        r"(?P<topic>.{2,60}?)",
        r"(?:forget|scratch|delete|drop) (?:the|my) (?P<topic>\w[\w' ]{1,30}?) bit",
        rf"pretend (?:that )?i {_EN_PAST} (?:mention(?:ed)?|(?:say|said) anything about|"
        r"(?:tell|told) you about) (?P<topic>.{2,60}?)",
        rf"{_EN_NO_SAVE} (?:{_EN_WHAT}|{_EN_PART}|anything(?: i said)?) {_EN_ABOUT}",
        rf"{_EN_NO_REMEMBER} (?:{_EN_WHAT}|{_EN_PART}|anything(?: i said)?) {_EN_ABOUT}",
    )
)
_EN_NO_TOPIC = frozenset(_EN_THAT.strip("(?:)").split("|")) | {"that", "this", "it", "them"}
# Words by which people name the same topic.
_RELATED = tuple(
    frozenset(words.split())
    for words in (
        "工资 薪水 薪资 月薪 年薪 收入 薪 赚 挣 月入 人工 salary pay wage income earn make paid",
        "年龄 岁 几岁 多大 age old",
        "生日 出生 birthday born",
        "名字 姓名 叫 本名 name call",
        "住址 地址 住 搬 家 address live home",
        "工作 公司 上班 职业 老板 同事 job work company boss",
        "前任 前男友 前女友 分手 ex breakup",
        "对象 男朋友 女朋友 男友 女友 老公 老婆 拍拖 boyfriend girlfriend husband wife partner",
        "病 生病 确诊 医院 药 吃药 抑郁 看病 health sick ill diagnosed doctor medication pills",
        "体重 斤 公斤 胖 减肥 weight kg lbs pounds",
        "成绩 考试 分数 挂科 考 exam grade score failed",
        "钱 存款 欠 债 借 房贷 money debt savings loan",
        "电话 手机号 手机 号码 phone number",
        "家里 爸 妈 爸妈 父母 爸爸 妈妈 family mom dad parents mother father",
    )
)


@dataclass(frozen=True, slots=True)
class SpokenForgetRequest:
    """A request to forget something said before: where it stands, and what it names."""

    span: Span  # the sentence that asks
    topic: str = ""  # "": what was said just before


def find_forget_request(text: str) -> SpokenForgetRequest | None:
    """Return the first sentence of a message that asks to forget what its speaker has said.

    >>> find_forget_request("工资那句当我没说")
    SpokenForgetRequest(span=(0, 8), topic='工资')
    >>> find_forget_request("头先嗰句唔好记"), find_forget_request("forget it lol")
    (SpokenForgetRequest(span=(0, 7), topic=''), None)
    """
    read = text[:READ_CHARS]
    if not _MAY_ASK.search(read):
        return None
    for start, end in sentence_spans(read):
        if end - start <= _MAX_CHARS and (topic := _read_sentence(text[start:end])) is not None:
            return SpokenForgetRequest((start, end), topic)
    return None


def names_topic(topic: str, sentence: str) -> bool:
    """Return whether a sentence may be what a topic names: its words, or words like them.

    >>> names_topic("工资", "我月薪三万"), names_topic("my salary", "i like cats")
    (True, False)
    """
    plain = to_simplified(normalise(sentence))
    words = set(content_terms(sentence))
    asked = content_terms(topic)
    meant = asked[:1] if len(asked) > _MAX_TOPIC_TERMS and topic.isascii() else asked
    if meant and all(term in words or term in plain for term in meant):
        return True
    named = to_simplified(normalise(topic))
    return any(
        any(_has_word(named, word) for word in group)
        and any(_has_word(plain, word) for word in group)
        for group in _RELATED
    )


def shares_a_character(topic: str, text: str) -> bool:
    """Return whether a Chinese topic and a text have a character in common: 看剧, 看两集.

    >>> shares_a_character("看剧", "每天看两集"), shares_a_character("my job", "my dog")
    (True, False)
    """
    named = set(_HAN.findall(to_simplified(topic))) - _COMMON_CHARACTERS
    return bool(named & set(_HAN.findall(to_simplified(text[:READ_CHARS]))))


def _has_word(plain: str, word: str) -> bool:
    return f" {word} " in f" {plain} " if word.isascii() else word in plain


def _read_sentence(sentence: str) -> str | None:
    """Return the topic of a request, "" for what was said just before; None if it is none."""
    # A rare character of Cantonese has a simplified form that nobody writes.
    plain = to_simplified(normalise(sentence)).replace("𠮶", "嗰").strip(_EDGES)
    if not plain:
        return None
    if plain.isascii() or "’" in plain:
        return _read_english(plain.replace("’", "'"))
    # A reason often stands behind it: 寒假那句当我没说 别记.
    clauses = [one for one in _ZH_PAUSE.split(plain) if len(one) >= _MIN_CLAUSE_CHARS]
    return _first_topic(_read_chinese, [plain.replace(" ", ""), *clauses])


def _first_topic(read: Callable[[str], str | None], texts: Sequence[str]) -> str | None:
    topics = (read(text.strip(_EDGES)) for text in texts)
    return next((topic for topic in topics if topic is not None), None)


def _read_chinese(plain: str) -> str | None:
    for pattern in _CHINESE:
        found = pattern.fullmatch(plain)
        if found is None:
            continue
        topic = found.groupdict().get("topic") or ""
        if _ZH_OTHERS.search(topic):
            return None
        return "" if _ZH_NO_TOPIC.fullmatch(topic) else topic
    return None


def _read_english(plain: str) -> str | None:
    for pattern in _ENGLISH:
        found = pattern.fullmatch(plain)
        if found is not None:
            # A reason may stand behind it: "forget that about Priya, not mine to tell".
            topic = (found.groupdict().get("topic") or "").partition(",")[0].strip(_EDGES)
            return "" if topic in _EN_NO_TOPIC else topic
    return None
