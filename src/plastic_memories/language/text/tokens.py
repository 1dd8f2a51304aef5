"""Tokenize text into search terms, the same for every backend."""

from __future__ import annotations

import threading
import unicodedata
from array import array
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from operator import add
from zlib import crc32

import Stemmer

from plastic_memories.language.text.bounded_cache import bounded_cache
from plastic_memories.language.text.irregular_forms import LEMMA_BY_FORM
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified

# Increase with every change to the terms of a text: indexes are then rebuilt.
TERMS_VERSION = 4
# Flags in a term code: weak by itself (a function word, a single character); a word between spaces.
WEAK_TERM_BIT, WORD_TERM_BIT = 1, 2
# The grammars read only this much of a text, from its start. A longer text is stored, searched and
# screened for sensitive data as a whole; but statements about oneself are in messages, not in a
# book that was pasted into one.
READ_CHARS = 4_000
MAX_TERM_CHARS = 64
MAX_QUERY_TERMS = 64

# Scripts written without spaces: Han with its extensions, kana, bopomofo, hangul, and the letters
# of Thai, Lao, Myanmar and Khmer (their marks are removed before matching).
UNSPACED = (
    "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f\U00030000-\U000323af"
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3105-\u312f\u31a0-\u31bf"
    "\u1100-\u115e\u1161-\u11ff\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
    "\u0e01-\u0e30\u0e32\u0e40-\u0e46\u0e81-\u0eb0\u0ec0-\u0ec6\u1000-\u102a\u1780-\u17b3"
)
# Skin tones (U+1F3FB to U+1F3FF) are left out: all variants of a thumb match.
EMOJI = (
    "\u231a\u231b\u23e9-\u23fa\u2600-\u275a\u2761-\u2767\u2794-\u27bf\u2b1b-\u2b55"
    "\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
)
_LETTER = rf"[^\W_{UNSPACED}]"
_PIECE = regex(
    rf"([{UNSPACED}]+)"
    # A suffix after an apostrophe (Anna's, don't, we've) is grammar, not a word.
    rf"|({_LETTER}+)(?:['’](?:s|t|re|ve|ll|d|m)(?!{_LETTER}))?"
    rf"|([\U0001f1e6-\U0001f1ff]{{2}}|[{EMOJI}])"
)
# The same for lower-case ASCII, the most common text, in a third of the time.
_ASCII_WORD = regex(r"([a-z0-9]+)(?:'(?:s|t|re|ve|ll|d|m)(?![a-z0-9]))?")
_INVISIBLE = regex(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_MAY_HOLD_MARKS = regex(
    "[^\x00-\u02ff\u0400-\u0482\u048a-\u052f\u2000-\u20cf\u2100-\u2bff\u3000-\u3029\u3030-\u3098"
    "\u309b-\ua66e\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U0001f000-\U0003ffff]"
)

_ENGLISH_STOP_WORDS = (
    "a about again all also am an and any are aren as at be because been being but by can could "
    "couldn d did didn do does doesn doing for from had hadn has hasn have haven having he her "
    "here hers him his how i if in into is isn it its just ll m me mine my of on or our ours re s "
    "she should shouldn so some such t than that the their theirs them then there these they this "
    "those to too ve very was wasn we were weren what when where which who whom whose why will "
    "with would wouldn you your yours tell please know remember"
)
_STOP_WORDS = frozenset(_ENGLISH_STOP_WORDS.split())
# Words that contain a function character but have a meaning of their own.
_CONTENT_WORDS = (
    "目的|的确|的士|标的|了解|了不起|了断|了结|你好|迷你|自我|我国|吉他|其他|其它|他乡|是非|国是|"
    "和平|和谐|和服|和尚|和解|和牛|和室|和风|和田|温和|暖和|柔和|饱和|共和|总和|酒吧|网吧|书吧|吧台|"
    "贴吧|啦啦|吗啡|呢子|那英|刹那|哪吒|也门|很久"
)
# Simplified, like all lists here: queries are converted before matching.
_FUNCTION_WORDS = (
    "为什么|为啥|什么|怎么样|怎么|怎样|如何|多少|哪里|哪儿|哪些|哪个|哪天|哪位|几岁|几点|几号|几月|是不是|"
    "有没有|能不能|会不会|要不要|可不可以|还记得|记不记得|记得|告诉|知不知道|知道|请问|一下|一个|那个|这个|"
    "这些|那些|那么|这么|我们|你们|他们|她们|咱们|因为|所以|但是|可是|不过|而且|然后|或者|以及|如果|的话|"
    "关于|对于"
)
_PARTICLES = "的了吗呢吧啊呀哦噢嘛啦么我你您他她它们是也很和这那哪谁啥"
# `猫吃什么` asks for a cat and for eating, not for the pair `猫吃`.
_VERBS = "叫喝吃爱去玩看买养住做姓听读学怕"
_ASKED_VERB = f"([{_VERBS}])(?=什么|啥|哪|谁)"
# The lookahead is for speed: most characters start no such word.
_FIRST = "".join(word[0] for word in f"{_CONTENT_WORDS}|{_FUNCTION_WORDS}".split("|"))
_FUNCTION = regex(
    f"(?=[{_FIRST}{_PARTICLES}{_VERBS}])"
    f"(?:({_CONTENT_WORDS})|{_ASKED_VERB}|{_FUNCTION_WORDS}|[{_PARTICLES}])"
)

# The next entry is likely an answer. Like pair codes, this code has both low bits set.
QUESTION_MARKER = array("I", [0xFFFFFFFF]).tobytes()
_QUESTION_END = regex(r"[?？]\W*$")
_QUESTION_TAIL_CHARS = 16

_STEMMER = Stemmer.Stemmer("english", 0)
_STEMMER_LOCK = threading.Lock()


def normalise(text: str) -> str:
    """Return the text for comparison: compatibility forms, case and spacing normalised.

    Invisible characters are dropped. Idempotent.

    >>> normalise("  Ｈｅｌｌｏ \\n Café")
    'hello café'
    """
    if text.isascii():
        return " ".join(text.lower().split())
    visible = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold()
    return " ".join(unicodedata.normalize("NFKC", visible).split())


def normalised_length(text: str) -> int:
    """Return the length after normalisation: one character may become eighteen.

    >>> normalised_length("tea 茶"), normalised_length("ﷺ")
    (5, 18)
    """
    return len(text) if text.isascii() else len(unicodedata.normalize("NFKC", text))


def truncate_normalised(text: str, max_chars: int) -> str:
    """Return the start of a text whose normalised length is at most `max_chars`.

    >>> truncate_normalised("茶ﷺ茶 tea", 20), truncate_normalised("茶 tea", 3)
    ('茶ﷺ茶', '茶 t')
    """
    start = text[:max_chars]
    if normalised_length(start) <= max_chars:
        return start
    for place, char in enumerate(start):
        max_chars -= normalised_length(char)
        if max_chars < 0:
            return start[:place]
    return start


def normalise_script(text: str) -> str:
    """Return the text for comparison, normalised and in simplified characters.

    >>> normalise_script("我喜歡 ＴＥＡ")
    '我喜欢 tea'
    """
    # Compatibility forms first: one of them may be a traditional character.
    return to_simplified(normalise(text))


def index_terms(text: str) -> list[str]:
    """Return the index terms of a text, in order, with repetition.

    >>> index_terms("飲茶 Anna's cafés")
    ['饮', '饮茶', '茶', 'anna', 'cafe']
    """
    if text.isascii():
        return list(map(_stem, _ASCII_WORD.findall(text.lower())))
    terms: list[str] = []
    for run, word, emoji in _split_pieces(text):
        if word:
            terms.append(_stem(word))
        elif run:
            terms += _unigrams_and_bigrams(run)
        else:
            terms.append(emoji)
    return terms


@bounded_cache(max_size=32_768)
def term_code(term: str) -> int:
    """Return the code of a term for ranking: four bytes, the same on every machine.

    The lowest bits are the kind of term: `WEAK_TERM_BIT`, `WORD_TERM_BIT`, both or none.
    """
    word = term.isascii()
    weak = term in _STOP_WORDS if word else len(term) == 1
    return (
        crc32(term.encode()) & ~(WEAK_TERM_BIT | WORD_TERM_BIT)
        | WEAK_TERM_BIT * weak
        | WORD_TERM_BIT * word
    )


def term_codes(terms: list[str], *, asks: bool = False) -> bytes:
    """Return the codes of terms in order, four bytes each, plus a marker if the text asks.

    >>> len(term_codes(index_terms("喝茶")))
    12
    """
    codes = array("I", map(term_code, terms)).tobytes()
    return codes + QUESTION_MARKER if asks else codes


def is_question(text: str) -> bool:
    """Return whether a text ends with a question.

    >>> is_question("去哪儿了？😊"), is_question("Why? Because.")
    (True, False)
    """
    return bool(_QUESTION_END.search(text[-_QUESTION_TAIL_CHARS:]))


def query_terms(text: str) -> list[str]:
    """Return the unique search terms, without function words unless there are no others.

    At most `MAX_QUERY_TERMS`; of a longer dialogue the terms of its last lines come first.

    >>> query_terms("我喜欢喝什么茶？ And what tea?")
    ['喜欢', '喝', '茶', 'tea']
    """
    return list(_query_terms(text))


def content_terms(text: str) -> list[str]:
    """Return the unique terms without function words, those of the last line first.

    >>> content_terms("Where is it? 我是谁")
    []
    """
    lines = reversed(text.splitlines())
    return _unique_terms(_line_terms(line, keep_all=False) for line in lines)


# One recall needs the terms of its question in several places.
@lru_cache(maxsize=64)
def _query_terms(text: str) -> tuple[str, ...]:
    lines = text.splitlines()
    by_line = [_line_terms(line, keep_all=False) for line in lines]
    if not any(by_line):
        by_line = [_line_terms(line, keep_all=True) for line in lines]
    terms = _unique_terms(by_line)
    if len(terms) > MAX_QUERY_TERMS:
        terms = _unique_terms(reversed(by_line))
    return tuple(terms[:MAX_QUERY_TERMS])


def _line_terms(line: str, *, keep_all: bool) -> list[str]:
    terms: list[str] = []
    for run, word, emoji in _split_pieces(line):
        for part in [run or word or emoji] if keep_all else _content_terms_of(run, word, emoji):
            if word:
                terms.append(_stem(word))
            elif run and len(part) > 1:
                terms += _bigrams(part)
            else:
                terms.append(part)
    return terms


def _split_pieces(text: str) -> list[tuple[str, str, str]]:
    return _PIECE.findall(_without_stray_marks(normalise_script(text)))


def _content_terms_of(run: str, word: str, emoji: str) -> list[str]:
    """Return the content parts of a piece, without function words.

    A run is split at them, so that no term is lost: `什么茶` must still find `茶`.
    """
    if run:
        return _FUNCTION.sub(lambda match: match[1] or f" {match[2] or ''} ", run).split()
    return [] if LEMMA_BY_FORM.get(word, word) in _STOP_WORDS else [word or emoji]


def _unigrams_and_bigrams(run: str) -> list[str]:
    terms = [""] * (2 * len(run) - 1)
    terms[::2] = run
    terms[1::2] = _bigrams(run)
    return terms


def _bigrams(run: str) -> list[str]:
    return list(map(add, run, run[1:]))


def _without_stray_marks(text: str) -> str:
    """Return the text without combining marks, which would split a word."""
    if not _MAY_HOLD_MARKS.search(text):
        return text
    return "".join(char for char in text if unicodedata.category(char)[0] != "M")


@bounded_cache(max_size=16_384)
def _stem(word: str) -> str:
    spelled = word if word.isascii() else _without_accents(word)
    if not spelled.isascii():
        return spelled[:MAX_TERM_CHARS]
    spelled = LEMMA_BY_FORM.get(spelled, spelled)
    # A Stemmer must not be used by two threads at once.
    with _STEMMER_LOCK:
        stem: str = _STEMMER.stemWord(spelled[:MAX_TERM_CHARS])
    return stem or spelled


def _without_accents(word: str) -> str:
    """Fold a Latin word to ASCII; leave other alphabets, whose marks make other letters."""
    folded = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
    return folded if folded.isascii() else word


def _unique_terms(groups: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(groups)))
