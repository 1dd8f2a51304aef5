"""Combine date expressions: a day within its year (`去年国庆`), and ranges."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import Enum, auto

from plastic_memories.language.dates import date_spans
from plastic_memories.language.dates.date_spans import DatePreference, DateSpan
from plastic_memories.language.text.lazy_regex import regex

Meaning = Callable[["re.Match[str]", date, DatePreference], DateSpan | None]

_I = re.IGNORECASE
# Text allowed between a year and its part, or a week and its day.
_GAP = regex(
    r"的?(?:['’]s)?,? ?(?:(?:of|in|on|at|during|over|around|from|between|back in) )?(?:the |an? )?",
    _I,
)
_TO = regex(r" ?(?:一直)?[到至~～] ?| ?[-–—]+ ?| (?:up )?(?:to|through|until|till) (?:the )?", _I)
_AND = regex(r" and (?:the )?| ?[和与跟] ?", _I)
_WITHIN = regex(r"之间|期间")
# Named groups of the rules, and the unit that two such phrases share in a list.
_PART_UNITS = {"m": "year", "name": "year", "season": "year", "wd": "week"}
_LIST_SEPARATOR = regex(r" ?(?:[和与跟、,，及]|and|or|或|还有) ?(?:in |on |the )?", _I)
_FROM = regex(r"(?:\b(?:from|between) (?:the )?|从|自)$", _I)
_MAX_FROM_CHARS = len("between the ")
_DAY = timedelta(days=1)


class PhraseRole(Enum):
    """How a date expression combines with its neighbours."""

    FIXED = auto()
    # "In March", `国庆`, "Friday": a neighbour or the preference decides which one.
    FLOATING = auto()
    # "Last year", `两周前`: a neighbour may name a part of it.
    FRAME = auto()


# A row of a grammar: pattern, meaning, role, and the hints it requires.
Grammar = Sequence[tuple[str, Meaning, PhraseRole, str]]
HintReader = Callable[[str], tuple[frozenset[str], ...]]


@dataclass(frozen=True, slots=True)
class DateRule:
    """A pattern, the span it means, and how it combines with others."""

    pattern: re.Pattern[str]
    meaning: Meaning
    role: PhraseRole = PhraseRole.FIXED
    # The rule is tried only if the text has at least one hint of each set.
    needs: tuple[frozenset[str], ...] = ()
    # For "two years ago", which is a day: the unit it is counted in.
    unit: Callable[[re.Match[str]], str] | None = None

    def frame(self, found: re.Match[str], span: DateSpan) -> DateSpan | None:
        """Return the span of which a neighbour may name a part."""
        if self.role is not PhraseRole.FRAME:
            return None
        if self.unit and span.is_day:
            unit = self.unit(found)
            return None if unit == "day" else date_spans.whole_unit(span.start, unit)
        return None if span.is_day else span


def compile_rules(grammar: Grammar, needed: HintReader, flags: int = 0) -> tuple[DateRule, ...]:
    """Compile the rules of a grammar; `needed` parses the hints in its last column."""
    return tuple(
        DateRule(regex(pattern, flags), meaning, role, needed(hints))
        for pattern, meaning, role, hints in grammar
    )


def applicable_rules(rules: Iterable[DateRule], hints: Set[str]) -> tuple[DateRule, ...]:
    """Return the rules that can match a text with these hints."""
    return tuple(
        rule for rule in rules if not any(hints.isdisjoint(any_of) for any_of in rule.needs)
    )


@dataclass(frozen=True, slots=True)
class DatePhrase:
    """A date expression at a position in a text."""

    start: int
    end: int
    span: DateSpan
    role: PhraseRole
    rule: DateRule
    found: re.Match[str]
    frame: DateSpan | None
    # Text up to here belongs to a part that could not be resolved.
    skips: int = 0

    def resolve_from(self, day: date, lean: DatePreference) -> DateSpan | None:
        return self.rule.meaning(self.found, day, lean)


@dataclass(frozen=True, slots=True)
class DatePhraseReader:
    """Reads the date expressions of one text, relative to one day.

    `rules` match anywhere, `following` only directly after another date expression: there a bare
    "May" is a month.
    """

    text: str
    today: date
    lean: DatePreference
    rules: Sequence[DateRule]
    following: Sequence[DateRule]

    def first_phrase(self) -> DatePhrase | None:
        """Return the first date expression, combined with its neighbours."""
        return self._read_phrase(self._leftmost_phrase(0))

    def next_phrase(self, last: DatePhrase) -> DatePhrase | None:
        """Return the next expression; in `去年三月和五月` the second has the year of the first."""
        found = self._read_phrase(self._leftmost_phrase(max(last.end, last.skips)))
        if found is None or last.role is PhraseRole.FLOATING:
            return found
        is_listed = _LIST_SEPARATOR.fullmatch(self.text, last.end, found.start)
        return _with_context_of(found, last) if is_listed else found

    def _read_phrase(self, found: DatePhrase | None) -> DatePhrase | None:
        return self._join_range(self._narrow_phrase(found)) if found else None

    def _leftmost_phrase(self, start: int) -> DatePhrase | None:
        """Return the leftmost expression; of two that start together, the longer one."""
        best: DatePhrase | None = None
        for rule in self.rules:
            found = rule.pattern.search(self.text, start)
            if found and (best is None or _is_better_match(found, best)):
                best = self._resolve_match(rule, found) or best
        return best

    def _longest_phrase_at(
        self, position: int, role: PhraseRole | None = None
    ) -> DatePhrase | None:
        """Return the longest expression that starts here, of one role or of any."""
        best: DatePhrase | None = None
        for rule in (*self.rules, *self.following):
            if role and rule.role is not role:
                continue
            found = rule.pattern.match(self.text, position)
            if found and (best is None or found.end() > best.end):
                best = self._resolve_match(rule, found) or best
        return best

    def _resolve_match(self, rule: DateRule, found: re.Match[str]) -> DatePhrase | None:
        span = rule.meaning(found, self.today, self.lean)
        if span is None:
            return None
        frame = rule.frame(found, span)
        return DatePhrase(found.start(), found.end(), span, rule.role, rule, found, frame)

    def _narrow_phrase(self, phrase: DatePhrase) -> DatePhrase:
        """Narrow a phrase while parts follow: last year, in March, on the 5th."""
        while phrase.role is not PhraseRole.FIXED and (longer := self._narrow_by_next(phrase)):
            phrase = longer
        return phrase

    def _narrow_by_next(self, phrase: DatePhrase) -> DatePhrase | None:
        gap = _GAP.match(self.text, phrase.end)
        if gap is None or gap.end() == len(self.text):
            return None
        is_first = phrase.role is PhraseRole.FRAME
        second = self._longest_phrase_at(
            gap.end(), PhraseRole.FLOATING if is_first else PhraseRole.FRAME
        )
        if second is None:
            return None
        frame, part = (phrase, second) if is_first else (second, phrase)
        if frame.frame is None or (not is_first and not gap[0].strip("的")):
            return None
        span, is_only = _first_part_inside(frame.frame, part)
        if span is None or not (is_only or is_first):
            return None
        if not is_only:  # "last year on a Friday": which one is unknown, so it stays the year
            return replace(phrase, role=PhraseRole.FIXED, skips=second.end)
        return replace(
            part, start=phrase.start, end=second.end, span=span, role=PhraseRole.FRAME, frame=span
        )

    def _join_range(self, first: DatePhrase) -> DatePhrase:
        """Extend a phrase to a range: from March to May."""
        link = _TO.match(self.text, first.end) or _AND.match(self.text, first.end)
        second = self._longest_phrase_at(link.end()) if link else None
        if link is None or second is None:
            return first
        is_bare, second = second.role is PhraseRole.FLOATING, self._narrow_phrase(second)
        if (
            _AND.fullmatch(link[0])
            and not self._is_between(first)
            and not _WITHIN.match(self.text, second.end)
        ):
            # "March and April last year": both are last year's.
            return _with_context_of(first, second) if is_bare else first
        dated, second = self._share_year(first, second)
        span = self._range_span(dated, second)
        if span is None:
            return first
        before = _FROM.search(self.text, max(0, first.start - _MAX_FROM_CHARS), first.start)
        start = before.start() if before else first.start
        return replace(first, start=start, end=second.end, span=span, role=PhraseRole.FIXED)

    def _share_year(self, first: DatePhrase, second: DatePhrase) -> tuple[DatePhrase, DatePhrase]:
        """Share a year that follows both: "March 3-9, 2025"."""
        if PhraseRole.FRAME in (first.role, second.role):
            return first, second
        gap = _GAP.match(self.text, second.end)
        year = self._longest_phrase_at(gap.end(), PhraseRole.FRAME) if gap and gap[0] else None
        span = _first_part_inside(year.frame, first)[0] if year and year.frame else None
        if year is None or span is None or first.role is not PhraseRole.FLOATING:
            return first, second
        return replace(first, span=span, role=PhraseRole.FRAME), replace(second, end=year.end)

    def _is_between(self, phrase: DatePhrase) -> bool:
        start = max(0, phrase.start - _MAX_FROM_CHARS)
        return "between" in self.text[start : phrase.end].lower()

    def _range_span(self, first: DatePhrase, second: DatePhrase) -> DateSpan | None:
        """Return the range; a phrase without its own year or week takes the other's."""
        floating = first.role is PhraseRole.FLOATING, second.role is PhraseRole.FLOATING
        by_end = _ordered_span(
            first.resolve_from(second.span.start, DatePreference.PAST), second.span
        )
        by_start = _ordered_span(
            first.span, second.resolve_from(first.span.start, DatePreference.FUTURE)
        )
        if floating == (True, True):
            one, other = (
                (by_end, by_start) if self.lean is DatePreference.PAST else (by_start, by_end)
            )
            # `10月1号到7号`: the second is in the month of the first, although a 7th is nearer.
            return (
                other if one is None or (other and _day_count(other) * 2 < _day_count(one)) else one
            )
        if floating == (False, False):
            return _ordered_span(first.span, second.span)
        return by_end if floating[0] else by_start


