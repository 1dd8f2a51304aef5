"""English rules for allergies, diet, illness, taboos and reply style."""

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
from plastic_memories.language.reading.memory_keys import is_known_thing, slug, style_key
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.word_lists import any_of

_I = re.IGNORECASE
_ALLERGIC = regex(any_of("english_constraints", "allergic"), _I)
_INTOLERANT = regex(r"^i am (?P<v>\w+)[- ]intolerant$|^i have (?:an? )?(?P<w>\w+) intolerance$", _I)
_DIET = regex(
    r"^(?:i (?:am|have been|eat|became|went|follow|keep)(?: on)? )?(?:an? |the |only |strictly |"
    r"mostly )*"
    rf"(?P<v>{any_of('health', 'en_diet')})(?: diet| food| \w+ years| only| here| for me|"
    rf" at home| thing)*"
    r"(?: (?:for|since|now|till|until) .*)?$",
    _I,
)
_NO_FOOD = regex(any_of("english_constraints", "no_food"), _I)
_NOT_FOOD = regex(any_of("english_constraints", "not_food"), _I)
_ILLNESS = regex(
    r"^(?:i (?:have(?: got| had)?|suffer from|was (?:just |finally |recently )?diagnosed with|"
    r"got diagnosed(?: with)?|"
    r"live with|am|get)|(?:was |got |been )?diagnosed(?: with)?) "
    r"(?:an? |type [12] |severe |mild |chronic |bad |really |super |basically )*"
    rf"(?P<v>{any_of('health', 'en_illness')})"
    r"(?P<tail> (?:and|since|with|in|on|when|whenever|from|like|so|basically|last|this|every|"
    r"red|\d|always|still|have|which)\b.*)?$",
    _I,
)
# "egg allergy here", "no nuts for me", "i can not do dairy", "shellfish is a no go".
_FRAGMENTS = tuple(
    (regex(pattern, _I), kind)
    for pattern, kind in (
        (
            r"^(?:severe |bad |mild |big )?(?P<v>[a-z]+(?: [a-z]+)?) allergy(?: here|"
            r" unfortunately| too)?$",
            "allergy",
        ),
        (
            r"^i (?:get hives|break out|get a rash|react) (?:from|to) (?P<v>[a-z]+(?: [a-z]+)?)$",
            "allergy",
        ),
        (r"^i had anaphylaxis from (?:an? )?(?P<v>[a-z]+)\b.*$", "allergy"),
        (
            r"^(?:strictly )?no (?P<v>[a-z]+(?: [a-z]+)?) (?:for me|at all)(?: ever| please|"
            r" while .*| anymore)*$",
            "diet",
        ),
        (r"^(?:i )?can not (?:do|have) (?P<v>[a-z]+(?: [a-z]+)?)$", "diet"),
        (r"^(?P<v>[a-z]+) is (?:a|an absolute|a total) no[- ]go(?: for me)?$", "diet"),
        (
            r"^(?:i (?:stopped eating|gave up|quit|am off)|"
            r"off) (?P<v>[a-z]+(?: [a-z]+)?)(?: (?:since|after|for good|because)\b.*)?$",
            "diet",
        ),
        (r"^(?:do not|never) (?:eat|drink) (?P<v>[a-z]+(?: [a-z]+)?)$", "diet"),
    )
)
_TABOO = regex(any_of("english_constraints", "taboo"), _I)
_TABOO_SUBJECT = regex(
    r"^(?P<v>[\w' ]{3,30}) (?:is|are) (?:a )?(?:taboo|off[- ]limits|a sensitive (?:topic|"
    r"subject)|a touchy subject)(?: for me)?$",
    _I,
)
_TABOO_VAGUE = regex(any_of("english_constraints", "taboo_vague"), _I)
_LANG = any_of("english_constraints", "lang")
_ASK = (
    r"^(?:please |always |kindly |from now on |i (?:would )?(?:want|like|prefer|need) (?:you "
    r"to |it if you )?|you should |you must |just |try to |only |could you |can you )*"
)
_LANGUAGE = regex(
    rf"{_ASK}(?:(?:answer|reply|respond|speak|talk|write|communicate|chat|converse)(?: "
    rf"to| with)?(?: me)?(?: back)?(?: always| only)? (?:in )?|use |default to |switch "
    rf"to |stick to |replies in |answers in |your (?:answers|replies) in ){_LANG}(?: "
    rf"only| please| by default| from now on| with me| always| when (?:talking|speaking|"
    rf"replying) to me)*$|^my preferred language is (?P<w>\w+)$",
    _I,
)
_STYLE_WORDS = any_of("english_constraints", "style_words")
_STYLES = tuple(
    regex(pattern, _I)
    for pattern in (
        rf"{_ASK}(?:answer|reply|respond|speak|talk|write|explain|explain things)(?: to| "
        rf"with)?(?: me)?(?: everything| questions| things)? (?:as |more |very "
        rf")?(?P<v>{_STYLE_WORDS}(?: and (?:more )?{_STYLE_WORDS})?)(?: please| with me| "
        rf"to me| from now on)*$",
        rf"{_ASK}(?:be|stay|sound) (?:more |very |a bit more |a little more |as |\w+ly "
        rf")?(?P<v>{_STYLE_WORDS}(?: and {_STYLE_WORDS})?)(?: with me| please| in your "
        rf"(?:answers|replies)| when (?:answering|replying|you answer|you reply).*| from "
        rf"now on)*$",
        rf"{_ASK}(?:keep|make) (?:it|your (?:answers|replies|responses|explanations|"
        rf"messages)|answers|replies|responses|things|them) (?:more |very |as "
        rf")?(?P<v>{_STYLE_WORDS}(?: and {_STYLE_WORDS})?)(?: please| from now on| with "
        rf"me)*$",
        rf"{_ASK}(?P<v>use (?:more |only |fewer |less |no )?(?:bullet points|emojis?|"
        rf"examples|markdown|simple words|plain language|short sentences|tables|code "
        rf"blocks|humou?r|metric units|jargon))(?: please| in your (?:answers|replies)| "
        rf"when .*| from now on)*$",
        rf"{_ASK}(?P<v>(?:do not|never|stop|avoid|no)(?: use| using| include| add)? "
        rf"(?:any )?(?:more )?(?:emojis?|markdown|jargon|slang|exclamation marks|bullet "
        rf"points|apologizing|filler|small talk|sugarcoat(?:ing)?))(?: please| it| "
        rf"things| with me| in your (?:answers|replies)| when .*)*$",
        rf"^i (?:would )?(?:prefer|like|want|love) (?:my answers |your (?:answers|"
        rf"replies) (?:to be )?|it when you are )?(?P<v>{_STYLE_WORDS}(?:,? and "
        rf"{_STYLE_WORDS})?)(?: (?:answers|replies|responses|explanations))?$",
        rf"^(?:please )?give me (?P<v>{_STYLE_WORDS}(?: and {_STYLE_WORDS})?) "
        rf"(?:answers|replies|responses)(?: please| from now on)*$",
        rf"^your (?:answers|replies|responses) should (?:always )?be "
        rf"(?P<v>{_STYLE_WORDS}(?: and {_STYLE_WORDS})?)$",
    )
)
_ONE_OFF = regex(
    r"\b(?:this|these|following|above|translate|next|essay|email|just once|for once)\b", _I
)


