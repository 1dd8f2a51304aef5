"""English rules for plans, promises, anniversaries and life events."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plastic_memories.language.dates import mentions
from plastic_memories.language.dates.mentions import DateMention, DatePreference
from plastic_memories.language.reading.english.clause import (
    EnglishClause,
    EnglishSubject,
    clean_value,
)
from plastic_memories.language.reading.finding import ExtractedItem
from plastic_memories.language.reading.memory_keys import slug
from plastic_memories.language.reading.relation_words import ENGLISH_KIN_WORD, ENGLISH_PET_WORD
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.word_lists import any_of
from plastic_memories.model.memory import MemoryType

_I = re.IGNORECASE
_PLAN = regex(any_of("english_events", "plan"), _I)
_MODAL = regex(
    r"^(?:i|we) (?:will|am|are|have|need|must|got)(?: (?:to|got|going to|planning to|be))* ", _I
)
_OWN_OCCASION = regex(any_of("english_events", "own_occasion"), _I)
_REMIND = regex(r"^(?:please )?remind me (?:to |about |that )(?P<v>.+)$", _I)
_UNDATED = regex(any_of("english_events", "undated"), _I)
_GOAL = regex(
    r"^my (?:biggest |main |life |ultimate )?(?:goal|dream|ambition)(?: in life| this "
    r"year| for this year)? is (?:to )?(?P<v>.{3,60})$",
    _I,
)
_PROMISE = regex(any_of("english_events", "promise"), _I)
_ANNIVERSARY = regex(r"\b(?:our|my) (?P<v>(?:wedding |dating |first |\w+th )?anniversary)\b", _I)
_LIFE_EVENTS: tuple[tuple[str, str, str], ...] = (
    (
        "achievement",
        "positive",
        r"graduated(?: from [\w .]+| (?:high school|college|university))?|(?:got|was|have "
        r"been|have gotten) promoted(?: to [\w ]+)?|got a (?:promotion|raise)|passed (?:my |"
        r"the )[\w' -]{3,30}|won [\w' -]{3,50}|got (?:into|accepted (?:to|into|by)) [\w "
        r".]{2,30}|was accepted (?:to|into|by) [\w .]{2,30}|"
        r"(?:got|landed|found|received|accepted) (?:a |an |my )?(?:new |first |dream "
        r")?(?:job|job offer|offer)(?: at [\w ]+| as [\w ]+)?|got my (?:driver'?s "
        r"licen[sc]e|degree|phd|licen[sc]e|diploma)|published (?:my |a )[\w ]{3,30}|"
        r"finished (?:my |the )(?:thesis|first marathon|dissertation|degree|marathon)|ran "
        r"(?:my |a )(?:first )?(?:half )?marathon|completed (?:my |a )[\w ]{3,30}|earned "
        r"(?:my |a )[\w ]{3,30}",
    ),
    (
        "life_event",
        "positive",
        r"(?:got|have gotten) (?:married|engaged)(?: to \w+)?|am (?:\w+ "
        r"weeks )?pregnant|had (?:a|our|my) (?:first )?(?:baby|son|daughter|child)(?: \w+)?|"
        r"gave birth(?: to [\w ]+)?|became an? (?:father|mother|dad|mom|parent|uncle|aunt|"
        r"grandfather|grandmother)|bought (?:a|an|our|my) (?:new |first )?(?:house|home|"
        r"apartment|car|flat)|"
        r"adopted (?:a|an|two) [\w ]{3,40}|"
        r"moved (?:(?:from [\w ]{2,30} )?to [\w ]{2,30}|in with [\w ]+|out|house|"
        r"into [\w ]+)|started (?:a |my |at )(?:new |own )?[\w ]{3,25}|retired|quit smoking|"
        r"proposed(?: to [\w ]+)?",
    ),
    (
        "life_event",
        "negative",
        r"(?:got|was|have been) (?:fired|laid off|divorced|hospitalized|diagnosed with [\w "
        r"]+)|lost my (?:job|dog|cat|home|father|mother|dad|mom|grandma|grandmother|grandpa|"
        r"grandfather)|quit my job|left my job|resigned(?: from [\w ]+)?|had (?:an? )?(?:\w+ "
        r")?(?:surgery|operation|accident|car accident|miscarriage)|broke my (?:leg|arm|"
        r"wrist|ankle|foot)|dropped out(?: of [\w ]+)?",
    ),
    ("emotional", "sad", r"broke up(?: with [\w ]+)?|(?:got|was) dumped"),
)
_LIFE_EVENT_RULES = tuple(
    (
        kind,
        mood,
        regex(
            rf"^(?:i|we|i have|we have)(?: (?:just|finally|recently|officially|also|both|"
            rf"have))* (?P<v>{pattern})$",
            _I,
        ),
    )
    for kind, mood, pattern in _LIFE_EVENTS
)
_SOMEBODY = f"{ENGLISH_KIN_WORD}|{ENGLISH_PET_WORD}|mentor"
_LOSS = regex(
    rf"^my (?P<who>(?:\w+ )?(?:{_SOMEBODY})) (?:has )?(?:just |recently )?"
    r"(?P<v>passed away|died|was hospitalized|is in (?:the )?hospital)$",
    _I,
)
_PAST_ACTIVITY = regex(any_of("english_events", "past_activity"), _I)
_NOT_A_PLAN = regex(any_of("english_events", "not_a_plan"), _I)
_TRIVIAL_VISIT = regex(any_of("english_events", "trivial_visit"), _I)
_CLOCK = regex(any_of("english_events", "clock"), _I)


def find_events(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    """Yield dated events and life events."""
    if parsed.subject is EnglishSubject.OTHER:
        return
    anniversary = list(_anniversaries(parsed))
    if anniversary:
        yield from anniversary
        return
    text, ahead = _without_date(parsed, DatePreference.FUTURE)
    found = (
        _promise_events(parsed, text, ahead)
        or _life_events(parsed)
        or _loss_events(parsed)
        or _planned_events(parsed, text, ahead)
    )
    yield from found or _undated_events(parsed, ahead)


def build_event(
    parsed: EnglishClause,
    kind: str,
    title: str,
    mention: DateMention | None,
    emotion: str = "neutral",
) -> ExtractedItem:
    """Return an event, keyed by its kind, date and title."""
    attributes = {"title": title, "event_type": kind, "emotion": emotion}
    date, content = "", parsed.content
    if mention:
        date = mention.span.start.isoformat()
        words = parsed.text[mention.start : mention.end].strip()
        attributes |= {"date": date, "date_text": words}
        # A later reader must not take "tomorrow" for their own tomorrow.
        content = mentions.insert_date(content, words, mention.span.to_text())
        if not mention.span.is_day:
            attributes["end_date"] = mention.span.end.isoformat()
    key = ".".join(part for part in (kind, date, slug(title)) if part)
    return ExtractedItem(key, date or title, content, MemoryType.EVENT, attributes, 0.85)


def _without_date(parsed: EnglishClause, lean: DatePreference) -> tuple[str, DateMention | None]:
    mention = mentions.find_date(parsed.text, parsed.now, lean=lean)
    if mention is None:
        return parsed.text, None
    rest = f"{parsed.text[: mention.start].rstrip(' ,')} {parsed.text[mention.end :].lstrip(' ,')}"
    rest = _CLOCK.sub("", rest)
    return re.sub(
        r"(?<!\s)\s++(?:on|in|at|by|for|this|until)$", "", rest.strip(), flags=_I
    ), mention


def _anniversaries(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    found = _ANNIVERSARY.search(parsed.text)
    if (
        not found
        or not re.search(r"\b(?:is|falls|on)\b", parsed.text, _I)
        or re.search(r"gift|present|happy|not", parsed.text, _I)
    ):
        return
    day = mentions.yearly_date(parsed.text, parsed.content, parsed.now)
    if day:
        date, content = day
        attributes = {
            "title": found["v"],
            "event_type": "anniversary",
            "date": date,
            "recurrence": "yearly",
            "emotion": "positive",
        }
        yield ExtractedItem(
            f"anniversary.{slug(found['v'])}", date, content, MemoryType.EVENT, attributes
        )


def _promise_events(
    parsed: EnglishClause, text: str, mention: DateMention | None
) -> list[ExtractedItem]:
    found = _PROMISE.match(text)
    return [build_event(parsed, "plan", clean_value(found["v"]), mention)] if found else []


def _life_events(parsed: EnglishClause) -> list[ExtractedItem]:
    text, mention = _without_date(parsed, DatePreference.PAST)
    if mention and mention.span.start > parsed.now.date():
        return []
    for kind, mood, pattern in _LIFE_EVENT_RULES:
        found = pattern.match(text)
        if found and not re.search(r"\bnot\b|almost|nearly|with it\b", text, _I):
            return [build_event(parsed, kind, found["v"].strip(), mention, mood)]
    went = _PAST_ACTIVITY.match(text)
    if (
        went
        and mention
        and mention.span.end < parsed.now.date()
        and not _TRIVIAL_VISIT.search(text)
    ):
        return [build_event(parsed, "memory", clean_value(went["v"]), mention)]
    return []


def _loss_events(parsed: EnglishClause) -> list[ExtractedItem]:
    text, mention = _without_date(parsed, DatePreference.PAST)
    found = _LOSS.match(text)
    return (
        [build_event(parsed, "life_event", f"{found['who']} {found['v']}", mention, "sad")]
        if found
        else []
    )


def _planned_events(
    parsed: EnglishClause, text: str, mention: DateMention | None
) -> list[ExtractedItem]:
    today = parsed.now.date()
    # A span from the past to today is over: "in the last three months".
    over = mention is not None and mention.span.start < mention.span.end <= today
    if mention is None or over or mention.span.end < today or _NOT_A_PLAN.search(text):
        return []
    remind = _REMIND.match(text)
    own = _OWN_OCCASION.match(parsed.text)
    text = text if text[:1] in "iIwW" else f"I {text}"
    plan = _PLAN.match(text)
    found = remind or own
    if found:
        return [build_event(parsed, "plan", clean_value(found["v"]), mention)]
    dated_first = re.match(r"(?:on |this |next |tomorrow|in )", parsed.text, _I)
    if plan and plan["e"] and mention.span.start <= today and re.match(r"\A\w+ \w+ed\b", text, _I):
        return []  # "signed up today" is done, not planned
    if plan and (parsed.subject is not EnglishSubject.NONE or dated_first):
        return [build_event(parsed, "plan", clean_value(_MODAL.sub("", text)), mention)]
    return []


def _future_mention(parsed: EnglishClause, mention: DateMention | None) -> DateMention | None:
    return mention if mention and mention.span.end >= parsed.now.date() else None


def _undated_events(parsed: EnglishClause, mention: DateMention | None) -> list[ExtractedItem]:
    if parsed.is_past or re.search(r"\bnot\b", parsed.text, _I):
        return []
    goal = _GOAL.match(parsed.text)
    if goal:
        return [ExtractedItem("basic_info.goal", clean_value(goal["v"]), parsed.content)]
    plan = _UNDATED.match(parsed.text)
    return (
        [build_event(parsed, "plan", clean_value(plan["v"]), _future_mention(parsed, mention))]
        if plan and not parsed.is_temporary and not _NOT_A_PLAN.search(plan["v"])
        else []
    )