def _is_better_match(found: re.Match[str], best: DatePhrase) -> bool:
    return (found.start(), -found.end()) < (best.start, -best.end)


def _first_part_inside(frame: DateSpan, part: DatePhrase) -> tuple[DateSpan | None, bool]:
    """Return the first such part that begins in a frame, and whether it is the only one."""
    span = part.resolve_from(frame.start, DatePreference.FUTURE)
    if span and span.start < frame.start:  # a winter that began before the year
        span = part.resolve_from(span.end + _DAY, DatePreference.FUTURE)
    if span is None or not frame.start <= span.start <= frame.end:
        return None, False
    after = part.resolve_from(span.end + _DAY, DatePreference.FUTURE)
    return span, after is None or not span.start < after.start <= frame.end


def _with_context_of(phrase: DatePhrase, other: DatePhrase) -> DatePhrase:
    """Return a month, holiday or season in the other's year, or a weekday in its week."""
    if phrase.role is not PhraseRole.FLOATING or other.role is PhraseRole.FLOATING:
        return phrase
    one, two = phrase.found.groupdict(), other.found.groupdict()
    alike = next((kind for kind in _PART_UNITS if one.get(kind) and two.get(kind)), None)
    frame = alike and date_spans.whole_unit(other.span.start, _PART_UNITS[alike])
    span = _first_part_inside(frame, phrase)[0] if frame else None
    return replace(phrase, span=span, role=PhraseRole.FRAME) if span else phrase


def _ordered_span(one: DateSpan | None, other: DateSpan | None) -> DateSpan | None:
    if one is None or other is None or one.start > other.end:
        return None
    return DateSpan(one.start, other.end)


def _day_count(span: DateSpan) -> int:
    return (span.end - span.start).days
