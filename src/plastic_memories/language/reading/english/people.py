"""English rules for family, friends and pets of the user."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from plastic_memories.language.dates import mentions
from plastic_memories.language.reading.english.clause import EnglishClause, EnglishSubject
from plastic_memories.language.reading.english.work import JOBS
from plastic_memories.language.reading.finding import ExtractedItem
from plastic_memories.language.reading.relation_words import (
    DISTANT_RELATIONS,
    ENGLISH_KIN,
    ENGLISH_KIN_WORD,
    ENGLISH_PET_WORD,
    ENGLISH_PETS,
)
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.numerals import EN_NUMBER
from plastic_memories.language.text.word_lists import any_of
from plastic_memories.model.memory import MemoryType

_I = re.IGNORECASE
_WORDS = f"{ENGLISH_KIN_WORD}|{ENGLISH_PET_WORD}"
_NAME = r"(?P<name>(?-i:[A-Z\u3400-\u9fff])[\w'\u3400-\u9fff-]*(?:(?: and |, )(?-i:[A-Z])[\w'-]*)*)"
_HAS = regex(
    rf"^(?:i|we) (?:have|have got|own|got|adopted|am the (?:proud )?(?:owner|parent) "
    rf"of)(?: also)? (?:(?P<count>{EN_NUMBER}|some|twin|another) "
    rf")?(?P<kind>(?(count)(?:(?!and |by |of |with |for )[a-z-]+ "
    rf"){{0,3}}?))(?P<who>{_WORDS})(?:(?:,? (?:named|called|whose names? (?:is|are)|by the "
    rf"name of)|,) {_NAME})?(?: at home)?$",
    _I,
)
_NAMED = regex(
    rf"^(?:my|our) (?:\w+ )?(?P<who>{_WORDS})(?:'s name (?:is)|s' names are| is called| "
    rf"is named| are called| are named| goes by|'s called|'s named) {_NAME}$",
    _I,
)
_KIN_JOB = regex(
    rf"^my (?:\w+ )?(?P<who>{_WORDS})(?: (?P<name>(?-i:[A-Z])[a-z]+))? (?:is|works as) "
    rf"(?:an? |the )(?P<v>(?:[\w-]+ "
    rf"){{0,3}}?(?:{JOBS}))(?: (?:at|in|for)\b.*)?$",
    _I,
)
_KIN_TRADE = regex(
    rf"^my (?:\w+ )?(?P<who>{_WORDS})(?: (?P<name>(?-i:[A-Z])[a-z]+))? works in "
    r"(?P<v>(?!(?:an?|the|my|your|our) )(?-i:[a-z])[a-z ]{2,20})$",
    _I,
)
_KIN_AGE = regex(
    rf"^my (?:\w+ )?(?P<who>{_WORDS})(?: (?P<name>(?-i:[A-Z])[a-z]+))? "
    rf"(?:is|just turned|turned) (?P<v>\d{{1,3}}|"
    rf"{EN_NUMBER})(?: (?:years?|months?) old)?$",
    _I,
)
_KIN_BIRTHDAY = regex(rf"^my (?P<who>{_WORDS})'?s birthday (?:is|falls)", _I)
_STATUS = regex(any_of("english_people", "status"), _I)
_MARRIED_TO = regex(r"^i am (?:happily )?(?:married|engaged) to (?P<v>(?-i:[A-Z])\w+)$", _I)


def find_people(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    """Yield the people and pets of the user."""
    if (
        parsed.is_past
        or re.search(r"\bnot\b|\bno\b", parsed.text, _I)
        or parsed.subject is EnglishSubject.OTHER
    ):
        return
    yield from _owned_relations(parsed)
    named = _NAMED.match(parsed.text)
    if named:
        yield ExtractedItem(_relation_key(named["who"]), named["name"], parsed.content)
        return
    for part, pattern in (("job", _KIN_JOB), ("job", _KIN_TRADE), ("age", _KIN_AGE)):
        found = pattern.match(parsed.text)
        if found and _relation_kind(found["who"]) not in DISTANT_RELATIONS:
            if found["name"]:
                yield ExtractedItem(_relation_key(found["who"]), found["name"], parsed.content)
            yield ExtractedItem(f"{_relation_key(found['who'])}.{part}", found["v"], parsed.content)
    yield from _birthday(parsed)
    spouse, status = _MARRIED_TO.match(parsed.text), _STATUS.match(parsed.text)
    if spouse:
        yield ExtractedItem("relationship.spouse", spouse["v"], parsed.content)
    elif status:
        yield ExtractedItem(
            "relationship.status", re.sub(r"^an? ", "", status["v"].lower()), parsed.content
        )


_NAMED_LATER = regex(
    rf"^(?:(?:its|his|her|their) names? (?:is|are)|(?:it|he|she) is (?:called|named)|named|called) "
    rf"{_NAME}$",
    _I,
)


def last_relative_key(items: Sequence[ExtractedItem]) -> str:
    """Return the key of the relative or pet in a clause, whose name may follow in the next."""
    keys = [item.key for item in items if item.key.startswith("relationship.")]
    return keys[-1] if keys and keys[-1] != "relationship.status" else ""


def find_later_name(parsed: EnglishClause, key: str) -> Iterator[ExtractedItem]:
    """Yield a name from a later clause: "I have a cat, her name is Olive"."""
    found = _NAMED_LATER.match(parsed.text)
    if found:
        kind = key.rsplit(".", 1)[-1].replace("_", " ")
        yield ExtractedItem(key, found["name"], f"My {kind} is called {found['name']}")


def _relation_kind(word: str) -> str:
    for kind, pattern in (ENGLISH_KIN | ENGLISH_PETS).items():
        if re.fullmatch(pattern, word, _I):
            return kind
    return "pet"


def _relation_key(word: str) -> str:
    kind = _relation_kind(word)
    if kind in ENGLISH_PETS:
        return f"relationship.pet.{kind}"
    return f"relationship.{kind}"


def _owned_relations(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    several = re.match(
        rf"^(?:i|we) have (?:{EN_NUMBER}) (?P<a>{_WORDS}) and (?:{EN_NUMBER}) (?P<b>{_WORDS})$",
        parsed.text,
        _I,
    )
    if several:
        for word in (several["a"], several["b"]):
            yield ExtractedItem(_relation_key(word), word, parsed.content)
        return
    found = _HAS.match(parsed.text)
    if not found or (_relation_kind(found["who"]) in DISTANT_RELATIONS and not found["name"]):
        return
    count = (found["count"] or "").lower()
    one = count in {"a", "an", "one", "1", ""}
    value = found["name"] or f"{'' if one else count + ' '}{found['kind']}{found['who']}"
    yield ExtractedItem(_relation_key(found["who"]), value, parsed.content)


def _birthday(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    found = _KIN_BIRTHDAY.match(parsed.text)
    if not found:
        return
    day = mentions.yearly_date(parsed.text, parsed.content, parsed.now)
    if not day:
        return
    date, content = day
    attributes = {
        "title": f"{found['who']}'s birthday",
        "event_type": "birthday",
        "date": date,
        "recurrence": "yearly",
        "emotion": "positive",
    }
    key = f"birthday.{_relation_key(found['who']).removeprefix('relationship.').replace('.', '_')}"
    yield ExtractedItem(key, date, content, MemoryType.EVENT, attributes)
