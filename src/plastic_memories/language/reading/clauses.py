"""Split a message into believable clauses: no code, quotes, questions or fiction."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from plastic_memories.language.reading.relation_words import CHINESE_KIN_WORD, ENGLISH_KIN_WORD
from plastic_memories.language.reading.typed.chat_spelling import spell_out
from plastic_memories.language.reading.typed.clause_breaks import CJK, clause_breaks
from plastic_memories.language.reading.typed.plain_talk import GONE, PAUSE, to_plain_talk
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.word_lists import any_of

_BREAK = "\n"

_UNSAID_TEXT = regex(
    r"<plastic_memories.*?(?:</plastic_memories[^>]*>|\Z)"
    r"|```.*?(?:```|\Z)|`[^`\n]+`|^[ \t]*>[^\n]*|https?://\S+|www\.\S+",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
# The end of each kind of action and quotation; it must be on the same line. Round brackets do not
# nest.
_ACTIONS = {
    mark: regex(ends)
    for mark, ends in zip(
        "*（(【[", (r"[*\n]", r"[（）\n]", r"[()\n]", r"[】\n]", r"[\]\n]"), strict=True
    )
}
_QUOTES = {mark: regex(rf"[{end}\n]") for mark, end in zip("“「『‘\"'", "”」』’\"'", strict=True)}
_OPENS_ALONE = frozenset("（(\n")  # if one of these comes first, the mark has no end
_SAID_BEFORE = regex(any_of("clauses", "said_before"), re.IGNORECASE)
_CALLED_BEFORE = regex(r"(?:叫|名叫|称呼|喊)(?:我|做|作)?\s*$")
_SPEECH_INSIDE = regex(r"[我你，。！？!?,]|\b(?:i|i'm|my|you)\b", re.IGNORECASE)
_LABEL_LENGTH = 20
_MAX_CLAUSE_CHARS = 200
_SENTENCE_END = f"。！？!?；;….~～ \n{PAUSE}{GONE}"

_SENTENCE = regex(
    r"(?:[^。！？!?；;\n….]|(?<=\bDr)\.|(?<=\bSt)\.(?=\s\u2060*[A-Z])|(?<=\bMrs)\.|(?<=\bM[rs])\.|\.(?!\s|$))+[。！？!?；;….~～]*",
    re.MULTILINE,
)
_SPACE_BESIDE_CJK = regex(rf"(?<=[{CJK}])[ \t　]++|(?<![ \t　])[ \t　]++(?=[{CJK}])")

_FICTION = regex(any_of("clauses", "fiction"), re.IGNORECASE)
_PRETENDED = regex(r"[（(【\[*](?:假装|扮演|演戏|角色扮演|pretend)[^）)】\]*\n]{0,12}[）)】\]*]")
_HYPOTHETICAL = regex(any_of("clauses", "hypothetical"), re.IGNORECASE)
_PERSON = (
    rf"(?:他们|她们|他|她|它|你们|你|您|人家|别人|大家|有人|网上|新闻|医生|{CHINESE_KIN_WORD}|"
    r"书上|作者|歌手|小[一-龥]|老[一-龥])"
)
_REPORT = regex(
    rf"^.{{0,12}}?{_PERSON}(?:们)?(?:都|还|也|总|老是?|经常|一直|曾|跟我|对我|告诉|常|"
    rf"刚才|昨天|之前|总是)*"
    r"(?:说(?!话|明|法)过?了?|告诉|讲|问|觉得|认为|以为|猜|写道|骂|表示|提到|开玩笑|怀疑|建议|坚持|"
    r"推荐|误会|嫌)"
    r"|^(?:听说|据说|据.{1,6}说|传说|听.{1,5}(?:说|讲)|有人说|都说|谣言|传闻|俗话说|"
    r"常言道|所谓|看到.{0,4}(?:说|写)|小红书|微博)"
    r"|^.{0,10}(?:开玩笑(?:的|地)?说)"
    rf"|\b(?:they|he|she|people|everyone|everybody|someone|somebody|you|{ENGLISH_KIN_WORD}|"
    r"doctor|article|rumou?rs?|(?-i:[A-Z][a-z]+)) "
    r"(?:always |often |just |once |also |all |keeps? |even |jokingly )*"
    r"(?:says?|said|saying|tells?|told|thinks?|thought|believes?|claims?|claimed|asked|asks|wrote|"
    r"insists?|insisted|assumes?|assumed|guessed|joked|mentioned|replied)\b"
    r"|\b(?:i heard|apparently|supposedly|reportedly|allegedly|rumou?r has it|according "
    r"to|i read that|"
    r"the saying goes|so-called)\b"
    # "a customer goes I'm allergic to ice": what follows is not the speaker's.
    r"|(?<!\bi )\b(?:goes|(?:was|were|is|be|be all) like)$",
    re.IGNORECASE,
)
# 标题写：我叫张三: cited text, not a statement of the user.
_CITATION = regex(any_of("clauses", "citation"))
_SARCASM = regex(any_of("clauses", "sarcasm"), re.IGNORECASE)
# The text that follows is material to work on, not conversation.
_MATERIAL = regex(any_of("clauses", "material"), re.IGNORECASE)
# What the user reports of themself is still their own statement.
_OWN_REPORT = regex(any_of("clauses", "own_report"), re.IGNORECASE)
_UNSURE = regex(any_of("clauses", "unsure"), re.IGNORECASE)
_QUESTION = regex(any_of("clauses", "question"), re.IGNORECASE)
_NOT_TO_ASK = regex(any_of("clauses", "not_to_ask"))
_ASKING_OPENING = regex(any_of("clauses", "asking_opening"), re.IGNORECASE)
_CONFIRM_TAG = regex(any_of("clauses", "confirm_tag"), re.IGNORECASE)
# A request phrased as a question is still a request: "could you call me Bob?", 能不能别老用感叹号.
_POLITE = regex(any_of("clauses", "polite"), re.IGNORECASE)
_WISHED = any_of("clauses", "wished")
_ASKED_WISH = regex(
    r"^(?P<who>(?:你|您|以后|今后|拜托|麻烦)*(?:(?:跟我|和我)?(?:回答|回复|说话|讲话|说事|解释|语气|发消息|聊天)"
    r"(?:的时候|时)?)?)"
    rf"(?:以后|今后)?(?:能不能|可不可以|能否|可否|能|可以)(?={_WISHED})"
    r"|^(?P<topic>(?:你|您|以后)*(?:回答|回复|说话|讲话|解释|语气)(?:的时候|时)?)(?:能不能|可不可以|能否|可否)"
)
_WISH_TAG = regex(any_of("clauses", "wish_tag"))
_WHAT = regex(r"什么|谁|哪|怎么|几|多少|吗$|为什么")
# What a doctor has forbidden binds the user, although another person said it.
_DOCTOR = r"^(?:我的?)?(?:主治)?(?:医生|大夫|营养师|牙医)(?:又|都|已经|昨天|今天)?"
_FORBIDDEN = regex(
    rf"{_DOCTOR}(?:(?:说|让|叫|要求|建议|叮嘱|嘱咐|告诉|交代|警告)+我(?:以后|最好|千万|绝对)?"
    r"(?:不能|不要|别|不可以|不许|不准|禁止|不得)|(?:不让|不许|不准|禁止|不建议)我)"
    r"(?P<rest>再?(?:吃|喝|碰|沾).+)$"
    r"|^my (?:doctor|gp|dietitian|nutritionist|allergist|dentist) (?:has )?"
    r"(?:(?:told|advised|ordered|warned) me (?:not to|never to|to stop|to avoid)|"
    r"(?:says?|said)(?: that)? i (?:can'?t|cannot|can not|must not|mustn't|shouldn'?t|should not))"
    r" (?P<en>(?:eat|drink|have|touch|eating|drinking|having).*)$",
    re.IGNORECASE,
)
_OPENER = regex(any_of("clauses", "opener"), re.IGNORECASE)
_POLITE_END = regex(r"吗$|(?:好|行|可以)(?:吗|不)$| please$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MessageClause:
    """One clause: normalised for the rules, for display, and as a literal quote."""

    text: str  # no spaces beside Chinese characters
    display_text: str  # as in the message, without quotation marks
    quote: str
    opens_sentence: bool  # first of its sentence
    is_followed_by_colon: bool = False  # a request before a colon is about the text after it
    start: int = 0  # where the quote stands in the message
    joined_from: int | None = None  # start of the clause before, if this one completes it

    @property
    def end(self) -> int:
        return self.start + len(self.quote)

    @property
    def is_unsure(self) -> bool:
        return _UNSURE.search(self.text) is not None


def believable_clauses(content: str, *, in_story: bool = False) -> Iterator[MessageClause]:
    """Yield the clauses of a message that state something, in order.

    With `in_story`, fiction counts as a statement too.

    >>> [clause.text for clause in believable_clauses("我叫小明，你记得吗？如果我是猫就好了。")]
    ['我叫小明']
    """
    for _, clauses in believable_sentences(content, in_story=in_story):
        yield from clauses


def believable_sentences(
    content: str, *, in_story: bool = False
) -> Iterator[tuple[str, Iterator[MessageClause]]]:
    """Yield the sentences of a message, as written, each with its clauses that state something."""
    plain = to_plain_talk(content)
    masked = _mask_unsaid(plain)
    pretended = None if in_story else _PRETENDED.search(plain)
    for start, end in _sentence_spans(masked):
        if pretended and pretended.start() < start:
            return
        if _SARCASM.search(content, start, end):
            continue
        if not in_story and _FICTION.search(masked, start, end):
            # A story goes on to the end of the message.
            return
        sentence = content[start:end]
        yield sentence, _stated_clauses(sentence, masked[start:end], start)


def _sentence_spans(masked: str) -> Iterator[tuple[int, int]]:
    for found in _SENTENCE.finditer(masked):
        if found[0].strip():
            yield found.span()


def _mask_unsaid(content: str) -> str:
    """Replace what the user did not say by line breaks, keeping every position."""
    masked = _UNSAID_TEXT.sub(lambda found: _BREAK * len(found[0]), content).replace("**", "  ")
    masked = _replace_spans(masked, _QUOTES, _unquote_label)
    return _replace_spans(masked, _ACTIONS, lambda _, start, end: _BREAK * (end - start))


def _replace_spans(
    text: str, ends: Mapping[str, re.Pattern[str]], written: Callable[[str, int, int], str]
) -> str:
    parts, place = [], 0
    for start, end in _pairs(text, ends):
        parts += [text[place:start], written(text, start, end)]
        place = end
    return "".join([*parts, text[place:]])


def _pairs(text: str, ends: Mapping[str, re.Pattern[str]]) -> Iterator[tuple[int, int]]:
    """Yield start and end of the text between marks, from left to right.

    One pattern for all marks would search again from each opening mark without an end.
    """
    place, endless = 0, dict.fromkeys(ends, 0)
    for start, mark in enumerate(text):
        if mark not in ends or start < place or start < endless[mark]:
            continue
        found = ends[mark].search(text, start + 1)
        end = found.start() if found else len(text)
        if found is None or found[0] in _OPENS_ALONE:
            endless[mark] = end
        elif _is_pair(text, start, end):
            place = end + 1
            yield start, place


def _is_pair(text: str, start: int, end: int) -> bool:
    if text[start] == "*":
        return end > start + 1
    # An apostrophe is inside a word.
    return text[start] != "'" or not (
        _is_word(text[start - 1 : start]) or _is_word(text[end + 1 : end + 2])
    )


def _is_word(char: str) -> bool:
    return char == "_" or char.isalnum()


def _unquote_label(text: str, start: int, end: int) -> str:
    inner, before = text[start + 1 : end - 1], text[max(0, start - _LABEL_LENGTH) : start]
    label = len(inner) <= _LABEL_LENGTH and not _SPEECH_INSIDE.search(inner)
    said = _SAID_BEFORE.search(before) and not _CALLED_BEFORE.search(before)
    return f" {inner} " if label and not said else _BREAK * (end - start)


def _stated_clauses(sentence: str, masked: str, place: int) -> Iterator[MessageClause]:
    asks = bool(re.search(r"[?？]", masked))
    clauses = list(_split_clauses(masked.rstrip(_SENTENCE_END), sentence, place))
    if not clauses:
        return
    requests = [_as_request(clause) for clause in clauses]
    if asks and requests[-1] is clauses[-1]:
        requests = _without_question_clause(requests)
    for clause in map(_as_own_restriction, requests):
        if _is_reported_or_hypothetical(clause.text):
            return
        if not _asks(clause.text) and not clause.is_unsure:
            yield clause


def _asks(text: str) -> bool:
    """Return whether a clause asks: 你考了多少分 does, 别问我考了多少分 does not."""
    return bool(_QUESTION.search(_OPENER.sub("", text))) and not _NOT_TO_ASK.search(text)


def _as_request(clause: MessageClause) -> MessageClause:
    """Return a request that is phrased as a question without what makes it one.

    你回复短一点好不好, 你回答能不能简洁些, "can you keep it short".
    """
    text = _OPENER.sub("", clause.text)
    polite = _POLITE.match(text)
    if polite:
        return _with_wish(clause, text[polite.end() :])
    asked, tagged = _ASKED_WISH.match(text), _WISH_TAG.match(text)
    if asked:
        rest = _POLITE_END.sub("", text[asked.end() :])
        if not _WHAT.search(rest):
            text = (asked["who"] or asked["topic"] or "") + rest
    elif tagged and not _WHAT.search(tagged["wish"]):
        text = tagged["wish"]
    else:
        return clause
    return _with_wish(clause, _POLITE_END.sub("", text))


def _with_wish(clause: MessageClause, wish: str) -> MessageClause:
    wish = wish.removesuffix(" please")
    return replace(clause, text=wish, display_text=wish)


def _as_own_restriction(clause: MessageClause) -> MessageClause:
    """Return a doctor's order as the user's own restriction: 医生不让我吃辣 → 我不能吃辣."""
    found = _FORBIDDEN.match(clause.text)
    if not found:
        return clause
    english = re.sub(r"^(eat|drink|hav)(?:ing|e)\b", _plain_verb, found["en"] or "")
    order = f"I can't {english}" if english else f"我不能{found['rest'].removeprefix('再')}"
    return replace(clause, text=order, display_text=order)


def _plain_verb(found: re.Match[str]) -> str:
    return "have" if found[1] == "hav" else found[1]


def _without_question_clause(clauses: list[MessageClause]) -> list[MessageClause]:
    """Return what a question sentence states besides asking: "I'm a vegan, can I eat this?"."""
    last = clauses[-1]
    if _ASKING_OPENING.search(clauses[0].text) or _CONFIRM_TAG.search(last.text):
        return []
    return clauses[:-1]


def _is_reported_or_hypothetical(text: str) -> bool:
    """Return whether the sentence, from this clause on, is reported, cited or hypothetical."""
    if (
        _HYPOTHETICAL.search(text)
        or _MATERIAL.search(_OPENER.sub("", text))
        or _CITATION.search(text)
    ):
        return True
    return bool(_REPORT.search(text)) and not _OWN_REPORT.search(text)


def _split_clauses(masked: str, sentence: str, place: int) -> Iterator[MessageClause]:
    position, is_first = 0, True
    for end, after in [*clause_breaks(masked), (len(masked), len(masked))]:
        piece = masked[position:end]
        said = re.sub(r"\s+", " ", piece.replace(GONE, "").strip()).replace("’", "'")
        said = spell_out(said)
        text = _SPACE_BESIDE_CJK.sub("", said)
        # Nobody states a fact about themself in a clause of this length.
        if text and len(piece) <= _MAX_CLAUSE_CHARS:
            left = position + len(piece) - len(piece.lstrip())
            yield MessageClause(
                text,
                said,
                quote=sentence[left : left + len(piece.strip())],
                opens_sentence=is_first,
                is_followed_by_colon=masked[end:after] in {":", "："},
                start=place + left,
            )
        is_first = is_first and not text
        position = after
