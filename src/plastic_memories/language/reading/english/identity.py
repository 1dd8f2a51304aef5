"""English rules for the user's name, form of address, birthday and age."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plastic_memories.language.dates import mentions
from plastic_memories.language.reading.english.clause import EnglishClause, EnglishSubject
from plastic_memories.language.reading.english.work import JOBS
from plastic_memories.language.reading.finding import (
    CERTAIN_CONFIDENCE,
    LIKELY_CONFIDENCE,
    PLAUSIBLE_AGES,
    ExtractedItem,
)
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.numerals import en_number
from plastic_memories.language.text.word_lists import any_of

_I = re.IGNORECASE
_NAME = r"(?P<v>[\u3400-\u9fff]{1,6}|[A-Za-z][\w'-]*\.?(?: (?-i:[A-Z])[\w'-]*){0,3})"
_NAMED = regex(
    rf"^(?:i am called|(?:my|the) (?P<w>full |real |first |actual |given |english |chinese |nick|"
    rf"pen )?name is) {_NAME}(?: and\b.*| by the way| with an? .*)?$",
    _I,
)
_NAME_LABEL = regex(rf"^name: ?{_NAME}$", _I)
_NICKNAME = regex(rf"^my nickname is {_NAME}$", _I)
_GO_BY = regex(
    rf"^(?:i go by|i (?:prefer|like|want) to be called|i prefer|i am known as|"
    rf"(?:(?:please|just|always|you|can|may|could|so|feel free to|my|friends|family|"
    rf"people|folks|everyone|everybody|most|they|all|usually|simply|colleagues) )*(?:calls? me|"
    rf"address me as|refer to me as)) {_NAME}(?: not \w+| now| at work| online| at home|"
    rf" when .*| instead(?: of \w+)?| please| from now on|"
    rf" for short|, okay)?$",
    _I,
)
_I_AM_NAME = regex(r"^I am (?P<v>(?-i:[A-Z][a-z]{2,})(?: (?-i:[A-Z][a-z]+)){0,2})$", _I)
_I_AM_COMMON_NAME = regex(
    rf"^(?:i am|it is|this is|last name is|full name is|"
    rf"first name is) (?P<v>{any_of('first_names', 'en')})"
    r"(?: [a-z]{3,14})?(?: with an? .*| here| by the way)?$",
    _I,
)
_NOT_A_NAME = regex(any_of("english_identity", "not_a_name"), _I)
_NOT_A_PERSON = regex(
    rf"^(?:{JOBS}|male|female|filipin[oa]|gay|lesbian|bi|queer|trans|irish|christian|hindu|sikh|atheist|autistic|"
    r"disabled|pregnant|drunk|broke|serious|kidding|monday|tuesday|wednesday|thursday|friday|saturday|sunday|vegan|vegetarian|"
    r"catholic|muslim|buddhist|jewish|french|dutch|greek|american|asian|black|white|"
    r"tired|happy|sad|hungry|sick|bored|single|married|sorry|glad|fine|good|great|ready|"
    r"back|home|here|done|busy|late|new|aware|excited|afraid|infp|infj|intj|intp|enfp|"
    r"entp|libra|leo|virgo|aries|gemini|taurus|scorpio|pisces|aquarius|cancer|capricorn|"
    r"sagittarius|thai|swiss|welsh|czech|iraqi|pakistani|israeli)$",
    _I,
)
_BIRTHDAY = regex(any_of("english_identity", "birthday"), _I)
_BORN_YEAR = regex(r"^i was born in (?P<y>(?:19|20)\d\d)(?: in (?-i:[A-Z])[\w' -]{2,30})?$", _I)
_AGE = regex(any_of("english_identity", "age"), _I)

_STAR = regex(any_of("english_identity", "star"), _I)


def find_identity(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    """Yield the user's identity facts."""
    yield from _names(parsed)
    yield from _birthday(parsed)
    if parsed.subject is not EnglishSubject.USER or parsed.is_past:
        return
    yield from _age(parsed)
    if star := _STAR.match(parsed.text):
        yield _identity_item("star_sign", star["v"], parsed)


# "hey girl, chelsea here": after a greeting a name, else rather the weather.
_SIGNED = regex(r"^(?:it is |this is )?(?P<v>[A-Za-z][a-z]{2,14}) here$", _I)
_NOT_SIGNED = regex(any_of("english_identity", "not_signed"), _I)


def find_signed_name(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    """Yield the name with which a greeting is signed."""
    found = _SIGNED.match(parsed.text)
    if found and not _NOT_SIGNED.match(found["v"]):
        yield _identity_item("name", found["v"].title(), parsed, LIKELY_CONFIDENCE)


def _identity_item(
    key: str, value: str, parsed: EnglishClause, confidence: float = CERTAIN_CONFIDENCE
) -> ExtractedItem:
    return ExtractedItem(f"basic_info.{key}", value, parsed.content, confidence=confidence)


def _names(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    text = parsed.text
    if re.search(r"\bnot\b|\bnever\b|\bdo not\b", text, _I):
        return
    named = _NAMED.match(text) or _NAME_LABEL.match(text)
    called = _GO_BY.match(text)
    nick = _NICKNAME.match(text)
    found = named or nick or called
    if found:
        name = found["v"].strip()
        if _NOT_A_NAME.match(name) or (
            called and "prefer " in text.lower() and not name[:1].isupper()
        ):
            return
        if called and re.match(r"i prefer \w+$", text, _I):
            return
        yield _identity_item(_name_key(named, called), name, parsed)
        return
    plain = _I_AM_NAME.match(text) or _I_AM_COMMON_NAME.match(text)
    if plain and not _NOT_A_PERSON.match(plain["v"]) and not _NOT_A_NAME.search(plain["v"]):
        yield _identity_item("name", _written_name(plain["v"]), parsed, LIKELY_CONFIDENCE)


def _written_name(name: str) -> str:
    return name.title() if name.islower() else name


def _name_key(named: re.Match[str] | None, called: re.Match[str] | None) -> str:
    if called:
        return "address"
    kind = (named.groupdict().get("w") or "").lower().strip() if named else ""
    if named is None or kind == "nick":
        return "nickname"
    return {"english": "english_name", "pen": "pen_name"}.get(kind, "name")


def _birthday(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    text = parsed.text
    if not _BIRTHDAY.match(text) or re.search(r"\bnot\b|party|cake|gift|present", text, _I):
        return
    day = None if _BORN_YEAR.match(text) else mentions.yearly_date(text, parsed.content, parsed.now)
    if day:
        value, content = day
        attributes = {"date": value, "event_type": "birthday", "recurrence": "yearly"}
        yield ExtractedItem("basic_info.birthday", value, content, attributes=attributes)
        return
    year = _BORN_YEAR.match(text)
    if year:
        yield _identity_item("birth_year", year["y"], parsed)


def _age(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    found = _AGE.match(parsed.text)
    if found and en_number(found["n"]) in PLAUSIBLE_AGES:
        yield _identity_item("age", str(en_number(found["n"])), parsed)
