"""English rules for intolerances, reactions and binding conditions such as pregnancy."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plastic_memories.language.reading.english.clause import EnglishClause, clean_value, split_list
from plastic_memories.language.reading.finding import ExtractedItem
from plastic_memories.language.reading.memory_keys import slug
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.word_lists import any_of

_I = re.IGNORECASE
_SWELLS = any_of("english_reactions", "swells")
_UPSETS = r"(?:throw up|vomit|sick(?: to my stomach)?|nauseous|bloated|stomach ?aches?|diarrhea)"
_ANSWER = rf"(?:(?P<swells>{_SWELLS})|(?P<upsets>{_UPSETS}))"
_WHEN = any_of("english_reactions", "when")
_STARTS = r"(?:i|my \w+) (?:always )?(?:get |starts? to |feel )?"
_CAUSES = (
    regex(
        rf"^(?P<v>[\w' -]{{2,25}}?) (?:always )?(?:makes?|gives?) "
        rf"(?:me|my (?:\w+ )?\w+) (?:feel |get )?{_ANSWER}$",
        _I,
    ),
    regex(r"^(?P<v>[\w' -]{2,25}?) (?P<upsets>upsets?) my stomach(?P<swells>)$", _I),
    regex(rf"^{_STARTS}{_ANSWER} {_WHEN} (?P<v>[\w' -]+)$", _I),
    regex(rf"^{_WHEN} (?P<v>[\w'-]+(?: [\w'-]+)?) {_STARTS}{_ANSWER}$", _I),
)
_NOT_A_THING = regex(any_of("english_reactions", "not_a_thing"), _I)
_EXPECTING = regex(any_of("english_reactions", "expecting"), _I)
_PHOBIA = regex(
    r"^i (?:have|suffer from) (?:an? )?(?:bad |severe |mild )?"
    r"(?P<v>claustrophobia|agoraphobia|acrophobia|trypophobia)$",
    _I,
)
_SICKENS = regex(
    r"^i (?:easily )?get (?:really |very )?(?P<v>carsick|seasick|airsick|motion sick)"
    r"(?: easily)?$",
    _I,
)


def find_reactions(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    """Yield what the user's body does not tolerate."""
    if parsed.is_past or parsed.is_temporary:
        return
    yield from _reactions(parsed)
    if _EXPECTING.match(parsed.text):
        yield ExtractedItem("constraint.health.pregnancy", "pregnant", parsed.content)
    for pattern, kind in ((_PHOBIA, "personality.fear"), (_SICKENS, "constraint.health")):
        found = pattern.match(parsed.text)
        if found:
            value = found["v"].lower()
            yield ExtractedItem(f"{kind}.{slug(value)}", value, parsed.content)


def _reactions(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    found = next(filter(None, (cause.match(parsed.text) for cause in _CAUSES)), None)
    if not found or re.search(r"\b(?:not|never|no)\b(?! breathe)", parsed.text, _I):
        return
    kind = "allergy" if found["swells"] else "diet"
    text = clean_value(found["v"])
    for item in split_list(text):
        if not _NOT_A_THING.match(item):
            yield ExtractedItem(
                f"constraint.{kind}.{slug(item)}", item.lower(), parsed.with_item(item, text)
            )
