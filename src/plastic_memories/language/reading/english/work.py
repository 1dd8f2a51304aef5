"""English rules for job, school and residence of the user."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plastic_memories.language.reading.english.clause import (
    EnglishClause,
    EnglishSubject,
    clean_value,
)
from plastic_memories.language.reading.finding import ExtractedItem
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.word_lists import any_of

_I = re.IGNORECASE

_BORN_PLACE = regex(
    r"^(?:i was )?born (?:and raised )?(?:in (?:19|20)\d\d )?in (?P<v>(?-i:[A-Z])[\w' -]{2,30})$",
    _I,
)
JOBS = any_of("lexicon", "en_job")
# Without an article only plain words may precede it: "I am considering seeing a doctor".
_JOB = (
    rf"(?:(?:an?|the|your|another) (?P<v>(?:[\w+#./-]+ ){{0,4}}?(?:{JOBS}))|"
    rf"(?P<w>(?:(?!\w+ing |to |an? |the )[\w+#./-]+ ){{0,2}}?(?:{JOBS})))"
)
_AM_JOB = regex(
    rf"^i (?:am|work as|have been|am working as|am employed as|serve as|became|am now) "
    rf"(?:currently )?(?!not )(?!no ){_JOB}(?: (?:at|in|for|from|by|with|and|here|on|"
    rf"now|living|working|based|who)\b(?P<at>.*))?$",
    _I,
)
_JOB_IS = regex(
    rf"^my (?:current |day )?(?:job|occupation|profession|work) is (?:(?:an? |being an? |"
    rf"as an? )(?P<v>[\w /-]{{3,40}})|(?P<w>(?:[\w-]+ ){{0,2}}(?:{JOBS})|teaching|"
    rf"nursing|sales|marketing|accounting|programming|driving))$",
    _I,
)
_WORK_AS = regex(any_of("english_work", "work_as"), _I)
_FOR_A_LIVING = regex(r"^i do (?P<v>[\w -]{3,40}?) for a living$", _I)
_WORKS = regex(any_of("english_work", "works"), _I)
_IN_FIELD = regex(any_of("english_work", "in_field"), _I)
_TEACH = regex(r"^i (?:teach) (?P<v>[\w ]{3,30}?)(?: (?:at|in|to)\b.*)?$", _I)
_STUDY = regex(
    r"^i (?:am )?(?:study|studying|major in|majoring in|am majoring in|am pursuing) "
    r"(?:an? (?:degree|master's|phd) in )?(?P<v>[\w &-]{3,40}?)(?: at (?P<at>(?:the "
    r")?[\w .'&-]{2,40}))?$",
    _I,
)
_MAJOR_IS = regex(r"^my major is (?P<v>[\w &-]{3,40})$", _I)
_SCHOOL = regex(any_of("english_work", "school"), _I)
_PLACE = any_of("english_work", "place")
_LIVES = regex(
    rf"^i (?:live|reside|am living|am based|am located|have been living|have lived|have "
    rf"moved|moved|have relocated|relocated|am settled|am staying) "
    rf"(?:with [\w ]+? |\w+ )?(?:from [\w.' -]{{2,30}}? )?"
    rf"(?:in|to|at|just outside(?: of)?|near) {_PLACE}$",
    _I,
)
_BASED = regex(rf"^i (?:am|work as) .{{3,60}}? (?:based|living) in {_PLACE}$", _I)
_FROM = regex(
    rf"^(?:i am|i come|i hail) from {_PLACE}$|^my hometown is (?P<w>[\w.' "
    rf"\u3400-\u9fff-]{{2,40}})$|^i (?:grew up|was raised) in (?P<x>(?-i:[A-Z])[\w.' "
    rf"-]{{1,40}})$",
    _I,
)
_NOT_A_PLACE = regex(any_of("english_work", "not_a_place"), _I)
_LANGUAGE = regex(r"^my (?:native language|mother tongue|first language) is (?P<v>\w+)$", _I)


def find_work(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    """Yield the user's job, school and places."""
    if parsed.subject is not EnglishSubject.USER or parsed.is_past:
        return
    for rule in (_work, _study, _place):
        yield from rule(parsed)


