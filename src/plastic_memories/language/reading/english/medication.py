"""English rules for medicines the user takes, and when."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plastic_memories.language.reading.english.clause import EnglishClause, EnglishSubject
from plastic_memories.language.reading.finding import LIKELY_CONFIDENCE, ExtractedItem
from plastic_memories.language.reading.memory_keys import slug
from plastic_memories.language.reading.relation_words import ENGLISH_KIN_WORD
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.word_lists import any_of

_I = re.IGNORECASE
_MEDICINE = regex(any_of("medicines", "en"), _I)
_PLAIN = regex(any_of("medicines", "en_plain"), _I)
_TAKES = regex(any_of("english_medication", "takes"), _I)
_DOSE = regex(any_of("english_medication", "dose"), _I)
_ONCE = regex(r"\bi (?:took|had|got|bought|tried)\b|\b(?:today|tonight|yesterday|just took)\b", _I)
_NOT_TAKEN = regex(
    rf"\b(?:not|never|can not|no|allergic|allergy|forgot|you|your|{ENGLISH_KIN_WORD})\b", _I
)
_STOPPED = regex(r"\b(?:came off|went off|stopped taking|quit taking|off my)\b", _I)


def find_medication(parsed: EnglishClause) -> Iterator[ExtractedItem]:
    """Yield the medicines that the user takes or has stopped taking."""
    text = parsed.text
    if parsed.subject in {EnglishSubject.OTHER, EnglishSubject.WE} or _NOT_TAKEN.search(text):
        return
    named = _MEDICINE.search(text)
    found = named or _PLAIN.search(text)
    often = _DOSE.search(text) is not None
    if found is None or (named is None and not often) or (_ONCE.search(text) and not often):
        return
    begins = found.start() == 0 or _PLAIN.match(text) is not None
    if not (_TAKES.search(text) or (begins and often)):
        return
    value = found[0].lower().removeprefix("the ")
    stopped = _STOPPED.search(text) is not None
    yield ExtractedItem(
        f"constraint.medication.{slug(value)}",
        f"stopped {value}" if stopped else value,
        parsed.content,
        confidence=LIKELY_CONFIDENCE,
    )


def is_medicine(text: str) -> bool:
    return bool(_MEDICINE.search(text) or _PLAIN.search(text)) and not _NOT_TAKEN.search(text)


def is_dose(text: str) -> bool:
    """Return whether a clause tells only how much or how often: "breakfast and dinner, daily"."""
    return bool(_DOSE.search(text)) and len(text.split()) <= _MAX_DOSE_WORDS


_MAX_DOSE_WORDS = 6
