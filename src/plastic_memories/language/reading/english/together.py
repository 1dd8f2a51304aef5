"""English rules for what the user and the persona are to each other: names, promises, reminders."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plastic_memories.language.reading.english.clause import EnglishClause, clean_value
from plastic_memories.language.reading.finding import ExtractedItem
from plastic_memories.language.reading.memory_keys import slug
from plastic_memories.language.text.lazy_regex import regex

_I = re.IGNORECASE
_PREFIX = "relationship.with_persona"
_WHEN = (
    r"\b(?:at|on|every|tomorrow|tonight|after|before|when|next|in|this|by|monday|tuesday|wednesday|"
    r"thursday|friday|saturday|sunday|daily|each)\b"
)
_REMIND = regex(
    r"^(?:please |also |and |just |you (?:can|should|have to) )*(?:(?P<sure>remind me(?: to|"
    r" about| that| of| at| on|"
    r" every| tomorrow)|do not let me|never let me|tell me to|hold me to|make sure i|nudge me)|"
    r"(?P<timed>wake me(?: up)?|ping me|ask me|check (?:on|in on|in with) me|text me|message me))\b"
    r"(?P<v>(?: [\w',:/-]+){1,16})$",
    _I,
)
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
        r"real )?(?:nick)?name is (?P<v>[\w'-]{2,20}(?: [\w'-]{2,20})?)(?: now)?$",
        _I,
    ),
)
_NO_NAME = regex(
    r"^(?:back|later|tomorrow|tonight|today|now|when|if|after|before|at|on|in|again|and|so|then|for|because|up|"
    r"names|what|that|this|when|once|the|an?|to)\b",
    _I,
)
_MET = regex(
    r"^(?:you and i|we) (?:first )?(?:met|started talking|became friends|matched)\b.*|"
    r"^i first (?:talked|spoke|chatted|messaged|met|texted|found)(?: to| with)? you\b.*|"
    r"^the first time (?:i talked to you|we (?:talked|spoke|chatted))\b.*",
    _I,
)
_OURS = regex(
    r"^our (?:little |secret |inside )?(?P<k>song|thing|ritual|motto|joke|code ?word|secret|"
    r"rule|lore|"
    r"safe ?word|place|game) is (?P<v>.{2,60})$",
    _I,
)
_ROLE = regex(
    r"^you are (?:like |basically |literally |kinda |kind of |now |honestly |really )*(?:like )?my "
    r"(?:(?:best|only|closest|big|little|two|favorite|dear|own) )*(?P<v>friends?|girlfriend|"
    r"boyfriend|wife|husband|"
    r"partner|person|mentor|brother|bro|sister|mom|dad|family|therapist|teacher|soulmate|assistant|companion|wizard|"
    r"buddy|bestie|confidant|coach|muse)\b.*$|^i see you as my (?P<w>[\w ]{3,30})$",
    _I,
)


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