def _work_item(key: str, value: str, parsed: EnglishClause) -> ExtractedItem:
    return ExtractedItem(f"basic_info.{key}", value, parsed.content)


def _work(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    text = parsed.text
    teach = _TEACH.match(text)
    if teach and not re.match(r"(?:you|him|her|them|my|me)\b", teach["v"], _I):
        yield _work_item("job", f"teach {teach['v']}", parsed)
        return
    found = (
        _FOR_A_LIVING.match(text)
        or _AM_JOB.match(text)
        or _WORK_AS.match(text)
        or _JOB_IS.match(text)
        or _IN_FIELD.match(text)
    )
    if found:
        named = next(value for value in (found.groupdict().get(part) for part in "vw") if value)
        value = re.sub(r"^(?:an?|the) ", "", clean_value(named), flags=_I)
        if re.search(
            r"\bnot\b|\bno\b|\bbad\b|\bgood\b|\bterrible\b|boring|hard|stressful|killing|"
            r"going|great|fan of|like an?",
            value,
            _I,
        ):
            return
        yield _work_item("job", value, parsed)
        if "at" in found.re.groupindex and found["at"]:
            yield from _workplace_or_school(found[0], parsed)
        return
    yield from _workplace_or_school(text, parsed)


def _workplace_or_school(text: str, parsed: EnglishClause) -> Iterator[ExtractedItem]:
    """Yield the user's workplace or school."""
    place = re.search(r"\bat (?:the |an? )?(?P<v>(?-i:[A-Z])[\w&.' -]{1,40})$", text, _I)
    works = _WORKS.match(text)
    value = clean_value(works["v"] if works else place["v"] if place else "")
    value = re.sub(r" (?:downtown|nearby|in town|around here)$", "", value, flags=_I)
    if not value or re.match(
        r"(?:home|night|the|least|all|it|this|that|my|a|progress)\b", value, _I
    ):
        return
    if works is None and not re.match(r"i (?:am|work)", text, _I):
        return
    school = re.search(r"student|study|undergrad|freshman|sophomore", text, _I)
    if works or school or re.search(rf"\b(?:{JOBS})\b", text, _I):
        # "in marketing" and "in HR" are fields of work, "in Berlin" is a place.
        is_trade = value.islower() or re.fullmatch(r"HR|IT|PR|AI|R&D|QA", value)
        trade = works is not None and works["p"].lower() == "in" and is_trade
        yield _work_item("school" if school else "job" if trade else "workplace", value, parsed)


def _study(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    school = _SCHOOL.match(parsed.text)
    if school and re.search(r"[A-Z]", school["v"]):
        yield _work_item("school", clean_value(school["v"]), parsed)
        return
    major = _STUDY.match(parsed.text) or _MAJOR_IS.match(parsed.text)
    if major and not re.match(
        r"(?:for|hard|with|the|a|at|in|every|abroad|my|this|that|well|fine|good|great|ok|it)\b",
        major["v"],
        _I,
    ):
        yield _work_item("major", clean_value(major["v"]), parsed)
        if "at" in major.re.groupindex and major["at"]:
            yield _work_item("school", clean_value(major["at"]), parsed)


def _place(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    came = _FROM.match(parsed.text) or _BORN_PLACE.match(parsed.text)
    if came:
        value = clean_value(next(value for value in came.groupdict().values() if value))
        if not _NOT_A_PLACE.match(value) and not re.match(
            r"(?:january|february|march|april|may|june|july|august|september|october|"
            r"november|december)\b",
            value,
            _I,
        ):
            yield _work_item("hometown", value, parsed)
        return
    lives = _LIVES.match(parsed.text) or _BASED.match(parsed.text)
    if lives and not parsed.is_temporary and not _NOT_A_PLACE.match(lives["v"]):
        yield _work_item("place", _without_date(clean_value(lives["v"])), parsed)
    native = _LANGUAGE.match(parsed.text)
    if native:
        yield _work_item("native_language", native["v"], parsed)


def _without_date(value: str) -> str:
    return re.sub(
        r" (?:last|this|next|in|two|three|a few|\d+) .*$| (?:yesterday|recently)$",
        "",
        value,
        flags=_I,
    )
