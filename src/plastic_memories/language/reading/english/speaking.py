"""English rules for how the user wants to be spoken to, and what is not to be spoken of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plastic_memories.language.reading.english.clause import (
    EnglishClause,
    EnglishSubject,
    clean_value,
)
from plastic_memories.language.reading.finding import ExtractedItem
from plastic_memories.language.reading.memory_keys import slug
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.word_lists import any_of

_I = re.IGNORECASE
_ASKING = (
    r"^(?:please |kindly |just |also |always |and |so |i (?:would )?(?:rather|prefer|like|want|"
    r"need)(?: it)?(?: if)?"
    r"(?: you)?(?: to)? |you (?:should|must|can|have to) |(?:let us|let's|we) |never ever |"
    r"(?:can|could) we )*"
)
_NOT = r"(?:do not|did not|never|stop|avoid|no more|no|not|quit|less|fewer)"
_STOP = r"(?:do not(?! you)|not(?= \w+ing| do| use| be)|never|stop|avoid|no more|quit|less|fewer)"
_SPEAK = any_of("english_speaking", "speak")
_TABOOS = tuple(
    regex(pattern, _I)
    for pattern in (
        rf"{_ASKING}{_NOT}(?: ever| even| want to| ready to| want you to)* (?:a |"
        rf"any )?{_SPEAK} (?P<v>.+)$",
        r"^(?P<v>[\w' ]{3,40}?) (?:is|are) (?:a |strictly )?(?:taboo|off[- ]limits|banned|"
        r"not a topic|"
        r"(?:a )?(?:sensitive|touchy|sore) (?:topic|subject|spot|thing))(?: for me| ok| okay)*$",
        rf"{_ASKING}leave (?P<v>[\w' ]{{3,30}}) out of (?:it|this|our \w+)$",
        r"^(?:please )?no (?P<v>politics|religion|diet advice|jokes about [\w' ]{3,30})"
        r"(?: with me| please| ok| ever)*$",
    )
)
_VAGUE = regex(any_of("english_speaking", "vague"), _I)
_TAIL = regex(any_of("english_speaking", "tail"), _I)
_WAY = any_of("ways_of_speaking", "en")
_UNWANTED = any_of("ways_of_speaking", "en_unwanted")
_STYLES = tuple(
    regex(pattern, _I)
    for pattern in (
        # "do not end every message with a question", "less exclamation marks".
        rf"{_ASKING}{_STOP} (?:\w+ ){{0,6}}?(?:{_WAY}|{_UNWANTED})\b(?: \w+){{0,6}}$",
        rf"^(?:please )?no (?:more )?(?:{_WAY}|{_UNWANTED})(?: please| with me| max| ever|"
        rf" \d lines max)*$",
        # "keep your answers short", "use lowercase like me", "correct my english when i slip".
        rf"{_ASKING}(?:use|keep|talk|speak|write|reply|answer|respond|text|type|be|stay|sound|correct|explain|"
        rf"stick to)\b (?:[\w/']+ ){{0,5}}?(?:{_WAY})\b(?: [\w']+){{0,8}}$",
        rf"^(?:when|if) i am (?:sad|down|upset|angry|quiet|crying) .{{0,20}}(?:{_WAY})\b.*$",
        r"^(?:just|only) listen(?: to me)?(?: please| do not fix| no advice)*$",
    )
)
_NOT_CALLED = regex(
    rf"{_ASKING}(?:do not|never|stop)(?: ever| even)? (?:call(?:ing)?|"
    rf"address(?:ing)?) me (?P<v>[\w' ]{{2,20}}?)"
    r"(?: again| anymore| please| ever)*$",
    _I,
)
_NO_NAME = regex(any_of("english_speaking", "no_name"), _I)
_ONE_OFF = regex(any_of("english_speaking", "one_off"), _I)
_MAX_WORDS = 16


def find_speaking(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    """Yield topics to leave alone, and ways of speaking that the user asks for."""
    if parsed.subject is EnglishSubject.OTHER and not re.match(r"(?:you|that) ", parsed.text, _I):
        return
    if parsed.clause.is_followed_by_colon or parsed.is_past:
        return
    taboo = _taboo(parsed)
    if taboo:
        yield ExtractedItem(f"constraint.taboo.{slug(taboo)}", taboo, parsed.content)
        return
    if _ONE_OFF.search(parsed.text) or len(parsed.text.split()) > _MAX_WORDS:
        return
    called = _NOT_CALLED.match(parsed.text)
    if called and not _NO_NAME.match(called["v"]):
        key = f"preference.style.not_called_{slug(called['v'])}"
        yield ExtractedItem(key, parsed.text.lower(), parsed.content)
    elif any(style.match(parsed.text) for style in _STYLES):
        yield ExtractedItem(
            f"preference.style.{slug(parsed.text)}", parsed.text.lower(), parsed.content
        )


def _taboo(parsed: EnglishClause) -> str:
    found = next(filter(None, (taboo.match(parsed.text) for taboo in _TABOOS)), None)
    if found is None or parsed.is_temporary or _VAGUE.search(found["v"]):
        return ""
    value = _TAIL.sub("", clean_value(found["v"]))
    return _TAIL.sub("", value)