def find_constraints(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    """Yield constraints, and how the user wants to be addressed and answered."""
    wished = list(_wishes(parsed))
    yield from wished or _taboos(parsed)
    if parsed.is_past or parsed.subject not in {EnglishSubject.USER, EnglishSubject.NONE}:
        return
    told = [*_allergies(parsed), *(() if parsed.is_temporary else _diets(parsed))]
    yield from told or ([] if parsed.is_temporary else _fragments(parsed))


def _wishes(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    if parsed.clause.is_followed_by_colon or _ONE_OFF.search(parsed.text):
        return
    language = _LANGUAGE.match(parsed.text)
    if language:
        yield ExtractedItem(
            "preference.reply_language", language["v"] or language["w"], parsed.content
        )
        return
    for pattern in _STYLES:
        found = pattern.match(parsed.text)
        if found:
            value = found["v"].lower()
            yield ExtractedItem(style_key(value), value, parsed.content)
            return


def _taboos(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    found = _TABOO.match(parsed.text) or _TABOO_SUBJECT.match(parsed.text)
    if not found or parsed.is_temporary or _TABOO_VAGUE.search(found["v"]):
        return
    value = re.sub(
        r"^(?:the topic of|my) | (?:to|around|with|near) me$| again$",
        "",
        clean_value(found["v"]),
        flags=_I,
    )
    yield ExtractedItem(f"constraint.taboo.{slug(value)}", value, parsed.content)


def _allergies(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    found = _ALLERGIC.match(parsed.text)
    if not found or re.search(r"\b(?:not|never|no) ", parsed.text, _I):
        return
    text = clean_value(next(value for value in found.groupdict().values() if value))
    for item in split_list(text):
        if not re.match(
            r"(?:you|him|her|it|work|bullshit|stupidity|people|this|that|any|"
            r"some|my|mornings?|mondays?|commitment|drama|math|fun|exercise|being|doing|waking|"
            r"responsibility|adulting|nonsense)\b",
            item,
            _I,
        ):
            value = re.sub(r"^(?:all |any |some |the )", "", item, flags=_I)
            yield ExtractedItem(
                f"constraint.allergy.{slug(value)}", value, parsed.with_item(item, text)
            )


def _fragments(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    """Yield allergies and diets told without a whole sentence, of things that are known as food."""
    for pattern, kind in _FRAGMENTS:
        found = pattern.match(parsed.text)
        if found and is_known_thing(found["v"]):
            value = found["v"].lower()
            yield ExtractedItem(f"constraint.{kind}.{slug(value)}", value, parsed.content)
            return


def _diets(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    diet, intolerant = _DIET.match(parsed.text), _INTOLERANT.match(parsed.text)
    if diet:
        yield ExtractedItem(f"constraint.diet.{slug(diet['v'])}", diet["v"].lower(), parsed.content)
    if intolerant:
        value = (intolerant["v"] or intolerant["w"]).lower()
        yield ExtractedItem(f"constraint.diet.{slug(value)}", f"{value} intolerant", parsed.content)
    if re.match(r"i (?:do not|never) drink(?: at all| alcohol)?$", parsed.text, _I):
        yield ExtractedItem("constraint.diet.alcohol", "alcohol", parsed.content)
        return
    food = _NO_FOOD.match(parsed.text)
    if food and not _NOT_FOOD.match(food["v"] or food["w"]):
        text = clean_value(food["v"] or food["w"])
        for item in split_list(text):
            value = re.sub(r"^(?:any|raw and) ", "", item)
            yield ExtractedItem(
                f"constraint.diet.{slug(value)}", value, parsed.with_item(item, text)
            )
    illness = _ILLNESS.match(parsed.text)
    if illness:
        yield ExtractedItem(
            f"constraint.health.{slug(illness['v'])}", illness["v"].lower(), parsed.content
        )
