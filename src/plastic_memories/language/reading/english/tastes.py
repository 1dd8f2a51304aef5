"""English rules for likes, dislikes, favourites and character of the user."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plastic_memories.language.reading.english.clause import (
    EnglishClause,
    EnglishSubject,
    clean_value,
    split_list,
)
from plastic_memories.language.reading.finding import ExtractedItem
from plastic_memories.language.reading.memory_keys import favorite_key, slug
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.word_lists import any_of

_I = re.IGNORECASE
_MAX_VALUE_WORDS = 6
_LIKE = regex(any_of("english_tastes", "like"), _I)
_PREFER = regex(r"^i prefer (?P<v>.+?)(?: to (?P<other>.+)| over .+)?$", _I)
_LOVER = regex(any_of("english_tastes", "lover"), _I)
_DISLIKE = regex(any_of("english_tastes", "dislike"), _I)
_HOBBY = regex(any_of("english_tastes", "hobby"), _I)
_FAVORITE = regex(
    r"^my (?:all-time |absolute |number one )?favou?rite (?P<c>[a-z]+(?: [a-z]+)?(?: of "
    r"all time)?) (?:is|are|has always been|would be) (?P<v>.+)$",
    _I,
)
_IS_FAVORITE = regex(
    r"^(?P<v>[\w' -]{2,40}?) (?:is|are|has always been) my (?:all-time |absolute "
    r")?favou?rite(?: (?P<c>[a-z]+(?: [a-z]+)?))?$",
    _I,
)
_BEST = regex(r"^my favou?rite (?:thing|activity)(?: to do)? is (?P<v>.+)$", _I)
_VAGUE = regex(any_of("english_tastes", "vague"), _I)
_REPLY = regex(
    r"^(?P<s>(?:[\w-]+,? (?:and )?){1,3}?)(?:answers?|replies|responses?|explanations?)$", _I
)
_TRAITS = any_of("lexicon", "en_trait")
_TRAIT = regex(
    rf"^i (?:am|tend to be|have always been) (?:an? |such an? )?(?:(?:very|quite|pretty|"
    rf"rather|bit|total|real|naturally|fairly|extremely|huge|little|lifelong|somewhat|"
    rf"kind of|born) )*(?P<v>{_TRAITS})(?: person| by nature| type)?$",
    _I,
)
_MBTI = regex(
    r"^(?:i am|my mbti is|my personality type is) (?:an? )?(?P<v>[IE][NS][TF][JP])(?:-[AT])?$", _I
)
_FEAR = regex(
    r"^i (?:am (?:afraid|scared|terrified|frightened) of|fear|have a fear of|am phobic "
    r"of) (?P<v>.+)$",
    _I,
)
_ABSTAIN = regex(r"^i (?:do not|never) (?P<v>smoke|vape|gamble)$", _I)


def find_tastes(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    """Yield the user's likes, dislikes and traits."""
    if parsed.is_past:
        return
    yield from _favorites(parsed)
    if parsed.subject is not EnglishSubject.USER:
        return
    if not re.search(r"\b(?:today|tonight|right now|this time)\b", parsed.text, _I):
        yield from _tastes(parsed)
    if not parsed.is_temporary:
        yield from _character(parsed)


def _favorites(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    best = _BEST.match(parsed.text)
    if best:
        yield from _taste_items("like", best["v"], parsed)
        return
    found = _FAVORITE.match(parsed.text) or _IS_FAVORITE.match(parsed.text)
    if not found or re.search(r"\bnot\b", parsed.text):
        return
    value = clean_value(found["v"])
    if not value or _VAGUE.match(value):
        return
    key = (
        favorite_key(found["c"].removesuffix(" of all time"))
        if found["c"]
        else f"preference.like.{slug(value)}"
    )
    yield ExtractedItem(key, value, parsed.content)


def _tastes(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    dislike = _DISLIKE.match(parsed.text)
    if dislike:
        yield from _taste_items("dislike", dislike["v"], parsed)
        return
    hobby = _HOBBY.match(parsed.text) or _LIKE.match(parsed.text) or _PREFER.match(parsed.text)
    if hobby:
        yield from _taste_items("like", hobby["v"], parsed)
        return
    lover = _LOVER.match(parsed.text)
    if lover and not re.search(
        _TRAITS + r"|\b(?:good|bad|nice|kind|busy|morning|people|quiet|private|the|normal|"
        r"different|new|changed|only|very|simple)\b",
        lover["v"],
        _I,
    ):
        yield from _taste_items(
            "like", re.sub(r"^(?:huge|big|real|total|true|a) ", "", lover["v"]), parsed
        )


def _taste_items(taste: str, text: str, parsed: EnglishClause) -> Iterator[ExtractedItem]:
    text = text.strip(" .!")
    reply = _REPLY.match(clean_value(text))
    if reply:
        if taste == "like":
            yield ExtractedItem("preference.reply_style", reply["s"].strip(), parsed.content)
        return
    if _VAGUE.match(text):
        return
    cut = clean_value(text)
    for item in split_list(cut):
        value = re.sub(
            r"^(?:to|the|a|an|some|all kinds of|all sorts of|eating|drinking) (?=\w)",
            "",
            item,
            flags=_I,
        )
        if value and len(value.split()) <= _MAX_VALUE_WORDS and not _VAGUE.search(item):
            content = parsed.with_item(item, cut)
            yield ExtractedItem(f"preference.{taste}.{slug(value)}", value, content)


def _character(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    mbti = _MBTI.match(parsed.text)
    if mbti:
        yield ExtractedItem("personality.mbti", mbti["v"].upper(), parsed.content)
    trait = _TRAIT.match(parsed.text)
    if trait:
        yield ExtractedItem(f"personality.{slug(trait['v'])}", trait["v"].lower(), parsed.content)
    fear = _FEAR.match(parsed.text)
    if fear and not _VAGUE.match(fear["v"]):
        value = clean_value(fear["v"])
        yield ExtractedItem(f"personality.fear.{slug(value)}", value, parsed.content)
    abstain = _ABSTAIN.match(parsed.text)
    if abstain:
        yield ExtractedItem(
            f"personality.habit.{slug(abstain['v'])}", f"no {abstain['v']}", parsed.content
        )
