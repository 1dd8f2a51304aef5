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
_LIKE = regex(
    r"^i (?:(?:have )?(?:like|love|enjoy|adore|cherish|come to love)(?: love)*(?! (?:it|you|to be "
    r"called))|am (?:(?:really |totally |so |very |big )?(?:into|fond of|keen on|"
    r"obsessed with|crazy about|passionate about|addicted to|interested in|in love with)|"
    r"an? (?:\w+ ){0,2}(?:fan|lover) of))(?: to)? (?P<v>.+)$",
    _I,
)
_PREFER = regex(r"^i prefer (?P<v>.+?)(?: to (?P<other>.+)| over .+)?$", _I)
_LOVER = regex(
    r"^i am an? (?:\w+ )?(?:huge |big |real |total |true )?(?P<v>\w+(?: \w+)?) (?:lover|"
    r"person|enthusiast|addict|fan|nerd|buff|geek|aficionado)$",
    _I,
)
_DISLIKE = regex(
    r"^i (?:(?:do|can) not (?:really |particularly |even |actually )?(?:like|enjoy|love|"
    r"stand|bear|care for|tolerate)|hate|dislike|detest|loathe|despise|can not stand|"
    r"am not (?:really |exactly )?(?:an? (?:\w+ )?fan of|into|fond of|keen on|interested "
    r"in)|am sick of|have no interest in)(?: to)? (?P<v>.+)$",
    _I,
)
_HOBBY = regex(
    r"^my (?:main |favou?rite |biggest )?(?:hobby is|hobbies are|hobbies include|"
    r"interests are|interests include|passion is|hobbies:) (?P<v>.+)$",
    _I,
)
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
_VAGUE = regex(
    r"^(?:you|your|him|her|them|it|this|that|these|those|the way|how|when|what|who|where|"
    r"me|myself|us|everything|nothing|something|anything|someone|"
    r"everyone|one|my|his|their|its|being (?:called|here)|be|know|think|see|hear|say|ask|"
    r"not|idea|thing|things|to know|the idea|having you|talking to you|"
    r"chatting with you|the fact|such|people who|a girl|a boy|a guy|this one|here|there|"
    r"all of|to$)\b|"
    r"\b(?:you|your|it|them|they|this|that|these|those|us|he|she|him|her|we|i)\b|"
    r"^the (?!(?-i:[A-Z])|beach|sea|ocean|mountains?|outdoors|rain|snow|sun|city|"
    r"countryside|cold|heat|piano|guitar|"
    r"violin|theat(?:er|re)|night|stars|moon|forest|gym|(?:smell|sound|taste|color|colour) of)",
    _I,
)
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
