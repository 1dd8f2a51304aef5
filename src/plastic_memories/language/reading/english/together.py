"""English rules for what the user and the persona are to each other: names, promises, reminders."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plastic_memories.language.reading.english.clause import EnglishClause, clean_value
from plastic_memories.language.reading.finding import ExtractedItem
from plastic_memories.language.reading.memory_keys import slug
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.word_lists import any_of

_I = re.IGNORECASE
_PREFIX = "relationship.with_persona"
_WHEN = any_of("english_together", "when")
_REMIND = regex(any_of("english_together", "remind"), _I)
_PROMISES = tuple(
    regex(pattern, _I)
    for pattern in (
        r"^you (?:literally |once |already |also )*(?:promised|swore)(?: me)?(?: that)?(?: to|"
        r" you would| you will|"
        r" not to)? (?P<v>.{4,80})$",
        r"^you said (?:last night |once )?you would (?P<v>.{4,80})$",
        r"^(?:you owe me|i owe you) (?P<v>.{3,60})$",
        r"^promise me (?:that )?(?P<v>.{4,80})$",
        r"^(?:we have a deal|we agreed|deal is|it is a deal)(?: that)? (?P<v>.{4,80})$",
        r"^i (?:am giving|give) you my word (?P<v>.{4,80})$",
        r"^i (?:promise|swear|promised) you (?:that )?(?P<v>.{4,80})$",
    )
)
_NAMES_PERSONA = (
    regex(
        r"^(?:from now on |so |ok |i (?:am going to |will |want to |just )?)*(?:call|named|name|"
        r"nicknamed) you "
        r"(?P<v>[\w'-]{2,20}(?: [\w'-]{2,20})?)(?: and .*| now| because .*| after .*)?$",
        _I,
    ),
    regex(
        r"^(?:from now on )?your (?:new |"
        r"real )?(?:nick)?name is (?P<v>[\w'-]{2,20}(?: (?!now\b)[\w'-]{2,20})?)(?: now)?$",
        _I,
    ),
)
_NO_NAME = regex(any_of("english_together", "no_name"), _I)
_MET = regex(any_of("english_together", "met"), _I)
_OURS = regex(any_of("english_together", "ours"), _I)
_ROLE = regex(any_of("english_together", "role"), _I)


_JOKES = frozenset({"breathe", "exist", "live"})


def find_together(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    """Yield how they met, what the user calls the persona, promises and shared jokes."""
    text, content = parsed.text, parsed.content
    promise = _reminder(text) or _promise(text)
    if promise:
        yield ExtractedItem(f"{_PREFIX}.promise.{slug(promise)}", promise, content)
        return
    if _MET.match(text) and not re.search(
        r"\b(?:he|she|they|him|her|boyfriend|girlfriend)\b", text, _I
    ):
        yield ExtractedItem(f"{_PREFIX}.how_we_met", content, content)
    ours = _OURS.match(text)
    if ours:
        yield ExtractedItem(f"{_PREFIX}.joke.{slug(ours['k'])}", clean_value(ours["v"]), content)
    named = next(filter(None, (rule.match(text) for rule in _NAMES_PERSONA)), None)
    if named and not _NO_NAME.match(named["v"]):
        yield ExtractedItem(f"{_PREFIX}.nickname", named["v"], content)
    role = _ROLE.match(text)
    if role:
        yield ExtractedItem(f"{_PREFIX}.role", (role["v"] or role["w"]).strip(), content)


def _reminder(text: str) -> str:
    found = _REMIND.match(text)
    if found is None or found["v"].strip().lower() in _JOKES:
        return ""
    if found["timed"] and not re.search(_WHEN, found["v"], _I):
        return ""
    return text[found.start("sure") if found["sure"] else found.start("timed") :]


def _promise(text: str) -> str:
    found = next(filter(None, (rule.match(text) for rule in _PROMISES)), None)
    return clean_value(found["v"]) if found else ""
